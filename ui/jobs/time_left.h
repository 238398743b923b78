// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long what runs will still take, from its progress and from how long the stages took the last time something of this kind ran.
// What is shown counts down quietly: it is told only once it can be believed, and set anew only when the estimate has been clearly
// another for a while. Times are seconds of any clock that stands still while the work is paused.

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
