// SPDX-License-Identifier: Apache-2.0
#include "progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <set>

#include "base/short_text.h"

namespace quantloupe::cli {

ProgressLine::ProgressLine() : m_terminal(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const Progress& progress) {
    const bool newStage = progress.stage != m_stage;
    m_stage = progress.stage;
    if (!m_terminal) {
        if (newStage) fmt::print(stderr, "{}...\n", progress.stage);
        return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!newStage && now - m_last < std::chrono::milliseconds(100)) return;
    m_last = now;
    const std::string count =
        progress.total > 0 ? fmt::format(" {} of {}", progress.done, progress.total) : "";
    fmt::print(stderr, "\r{}{}\x1b[K", progress.stage, count);
    std::fflush(stderr);
    m_shown = true;
}

void ProgressLine::clear() {
    if (m_shown) fmt::print(stderr, "\r\x1b[K");
    m_shown = false;
}

EvaluationObserver ProgressLine::observer() {
    EvaluationObserver observer;
    observer.progress = [this](const Progress& progress) { show(progress); };
    return observer;
}

void notice(const std::string& text) {
    static std::set<std::string> printed;
    if (printed.insert(text).second) fmt::print(stderr, "{}\n", shortMessage(text));
}

}  // namespace quantloupe::cli
