// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements of earlier searches in a JSON file, by key. The file names the model, the samples, the
// arithmetic and the program's version by a hash, so measurements of others are never used; those of up to
// eight such contexts are kept. Internal to engine/search.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "session/session.h"
#include "session/stopwatch.h"

namespace quantloupe {

struct MeasurementFileOptions {
    std::filesystem::path path;  ///< empty: nothing is read or saved
    std::string kind;            ///< first key of the file: "quantloupe_search"
    int format = 1;              ///< to be raised when measurements change their meaning
    bool reuse = true;           ///< false: keeps what the file contains, but find() finds nothing
    std::string program{};       ///< version; measurements of another one are not used
};

class MeasurementFile {
  public:
    /// Reads the file if it exists and is of the same model and data; in a group, every process uses the file
    /// of the first one. Throws Error naming the file if it cannot be read.
    MeasurementFile(Session& session, MeasurementFileOptions options);
    ~MeasurementFile() { save(); }
    MeasurementFile(const MeasurementFile&) = delete;
    MeasurementFile& operator=(const MeasurementFile&) = delete;

    bool enabled() const { return !m_options.path.empty(); }
    /// Returns what an earlier search measured, or null. If `read` throws an exception of the JSON library,
    /// throws Error naming the file.
    template <typename Read>
    auto find(const std::string& key, const Read& read) -> std::optional<decltype(read(Json()))> {
        const auto found = m_earlier.find(key);
        if (found == m_earlier.end()) return std::nullopt;
        ++m_reused;
        try {
            return read(found->second);
        } catch (const Json::exception&) {
            failDamaged();
        }
    }
    /// Adds a measurement and, every few seconds, saves the file. In a group, only the first process saves.
    void add(const std::string& key, Json measured);
    /// Also called by the destructor. Throws nothing: a search continues without its file, and notices()
    /// contains the error.
    void save() noexcept;
    std::size_t reused() const { return m_reused; }
    /// Why the measurements of the file are not used, and why they could not be saved; mostly empty.
    std::vector<std::string> notices() const;

  private:
    using Measurements = std::map<std::string, Json>;
    void read(const std::string& text);
    [[noreturn]] void failDamaged() const;

    MeasurementFileOptions m_options;
    ProcessGroup* m_group;
    std::string m_context;       ///< of model, data, arithmetic and program
    std::vector<Json> m_others;  ///< sections of other contexts, the oldest first
    Measurements m_earlier, m_all;
    std::string m_unusable, m_unsavable;  ///< notices
    std::size_t m_reused = 0, m_unsaved = 0;
    double m_savedAt = 0;
    Stopwatch m_watch;
};

/// JSON has no infinity: the SQNR of equal outputs. NaN becomes null.
Json measuredNumber(const std::optional<double>& value);
std::optional<double> measuredNumber(const Json& object, const char* key);

}  // namespace quantloupe
