// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of the command line. They are read from left to right: a later one wins over an earlier one.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "config/config_fields.h"
#include "search/tune.h"
#include "session/stages/layer_metrics.h"

namespace quantloupe::cli {

/// Wrong usage that CLI11 does not see itself; exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a command was asked to do.
struct Options {
    std::filesystem::path model;
    std::filesystem::path data, calibrationData, preprocess, output, configFile;  ///< empty: not given
    std::filesystem::path saveConfig;  ///< where `config` is written once the model is loaded; empty: nowhere
    /// tune: where the configuration that it finds is written; empty: nowhere
    std::filesystem::path saveFound;
    std::size_t samples = 0;               ///< 0: all
    std::optional<std::size_t> memoryMiB;  ///< for activations
    bool simulate = false, path = false;
    int threads = 0;  ///< 0: one a core
    bool json = false;
    bool quantized = false;                        ///< run
    bool allLayers = false;                        ///< analyze
    std::size_t worst = 10;                        ///< analyze: layers in the readable table
    LayerMetricsOptions metrics;                   ///< analyze
    std::filesystem::path metricProgram, against;  ///< analyze; empty: not given
    std::optional<std::string> layer, image;       ///< analyze
    std::size_t bins = 64;                         ///< analyze: of the histograms of --layer
    bool images = false;                           ///< analyze
    std::string dialect;                           ///< export, import
    std::filesystem::path foreign;                 ///< import
    bool progress = false;                         ///< session
    bool connections = false;                      ///< inspect
    std::filesystem::path weights;                 ///< transform; empty: not given
    TuneOptions tune;                              ///< tune; check uses maxDrop
    std::filesystem::path junit, markdown;         ///< check; empty: not given
    QuantizationConfig config;
};

/// Which options a command has beside the shared ones.
struct CommandOptions {
    enum class Need { No, Optional, Required };
    Need data = Need::No;
    Need output = Need::No;
    bool dialect = false;  ///< --to also names a dialect
    bool foreign = false;  ///< a file in a foreign dialect, and --from
    bool quantized = false;
    bool layerTable = false;
    bool connections = false;  ///< --connections
    bool weights = false;      ///< --weights
    bool progress = false;     ///< progress is shown only when it is asked for
    bool checking = false;     ///< --max-drop and the reports of check
    bool tuning = false;       ///< --max-drop and what goes with it; --save-config is for what is found
};

/// Throws UsageError naming the option unless the value is a whole number in the range.
long parseNumber(const std::string& option, const std::string& value, long least, long most);

/// Gives a command its options and collects them while CLI11 parses. Keep it alive as long as the command.
class OptionReader {
  public:
    OptionReader(CLI::App& command, const CommandOptions& has);

    /// After parsing: preset, then the configuration file, then the rest from left to right. Throws
    /// UsageError for wrong usage, Error for a configuration file that cannot be read and for a --save-config
    /// that cannot be written.
    Options finish();

    /// The names that an option like --preset accepts; empty for other options.
    std::vector<std::string> choices(const std::string& option) const;

  private:
    using Edit = std::function<void(QuantizationConfig&)>;

    CLI::Option* text(const std::string& name, const std::string& what,
                      std::function<void(const std::string&)> use);
    CLI::Option* path(const std::string& name, std::filesystem::path& target, const std::string& what);
    void edit(const std::string& name, const std::string& what, std::function<Edit(const std::string&)> make);
    void number(const std::string& name, long least, long most, const std::string& what,
                std::function<void(QuantizationConfig&, int)> apply);
    void choice(const std::string& name, const std::vector<std::string>& values, const std::string& what,
                std::function<void(QuantizationConfig&, std::size_t)> apply);
    void toggle(const std::string& name, const std::string& what,
                std::function<void(QuantizationConfig&, bool)> apply);
    CLI::Option* flag(const std::string& name, const std::string& what, std::function<void()> use);

    void addPlaces(const CommandOptions& has);
    void addAnalysis();
    void addMaxDrop();
    void addTuning();
    void addChecking();
    void addConfiguration();
    void addField(const Field& field);
    void addSkips();
    void addTo(bool dialect);
    QuantizationConfig startingPoint() const;
    void closeUntil();

    CLI::App& m_command;
    CommandOptions m_has;
    Options m_options;
    std::string m_preset;
    std::vector<Edit> m_edits;
    std::map<std::string, std::vector<std::string>> m_choices;  ///< by option
    std::optional<SkipRule> m_until;  ///< a --skip-until whose --to options are still coming
};

}  // namespace quantloupe::cli
