// SPDX-License-Identifier: Apache-2.0
#include "document/evaluation_history.h"

#include <algorithm>

namespace quantloupe::ui {

std::optional<std::size_t> EvaluationHistory::find(const std::string& version) const {
    const auto found = std::ranges::find(m_entries, version, &MeasuredConfig::version);
    if (found == m_entries.end()) return std::nullopt;
    return static_cast<std::size_t>(found - m_entries.begin());
}

std::optional<std::size_t> EvaluationHistory::findConfig(const QuantizationConfig& config) const {
    for (std::size_t i = m_entries.size(); i-- > 0;)
        if (m_entries[i].config == config) return i;
    return std::nullopt;
}

bool EvaluationHistory::add(MeasuredConfig measured) {
    if (const auto known = find(measured.version)) {
        MeasuredConfig& entry = m_entries[*known];
        if (entry.otherModel) {  // the model is again the one that the entry was measured on
            entry.otherModel = false;
            entry.config = std::move(measured.config);
        } else if (entry.quantized.userMetric == measured.quantized.userMetric) {
            return false;
        }
        entry.floating = std::move(measured.floating);
        entry.quantized = std::move(measured.quantized);
        return true;
    }
    m_entries.push_back(std::move(measured));
    if (m_entries.size() <= kMost) return true;
    const auto oldest = m_entries.front().version == m_baseline ? m_entries.begin() + 1 : m_entries.begin();
    m_entries.erase(oldest);
    return true;
}

void EvaluationHistory::forgetUserMetric() {
    for (MeasuredConfig& entry : m_entries) {
        entry.floating.userMetric.reset();
        entry.quantized.userMetric.reset();
    }
}

void EvaluationHistory::remove(const std::set<std::string>& versions) {
    std::erase_if(m_entries, [&](const MeasuredConfig& entry) { return versions.contains(entry.version); });
    if (versions.contains(m_baseline)) m_baseline.clear();
}

void EvaluationHistory::describe(std::size_t index, std::string name, std::string note) {
    m_entries.at(index).name = std::move(name);
    m_entries.at(index).note = std::move(note);
}

const MeasuredConfig* EvaluationHistory::baselineEntry() const {
    const auto index = m_baseline.empty() ? std::nullopt : find(m_baseline);
    return index ? &m_entries[*index] : nullptr;
}

}  // namespace quantloupe::ui
