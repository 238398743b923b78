// SPDX-License-Identifier: Apache-2.0
#include "jobs/time_left.h"

#include <algorithm>
#include <cmath>

#include "style/words.h"

namespace quantloupe::ui {

namespace {

constexpr double kWorthTelling = 3;       // seconds
constexpr double kSeenOfStage = 1;        // seconds, and
constexpr double kShareOfStage = 0.05;    // as much of it, before its own pace counts
constexpr double kTolerance = 0.25;       // fraction of the remaining time
constexpr double kLeastTolerance = 2;     // seconds
constexpr double kDoubtBeforeChange = 2;  // seconds

int rounded(double seconds) {
    const int step = seconds >= 60 ? 10 : seconds >= 15 ? 5 : 1;
    return std::max(1, static_cast<int>(std::lround(seconds / step)) * step);
}

}  // namespace

void TimeLeft::start(const QString& kind, double now) {
    m_kind = kind;
    m_stages.clear();
    m_stageStart = now;
    m_share = 0;
    m_end.reset();
    m_doubtedSince.reset();
}

void TimeLeft::progress(const QString& stage, std::size_t done, std::size_t total, double now) {
    if (m_stages.empty() || m_stages.back().name != stage) {
        if (!m_stages.empty()) m_stages.back().seconds = now - m_stageStart;
        // The time before the first report belongs to the first stage.
        if (!m_stages.empty()) m_stageStart = now;
        m_stages.push_back({stage, 0});
    }
    m_share = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 0;
}

void TimeLeft::finish(bool complete, double now) {
    if (m_stages.empty() || !complete) return;
    m_stages.back().seconds = now - m_stageStart;
    m_known[m_kind] = m_stages;
    m_stages.clear();
}

std::optional<double> TimeLeft::estimate(double now) const {
    const auto known = m_known.find(m_kind);
    if (m_stages.empty() || known == m_known.end()) return std::nullopt;
    const auto stage = std::ranges::find(known->second, m_stages.back().name, &Stage::name);
    if (stage == known->second.end()) return std::nullopt;  // the following stages are not known
    const double spent = now - m_stageStart;
    double left = std::max(0.0, stage->seconds - spent);
    if (spent >= kSeenOfStage && m_share >= kShareOfStage) left = spent / m_share * (1 - m_share);
    for (auto later = stage + 1; later != known->second.end(); ++later) left += later->seconds;
    return left;
}

std::optional<int> TimeLeft::shown(double now) {
    const std::optional<double> left = estimate(now);
    if (!left) return std::nullopt;
    if (!m_end) {
        if (*left < kWorthTelling) return std::nullopt;
        m_end = now + *left;
    }
    const double tolerance = std::max(kLeastTolerance, kTolerance * (*m_end - now));
    if (std::abs(now + *left - *m_end) <= tolerance) {
        m_doubtedSince.reset();
    } else if (!m_doubtedSince) {
        m_doubtedSince = now;
    } else if (now - *m_doubtedSince >= kDoubtBeforeChange) {
        m_end = now + *left;
        m_doubtedSince.reset();
    }
    return rounded(*m_end - now);
}

QString timeLeftWords(int seconds) {
    if (seconds < 90) return Words::tr("about %1 s left").arg(seconds);
    return Words::tr("about %1 min left").arg((seconds + 30) / 60);
}

}  // namespace quantloupe::ui
