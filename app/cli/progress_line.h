// SPDX-License-Identifier: Apache-2.0
#pragma once
// Progress on stderr: one line that is updated on a terminal, otherwise one line per stage.

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
    /// Erases the progress line so that other text can follow.
    void clear();
    /// Returns an observer that shows its progress here. This object must outlive it.
    EvaluationObserver observer();

  private:
    bool m_terminal;
    bool m_shown = false;
    std::string m_stage;
    std::chrono::steady_clock::time_point m_last;
};

/// Prints one line on stderr, unless it has been printed before.
void notice(const std::string& text);

}  // namespace quantloupe::cli
