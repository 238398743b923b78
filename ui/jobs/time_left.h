// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time left for the running work, from its progress and from how long the stages took the last time
// something of this kind ran. The displayed time counts down: it is shown only once the estimate is reliable,
// and reset only if the estimate has clearly differed for a while. Times are seconds of any clock that stands
// still while the work is paused.

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
    /// Only a complete run teaches how long its stages take.
    void finish(bool complete, double now);
    /// Rounded seconds; nothing while there is no believable estimate.
    std::optional<int> shown(double now);

  private:
    struct Stage {
        QString name;
        double seconds = 0;
    };
    std::optional<double> estimate(double now) const;

    std::map<QString, std::vector<Stage>> m_known;  ///< by kind
    QString m_kind;
    std::vector<Stage> m_stages;  ///< of this run; the last is the present one
    double m_stageStart = 0, m_share = 0;
    std::optional<double> m_end, m_doubtedSince;  ///< what is shown counts down to the end
};

/// "about 25 s left", "about 2 min left".
QString timeLeftWords(int seconds);

}  // namespace quantloupe::ui
