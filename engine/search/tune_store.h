// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements of earlier searches, in a file. They are identified by hashes of the configuration and of
// model and data, so those of another model or of other samples are never used. Internal to engine/search.

#include <map>
#include <string>

#include "search/tune_numbers.h"
#include "session/stopwatch.h"

namespace quantloupe {

struct TuneMeasurement {
    TuneNumbers numbers;
    Accuracy accuracy;
    std::optional<RateInterval> interval;
    std::size_t transitions = 0;
};

class TuneStore {
  public:
    /// Reads TuneOptions::measurements if it exists and is of the same model and data. Throws Error naming
    /// the file if it cannot be read.
    TuneStore(Session& session, const TuneOptions& options);

    bool enabled() const { return !m_path.empty(); }
    /// Returns what an earlier search measured, or null.
    const TuneMeasurement* find(const QuantizationConfig& config, bool rough);
    /// Adds a measurement and, every few seconds, saves the file.
    void add(const QuantizationConfig& config, bool rough, const TuneMeasurement& measured);
    void save();
    std::size_t reused() const { return m_reused; }
    /// Why the measurements of the file are not used; mostly empty.
    const std::string& notice() const { return m_notice; }

  private:
    void read();

    std::filesystem::path m_path;
    std::string m_context;  ///< of model and data
    std::map<std::string, TuneMeasurement> m_earlier, m_all;
    std::string m_notice;
    std::size_t m_reused = 0, m_unsaved = 0;
    double m_savedAt = 0;
    Stopwatch m_watch;
};

}  // namespace quantloupe
