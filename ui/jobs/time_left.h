// SPDX-License-Identifier: Apache-2.0
#pragma once
// Estimates the remaining time of the running work from its progress and from the durations of the stages of
// earlier work of the same kind. The displayed time counts down. It is shown when the estimate is reliable,
// and corrected only if the estimate has differed clearly for a while. Times are seconds of any clock that
// stops while the work is paused.

#include <QString>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace quantloupe::ui {

class TimeLeft {
  public:
    void start(const QString& kind, double now);
    void progress(const QString& stage, std::size_t done, std::size_t total, double now);
    /// Ends a run. The durations of its stages are only stored if it is complete.
    void finish(bool complete, double now);
    /// Returns rounded seconds; empty as long as there is no reliable estimate.
    std::optional<int> shown(double now);

  private:
    struct Stage {
        QString name;
        double seconds = 0;
    };
    std::optional<double> estimate(double now) const;

    std::map<QString, std::vector<Stage>> m_known;  ///< by kind
    QString m_kind;
    std::vector<Stage> m_stages;  ///< stages of this run; the last one is the current stage
    double m_stageStart = 0, m_share = 0;
    std::optional<double> m_end, m_doubtedSince;  ///< the displayed time counts down to m_end
};

/// "about 25 s left", "about 2 min left".
QString timeLeftWords(int seconds);

}  // namespace quantloupe::ui
