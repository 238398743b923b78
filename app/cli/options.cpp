// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/strict_json.h"
#include "base/text.h"
#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/presets.h"
#include "data/class_list.h"
#include "interchange/file_format.h"
#include "output_file.h"

namespace quantloupe::cli {
namespace {

constexpr long kMost = 1'000'000'000;

std::string knownFormat(const char* option, const std::string& name, bool reading) {
    try {
        return formatNamed(name, reading).name;
    } catch (const Error& error) {
        throw UsageError(fmt::format("{}: {}", option, error.what()));
    }
}

}  // namespace

long parseNumber(const std::string& option, const std::string& value, long least, long most) {
    const auto number = parsed<long>(value);
    if (!number || *number < least || *number > most) {
        if (least == most) throw UsageError(fmt::format("{} can only be {}, not '{}'", option, least, value));
        throw UsageError(
            fmt::format("{} takes a whole number from {} to {}, not '{}'", option, least, most, value));
    }
    return *number;
}

OptionReader::OptionReader(CLI::App& command, const CommandOptions& has) : m_command(command), m_has(has) {
    if (has.foreign)
        m_command.add_option("FILE", m_options.foreign, "The file of the other tool")
            ->required()
            ->type_name("FILE");
    m_command
        .add_option(has.foreign ? "--model" : "MODEL", m_options.model,
                    has.foreign  ? "The ONNX file that the configuration is for"
                    : has.window ? "The ONNX file or project (.quantloupe) to open"
                                 : "The ONNX file")
        ->required(!has.window)
        ->type_name("FILE");
    if (has.inputs) {
        addInputChanges();
        return;
    }
    addPlaces(has);
    addConfiguration();
    addSkips();
    addTo(has.format);
}

CLI::Option* OptionReader::text(const std::string& name, const std::string& what,
                                std::function<void(const std::string&)> use) {
    // Every option except --to ends the list of destinations of a preceding --skip-until.
    const auto act = [this, name, use = std::move(use)](const std::string& value) {
        if (name != "--to") closeUntil();
        use(value);
    };
    return m_command.add_option_function<std::string>(name, act, what)->trigger_on_parse();
}

CLI::Option* OptionReader::flag(const std::string& name, const std::string& what, std::function<void()> use) {
    const auto act = [this, use = std::move(use)] {
        closeUntil();
        use();
    };
    return m_command.add_flag_callback(name, act, what)->trigger_on_parse();
}

CLI::Option* OptionReader::path(const std::string& name, std::filesystem::path& target,
                                const std::string& what) {
    const auto set = [name, &target](const std::string& value) {
        if (value.empty()) throw UsageError(name + " needs a path");
        target = value;
    };
    return text(name, what, set)->type_name("PATH");
}

CLI::Option* OptionReader::edit(const std::string& name, const std::string& what,
                                std::function<Edit(const std::string&)> make) {
    return text(name, what,
                [this, make = std::move(make)](const std::string& value) { m_edits.push_back(make(value)); });
}

void OptionReader::number(const std::string& name, long least, long most, const std::string& what,
                          const std::function<void(QuantizationConfig&, int)>& apply) {
    text(name, what, [=, this](const std::string& value) {
        const int n = static_cast<int>(parseNumber(name, value, least, most));
        m_edits.push_back([apply, n](QuantizationConfig& config) { apply(config, n); });
    })->type_name("N");
}

void OptionReader::oneOf(const std::string& name, const std::vector<std::string>& values,
                         const std::string& what, const std::function<void(std::size_t)>& use) {
    text(name, what, [=](const std::string& value) {
        const auto found = std::find(values.begin(), values.end(), value);
        if (found == values.end())
            throw UsageError(
                fmt::format("{}: unknown value '{}'; available: {}", name, value, fmt::join(values, ", ")));
        use(static_cast<std::size_t>(found - values.begin()));
    })->type_name(fmt::format("{}", fmt::join(values, "|")));
}

void OptionReader::toggle(const std::string& name, const std::string& what,
                          const std::function<void(QuantizationConfig&, bool)>& apply) {
    for (const bool on : {true, false}) {
        flag((on ? "--" : "--no-") + name, on ? what : fmt::format("Turn --{} off", name), [=, this] {
            m_edits.push_back([apply, on](QuantizationConfig& config) { apply(config, on); });
        });
    }
}

void OptionReader::addPlaces(const CommandOptions& has) {
    using Need = CommandOptions::Need;
    const auto count = [this](const std::string& name, auto& target, const std::string& what) {
        text(name, what, [name, &target](const std::string& value) {
            target = static_cast<std::decay_t<decltype(target)>>(parseNumber(name, value, 1, kMost));
        })->type_name("N");
    };
    if (has.data != Need::No) {
        path("--data", m_options.data, "Evaluation data: folder, .npy, .npz or test_data_set")
            ->required(has.data == Need::Required);
        addTask();
    }
    if (has.output != Need::No) {
        path("-o,--output", m_options.output, "The file to write")->required(has.output == Need::Required);
    }
    path(
        "--calibration-data", m_options.calibrationData,
        has.data == Need::No
            ? "Calibration data"
            : "Calibration data; default: half of the evaluation data, or all of it if nothing is evaluated");
    path("--preprocess", m_options.preprocess,
         "Preprocessing of images: a file or JSON text; default: NAME.preprocess.json next to the model");
    if (has.window) return;
    count("--samples", m_options.samples, "Number of evaluation samples, spread evenly over the data");
    count("--threads", m_options.threads, "Number of worker threads; default: one per core");
    text(
        "--memory",
        "Memory limit for cached results in MiB; default: a quarter of the machine's memory, at most half of "
        "the free memory",
        [this](const std::string& value) {
            m_options.memoryMiB = static_cast<std::size_t>(parseNumber("--memory", value, 0, kMost));
        })
        ->type_name("MiB");
    flag("--simulate", "Simulate quantized layers in float (the reference) instead of computing in integers",
         [this] { m_options.simulate = true; });
    flag("--json", "Print one JSON document", [this] { m_options.json = true; });
    if (has.quantized)
        flag("--quantized", "Run the quantized network instead of the float network",
             [this] { m_options.quantized = true; });
    if (has.connections)
        flag("--connections", "Show the predecessors and successors of each layer",
             [this] { m_options.connections = true; });
    if (has.weights)
        path("--weights", m_options.weights,
             "Write the weights and biases before and after the transforms to this .npz");
    if (has.progress) {
        flag("--progress", "Show progress on stderr", [this] { m_options.progress = true; });
    }
    if (has.layerTable) flag("--path", "Print the accuracy loss by step", [this] { m_options.path = true; });
    if (has.layerTable || has.sweep) {
        flag("--all-layers", "Print all layers, not only the worst", [this] { m_options.allLayers = true; });
        count("--worst", m_options.worst, "Number of worst layers to print (10)");
    }
    if (has.layerTable) addAnalysis();
    if (has.sweep) addResume();
    if (has.metric || has.sweep) addOwnMetric();
    if (has.tuning) addTuning();
    if (has.checking) addChecking();
    if (has.profiling) addProfiling();
}

void OptionReader::addConfiguration() {
    std::vector<std::string>& names = m_choices["--preset"];
    for (const PresetInfo& preset : presets()) names.push_back(preset.name);
    text("--preset", fmt::format("The starting point: {}", fmt::join(names, ", ")),
         [this](const std::string& value) { m_preset = value; })
        ->type_name("NAME");
    path("--config", m_options.configFile, "A configuration file, applied after the preset");
    if (!m_has.window)
        path("--save-config", m_options.saveConfig, "Write the resulting configuration to this file");
    edit("--set", "Set one key of the configuration: quantization.weight.bits=4",
         [](const std::string& value) {
             const std::size_t equals = value.find('=');
             if (equals == std::string::npos || equals == 0) {
                 throw UsageError(fmt::format("--set takes KEY.PATH=VALUE, not '{}'", value));
             }
             return [key = value.substr(0, equals),
                     text = value.substr(equals + 1)](QuantizationConfig& config) {
                 try {
                     setConfigKey(config, key, text);
                 } catch (const Error& error) {
                     throw UsageError(fmt::format("--set {}={}: {}", key, text, error.what()));
                 }
             };
         })
        ->type_name("KEY.PATH=VALUE");
    for (const Field& field : configFields().fields)
        if (!field.option.empty()) addField(field);
}

void OptionReader::addField(const Field& field) {
    const OrderedJson& type = field.schema;
    // The help of the other options has no full stop.
    const std::string help = field.help.substr(0, field.help.size() - 1);
    if (type.value("type", "") == "boolean") {
        toggle(field.option.substr(2), help,
               [&field](QuantizationConfig& c, bool on) { setField(c, field, on); });
    } else if (type.value("type", "") == "integer") {
        number(field.option, type["minimum"], type["maximum"], help,
               [&field](QuantizationConfig& c, int n) { setField(c, field, n); });
    } else if (type.contains("enum")) {
        const auto names = type["enum"].get<std::vector<std::string>>();
        oneOf(field.option, names, help, [this, &field, names](std::size_t i) {
            m_edits.push_back([&field, name = names[i]](QuantizationConfig& c) { setField(c, field, name); });
        });
    } else {
        edit(field.option, help, [&field](const std::string& value) {
            const Json json = Json::accept(value) ? Json::parse(value) : Json(value);
            try {
                QuantizationConfig tried;
                setField(tried, field, json);
            } catch (const Error& error) {
                throw UsageError(fmt::format("{} {}: {}", field.option, value, error.what()));
            }
            return [&field, json](QuantizationConfig& c) { setField(c, field, json); };
        })->type_name("X");
    }
}

void OptionReader::addTo(bool format) {
    if (format) m_choices["--to"] = formatNames(false);
    const std::string what =
        format ? fmt::format("The format to write: {}; after --skip-until: one of its destinations",
                             fmt::join(formatNames(false), ", "))
               : "A destination of the preceding --skip-until";
    text("--to", what, [this, format](const std::string& value) {
        if (m_until) {
            m_until->to.push_back(value);
            return;
        }
        if (!format) throw UsageError("--to must follow the --skip-until that it belongs to");
        m_options.format = knownFormat("--to", value, false);
    })->type_name(format ? "FORMAT|NAME" : "NAME");
    if (!m_has.foreign) return;
    m_choices["--from"] = formatNames(true);
    text("--from", fmt::format("The format of FILE: {}", fmt::join(formatNames(true), ", ")),
         [this](const std::string& value) { m_options.format = knownFormat("--from", value, true); })
        ->required()
        ->type_name("FORMAT");
}

QuantizationConfig OptionReader::startingPoint() const {
    QuantizationConfig config;
    if (!m_preset.empty()) {
        try {
            config = presetConfig(m_preset);
        } catch (const Error& error) {
            throw UsageError(error.what());
        }
    }
    if (m_options.configFile.empty()) return config;
    try {
        const std::string text = readFile(m_options.configFile);
        config = configFromJson(text);
        // A file without a preset is applied on top of the preset that the user chose.
        auto document = parseOrderedJson(text);
        if (m_preset.empty() || document.contains("preset")) return config;
        document["preset"] = m_preset;
        return configFromJson(document.dump());
    } catch (Error& error) {
        throw error.addContext(fmt::format("configuration '{}'", m_options.configFile.string()));
    }
}

std::vector<std::string> OptionReader::choices(const std::string& option) const {
    const auto found = m_choices.find(option);
    return found == m_choices.end() ? std::vector<std::string>() : found->second;
}

Options OptionReader::finish() {
    closeUntil();
    if (m_has.format && m_options.format.empty()) {
        throw UsageError(
            "--to FORMAT is missing (a --to right after --skip-until is one of its destinations)");
    }
    if (m_has.tuning || m_has.sweep) nameMeasurements();
    finishMaxDrop();
    if (m_has.tuning) finishTuning();
    m_options.config = startingPoint();
    for (const Edit& edit : m_edits) edit(m_options.config);
    const auto given = [this](const char* name) {
        const CLI::Option* const option = m_command.get_option_no_throw(name);
        return option != nullptr && option->count() > 0;
    };
    if (!m_has.window && given("--cle-steps") &&
        m_options.config.transforms.equalization.profile == EqualizationProfile::Off)
        throw UsageError("--cle-steps has no effect while equalization is off: add --cle PROFILE");
    if (given("--bins") && !given("--layer"))
        throw UsageError("--bins has no effect without --layer, whose histograms it is for");
    const Task task = m_options.task.task;
    const bool otherTask = (given("--labels") && !isClassList(m_options.task.labels)) ||
                           task == Task::Regression || task == Task::Detection || task == Task::Segmentation;
    if (given("--class-output") && otherTask)
        throw UsageError(
            "--class-output only applies to networks that classify, not to labels for detection or "
            "segmentation or to --task regression");
    if (given("--category-index") && (!given("--labels") || isClassList(m_options.task.labels)))
        throw UsageError("--category-index has no effect without a COCO file (--labels)");
    if (m_has.window && !m_preset.empty())
        m_options.configure = [config = m_options.config](QuantizationConfig& opened) { opened = config; };
    else if (m_has.window && !m_edits.empty())
        m_options.configure = [edits = m_edits](QuantizationConfig& opened) {
            for (const Edit& edit : edits) edit(opened);
        };
    checkOutputs(m_options);
    if (m_has.tuning) std::swap(m_options.saveConfig, m_options.saveFound);
    return m_options;
}

}  // namespace quantloupe::cli
