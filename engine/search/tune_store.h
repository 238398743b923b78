// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements of earlier searches for precisions, in a file. Internal to engine/search.

#include "search/measurement_file.h"
#include "search/tune_numbers.h"

namespace quantloupe {

struct TuneMeasurement {
    TuneNumbers numbers;
    Accuracy accuracy;
    std::size_t transitions = 0;
};

class TuneStore {
  public:
    /// Uses TuneOptions::measurements. Throws Error naming the file if it cannot be read.
    TuneStore(Session& session, const TuneOptions& options);

    bool enabled() const { return m_file.enabled(); }
    /// Returns what an earlier search measured.
    std::optional<TuneMeasurement> find(const QuantizationConfig& config, bool rough);
    void add(const QuantizationConfig& config, bool rough, const TuneMeasurement& measured);
    void save() { m_file.save(); }
    std::size_t reused() const { return m_file.reused(); }
    std::vector<std::string> notices() const { return m_file.notices(); }

  private:
    MeasurementFile m_file;
};

}  // namespace quantloupe
