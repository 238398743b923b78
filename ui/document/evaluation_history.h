// SPDX-License-Identifier: Apache-2.0
#pragma once
// The evaluated configurations without duplicates, oldest first. One of them may be pinned as the baseline.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "session/project/project_file.h"

namespace quantloupe::ui {

class EvaluationHistory {
  public:
    static constexpr std::size_t kMost = 500;  ///< maximum number of entries; the baseline is kept

    EvaluationHistory() = default;
    EvaluationHistory(std::vector<MeasuredConfig> entries, std::string baseline)
        : m_entries(std::move(entries)), m_baseline(std::move(baseline)) {}

    const std::vector<MeasuredConfig>& entries() const { return m_entries; }
    /// Returns whether anything has changed. If this version already exists, it only gets the user's metric.
    bool add(MeasuredConfig measured);
    /// Removes the user's metric from all entries, because another program computes it.
    void forgetUserMetric();
    /// Also unpins the baseline if it is one of them.
    void remove(const std::set<std::string>& versions);
    std::optional<std::size_t> find(const std::string& version) const;
    /// Returns the newest entry with this configuration.
    std::optional<std::size_t> findConfig(const QuantizationConfig& config) const;

    const std::string& baseline() const { return m_baseline; }
    const MeasuredConfig* baselineEntry() const;
    /// Sets the user's name and note of the entry.
    void describe(std::size_t index, std::string name, std::string note);
    /// Pins a version as the baseline; an empty version unpins it.
    void pin(const std::string& version) { m_baseline = version; }

  private:
    std::vector<MeasuredConfig> m_entries;
    std::string m_baseline;
};

}  // namespace quantloupe::ui
