// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wall time of a stage.

#include <chrono>

namespace quantloupe {

class Stopwatch {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - m_start).count();
    }

  private:
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
};

}  // namespace quantloupe
