// SPDX-License-Identifier: Apache-2.0
#pragma once
// Progress on stderr: one line that moves on a terminal; elsewhere one line a stage.

#include <chrono>
#include <string>

#include "session/session.h"

namespace quantloupe::cli {

class ProgressLine {
  public:
    ProgressLine();
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const Progress& progress);
    /// Takes the moving line away, so that other text can follow.
    void clear();
    /// An observer that shows here. The line must outlive it.
    EvaluationObserver observer();

  private:
    bool m_terminal;
    bool m_shown = false;
    std::string m_stage;
    std::chrono::steady_clock::time_point m_last;
};

/// One line on stderr.
void notice(const std::string& text);

}  // namespace quantloupe::cli
