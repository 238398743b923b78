// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options of the command line. They are read from left to right; later options override earlier ones.

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
#include "data/task_settings.h"
#include "model/set_inputs.h"
#include "search/tune.h"
#include "session/stages/layer_metrics.h"

namespace quantloupe::cli {

/// Wrong usage that CLI11 does not detect; exit code 2.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The options of a command with their values.
struct Options {
    std::filesystem::path model;
    std::filesystem::path data, calibrationData, preprocess, output, configFile;  ///< empty: not given
    std::filesystem::path
        saveConfig;  ///< output file for `config`, written once the model is loaded; empty: none
    /// tune: output file for the resulting configuration; empty: none.
    std::filesystem::path saveFound;
    std::size_t samples = 0;               ///< 0: all
    std::optional<std::size_t> memoryMiB;  ///< for activations
    bool simulate = false, path = false;
    int threads = 0;  ///< 0: one per core
    bool json = false;
    bool quantized = false;               ///< run
    bool allLayers = false;               ///< analyze
    std::size_t worst = 10;               ///< analyze: number of layers in the readable table
    LayerMetricsOptions metrics;          ///< analyze
    std::filesystem::path metricProgram;  ///< empty: none
    std::vector<std::string> metricArguments;
    bool lowerIsBetter = false;               ///< of metricProgram
    std::filesystem::path against;            ///< analyze; empty: not given
    std::optional<std::string> layer, image;  ///< analyze
    std::size_t bins = 64;                    ///< analyze: number of histogram bins for --layer
    bool images = false;                      ///< analyze
    bool classes = false;                     ///< analyze
    TaskSettings task;                        ///< labels of the evaluation data, and the decoder
    std::string format;                       ///< export, import
    std::filesystem::path foreign;            ///< import
    bool progress = false;                    ///< session
    bool connections = false;                 ///< inspect
    std::filesystem::path weights;            ///< transform; empty: not given
    InputChanges inputs;                      ///< set-inputs
    TuneOptions tune;                         ///< tune; check uses maxDrop
    /// tune: files with measured times, each with the measured precision if it is given.
    std::vector<std::pair<std::optional<Precision>, std::filesystem::path>> profiles;
    bool resume = false;                    ///< tune, leave-one-out
    bool saveMeasurements = false;          ///< also without --resume
    std::filesystem::path measurements;     ///< of tune or leave-one-out, if they are saved
    std::size_t profileRuns = 50;           ///< profile
    std::filesystem::path junit, markdown;  ///< check; empty: not given
    QuantizationConfig config;
    /// Window only: applies the options to the configuration of the opened model or project. Empty if no
    /// option changes the configuration.
    std::function<void(QuantizationConfig&)> configure{};
    /// Processes that share the work (quantloupe-mpi); null: none.
    std::shared_ptr<ProcessGroup> group{};
    /// tune, leave-one-out: ends the command without a result. Empty: Ctrl+C ends a search with the best
    /// result so far.
    std::optional<CancelToken> cancel{};

    /// Returns the file in which tune and leave-one-out save their measurements; empty: none. Throws Error if
    /// it cannot be written.
    std::filesystem::path measurementFile() const;
    /// What these measurements depend on besides model, data and configuration: the version of Quantloupe,
    /// and the content of --metric-program with its arguments.
    std::string measuredWith() const;
    /// Returns the given output files with their options.
    std::vector<std::pair<const char*, std::filesystem::path>> outputs() const;
};

/// Which options a command has in addition to the shared ones.
struct CommandOptions {
    enum class Need { No, Optional, Required };
    Need data = Need::No;
    Need output = Need::No;
    bool format = false;   ///< --to also names an export format
    bool foreign = false;  ///< a file of another tool, and --from
    bool quantized = false;
    bool metric = false;       ///< --metric-program
    bool layerTable = false;   ///< the options of analyze
    bool sweep = false;        ///< --all-layers, --worst and --resume
    bool connections = false;  ///< --connections
    bool weights = false;      ///< --weights
    bool inputs = false;       ///< only --output, --json and the changes to the inputs
    bool progress = false;     ///< --progress: progress is shown only on request
    bool checking = false;     ///< --max-drop and the reports of check
    bool tuning = false;       ///< --max-drop and related options; --save-config is for the result
    bool profiling = false;    ///< --runs
    bool window = false;       ///< options of the window: model (not required), data and configuration
};

/// Returns the value as a number. Throws UsageError naming the option unless it is a whole number in the
/// range.
long parseNumber(const std::string& option, const std::string& value, long least, long most);

/// Returns the edit that --precision NAME=PRECISION makes. Throws UsageError for an invalid value.
std::function<void(QuantizationConfig&)> precisionEdit(const std::string& value);

/// Adds the options to a command and collects their values while CLI11 parses. Must live as long as the
/// command.
class OptionReader {
  public:
    OptionReader(CLI::App& command, const CommandOptions& has);

    /// Returns the options after parsing. Applies the preset, then the configuration file, then the other
    /// options from left to right. Throws UsageError for wrong usage, Error if the configuration file cannot
    /// be read or the --save-config file cannot be written.
    Options finish();

    /// The names that an option like --preset accepts; empty for other options.
    std::vector<std::string> choices(const std::string& option) const;

  private:
    using Edit = std::function<void(QuantizationConfig&)>;

    CLI::Option* text(const std::string& name, const std::string& what,
                      std::function<void(const std::string&)> use);
    CLI::Option* path(const std::string& name, std::filesystem::path& target, const std::string& what);
    CLI::Option* edit(const std::string& name, const std::string& what,
                      std::function<Edit(const std::string&)> make);
    void number(const std::string& name, long least, long most, const std::string& what,
                const std::function<void(QuantizationConfig&, int)>& apply);
    void oneOf(const std::string& name, const std::vector<std::string>& values, const std::string& what,
               const std::function<void(std::size_t)>& use);
    void toggle(const std::string& name, const std::string& what,
                const std::function<void(QuantizationConfig&, bool)>& apply);
    CLI::Option* flag(const std::string& name, const std::string& what, std::function<void()> use);

    void addPlaces(const CommandOptions& has);
    void addInputChanges();
    void addTask();
    void addAnalysis();
    void addMetricProgram();
    void addOwnMetric();
    void addMaxDrop(bool required);
    void finishMaxDrop();
    void addTuning();
    void addResume();
    void nameMeasurements();
    void finishTuning();
    void addProfiling();
    void addChecking();
    void addConfiguration();
    void addField(const Field& field);
    void addSkips();
    void addTo(bool format);
    QuantizationConfig startingPoint() const;
    void closeUntil();

    CLI::App& m_command;
    CommandOptions m_has;
    Options m_options;
    std::string m_preset;
    std::optional<std::string> m_maxDrop;
    bool m_hasCost = false;  ///< --cost
    std::vector<Edit> m_edits;
    std::map<std::string, std::vector<std::string>> m_choices;  ///< by option
    std::optional<SkipRule> m_until;  ///< a --skip-until that waits for its --to options
};

}  // namespace quantloupe::cli
