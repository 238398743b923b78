// SPDX-License-Identifier: Apache-2.0
// Imports nodes_to_exclude, types, symmetry and calibration method from a script with quantize_static. The
// script is not executed.

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text.h"
#include "config/near_names.h"
#include "config/presets.h"
#include "interchange/text/python_source.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

using Kind = PythonValue::Kind;

/// The parameters of quantize_static, in its order. StaticQuantConfig has most of them, in another order.
constexpr std::array<std::string_view, 16> kParameters = {
    "model_input",           "model_output",          "calibration_data_reader",
    "quant_format",          "op_types_to_quantize",  "per_channel",
    "reduce_range",          "activation_type",       "weight_type",
    "nodes_to_quantize",     "nodes_to_exclude",      "use_external_data_format",
    "calibrate_method",      "calibration_providers", "extra_options",
    "calibration_cache_path"};

bool isStatic(const PythonValue& value) {
    const std::string_view name = afterLastDot(value.text);
    return value.kind == Kind::Call && (name == "quantize_static" || name == "StaticQuantConfig");
}

/// Adds the calls that set what static quantization does, also those in arguments of other calls.
void collectCalls(const PythonValue& value, std::vector<const PythonValue*>& calls) {
    if (isStatic(value)) return calls.push_back(&value);
    for (const PythonValue& item : value.items) collectCalls(item, calls);
    for (const PythonArgument& argument : value.named) collectCalls(argument.value, calls);
}

/// The line that calls the function; 0 if there is none.
std::size_t lineOfCall(std::string_view text, std::string_view function) {
    const std::size_t at = text.find(std::string(function) + "(");
    return at == std::string_view::npos
               ? 0
               : 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

class ScriptReader {
  public:
    explicit ScriptReader(const ImportSource& source) : m_source(source), m_script(parsePython(source.text)) {
        m_result.config = source.start;
    }

    ImportResult read() {
        findCall();
        const PythonValue* excluded = argument("nodes_to_exclude");
        if (m_call == nullptr && excluded == nullptr && argument("activation_type") == nullptr &&
            argument("weight_type") == nullptr)
            refuseScript();
        m_result.left = m_script.changeNotices();
        checkCall();
        defaults();
        if (excluded != nullptr && excluded->kind != Kind::None) {
            if (!excluded->isTexts())
                failInput("line {}: nodes_to_exclude must be a list of node names, not {}", excluded->line,
                          kindName(excluded->kind));
            takeSkips(knownLayers(m_source, excluded->texts(), m_result), m_result);
        }
        types();
        calibration();
        options();
        if (const PythonValue* value = argument("quant_format");
            value != nullptr && afterLastDot(value->text) != "QDQ")
            m_result.left.push_back(
                fmt::format("line {}: {}", value->line, quantFormatNotice(afterLastDot(value->text))));
        for (const char* key : {"nodes_to_quantize", "op_types_to_quantize", "reduce_range"}) {
            const PythonValue* value = argument(key);
            const bool neutral = value == nullptr || value->kind == Kind::None ||
                                 (value->kind == Kind::List && value->items.empty()) ||
                                 (value->kind == Kind::Bool && !value->truth);
            if (!neutral)
                m_result.left.push_back(fmt::format("line {}: {} has no counterpart here", value->line, key));
        }
        return std::move(m_result);
    }

  private:
    void findCall() {
        for (const PythonStatement& statement : m_script.statements) collectCalls(statement.value, m_calls);
        if (!m_calls.empty()) m_call = m_calls.back();
    }

    /// Returns the value of a parameter; null if the script does not set it. Without a readable call, a
    /// keyword argument of any call, or an assignment.
    const PythonValue* argument(std::string_view name) const {
        if (m_call == nullptr) return m_script.find(name);
        if (const PythonValue* given = m_call->keyword(name)) return &m_script.resolved(*given);
        const auto at = static_cast<std::size_t>(std::ranges::find(kParameters, name) - kParameters.begin());
        const bool positional = afterLastDot(m_call->text) == "quantize_static" && at < m_call->items.size();
        return positional ? &m_script.resolved(m_call->items[at]) : nullptr;
    }

    [[noreturn]] void refuseScript() const {
        if (const std::size_t line = lineOfCall(m_source.text, "quantize_static"))
            failInput(
                "line {}: this call of quantize_static cannot be read, because something in it is computed "
                "and scripts are not executed: write lists and values out",
                line);
        if (const std::size_t line = lineOfCall(m_source.text, "quantize_dynamic"))
            failInput(
                "line {}: dynamic quantization has no counterpart here; expected a call of quantize_static",
                line);
        failInput(
            "no call of quantize_static and no list nodes_to_exclude: expected a Python script for ONNX "
            "Runtime's quantizer");
    }

    void checkCall() {
        if (m_call == nullptr) return;
        for (const PythonValue* call : m_calls)
            if (call != m_call)
                m_result.left.push_back(
                    fmt::format("line {}: this call of {} is ignored; the last one is imported", call->line,
                                afterLastDot(call->text)));
        const std::vector<std::string> known(kParameters.begin(), kParameters.end());
        for (const PythonArgument& given : m_call->named)
            if (std::ranges::count(known, given.key) == 0)
                m_result.left.push_back(fmt::format("line {}: {} has no parameter '{}'{}", given.value.line,
                                                    afterLastDot(m_call->text), given.key,
                                                    didYouMean(nearNames(known, given.key, 1))));
    }

    /// Sets what quantize_static does without further arguments. TensorQuantOverrides, which are not
    /// imported, may replace the settings of weights, layers and calibration: then those of the starting
    /// configuration stay.
    void defaults() {
        QuantizationConfig& config = m_result.config;
        const QuantizationConfig standard = presetConfig("onnxruntime-s8s8");
        QuantizationOptions& q = config.quantization;
        if (overridesTensors()) {
            const QuantizationConfig before = config;
            forgetSkips(config);
            keepIntegerPrecisions(before, config);
            q.operators = standard.quantization.operators;
            q.biasBits = standard.quantization.biasBits;
            q.weight.perChannel = standard.quantization.weight.perChannel;
            q.activation.symmetric = false;
            q.activation.isSigned = true;
            q.activation.bits = 8;
            return;
        }
        forgetLayers(config);
        q = standard.quantization;
        config.calibration.method = standard.calibration.method;
        config.calibration.parameters = standard.calibration.parameters;
        config.calibration.quantizedWeights = standard.calibration.quantizedWeights;
    }

    /// The overrides contain them.
    static void keepIntegerPrecisions(const QuantizationConfig& before, QuantizationConfig& config) {
        std::ranges::copy_if(before.precisionRules, std::back_inserter(config.precisionRules),
                             [](const PrecisionRule& rule) { return rule.precision.isInteger(); });
        for (const auto& [name, settings] : before.layers)
            if (settings.precision && settings.precision->isInteger())
                config.layers[name].precision = settings.precision;
    }

    bool overridesTensors() const {
        const PythonValue* options = argument("extra_options");
        return options != nullptr && options->kind == Kind::Dict &&
               std::ranges::any_of(options->keys,
                                   [](const PythonValue& key) { return key.text == "TensorQuantOverrides"; });
    }

    void types() {
        auto& q = m_result.config.quantization;
        const auto type = [&](const char* key, bool& isSigned, int& bits) {
            const PythonValue* value = argument(key);
            if (value == nullptr) return;
            const std::string_view name = afterLastDot(value->text);
            for (const bool with : {true, false})
                for (const int width : {4, 8, 16})
                    if (value->kind == Kind::Name &&
                        name == fmt::format("Q{}Int{}", with ? "" : "U", width)) {
                        isSigned = with;
                        bits = width;
                        m_result.taken.push_back(fmt::format("{}: {}", key, name));
                        return;
                    }
            m_result.left.push_back(fmt::format(
                "line {}: {} is not one of QuantType.QInt4, QUInt4, QInt8, QUInt8, QInt16, QUInt16",
                value->line, key));
        };
        type("activation_type", q.activation.isSigned, q.activation.bits);
        const bool wasSigned = q.weight.isSigned;
        const int bitsBefore = q.weight.bits;
        type("weight_type", q.weight.isSigned, q.weight.bits);
        if (overridesTensors()) {
            if (q.weight.bits == 8) q.weight.bits = bitsBefore;  // other widths are in the overrides
            // Unsigned weights next to signed activations can only be given in the overrides.
            q.weight.isSigned = q.weight.isSigned && (wasSigned || !q.activation.isSigned);
        } else {
            q.weight.symmetric = q.weight.isSigned;
            if (q.weight.bits == 4 && q.weight.isSigned)
                q.weight.method = presetConfig("onnxruntime-w4s8").quantization.weight.method;
        }
        flag(argument("per_channel"), "per_channel", q.weight.perChannel);
    }

    void flag(const PythonValue* value, const char* key, bool& target) {
        if (value == nullptr) return;
        if (value->kind != Kind::Bool)
            failInput("line {}: {} must be True or False, not {}", value->line, key, kindName(value->kind));
        target = value->truth;
        m_result.taken.push_back(fmt::format("{}: {}", key, value->truth));
    }

    void calibration() {
        const PythonValue* value = argument("calibrate_method");
        if (value == nullptr || overridesTensors()) return;  // the overrides contain the scales
        const std::string name(afterLastDot(value->text));
        auto& method = m_result.config.calibration.method;
        if (name == "MinMax")
            method = CalibrationMethod::MinMax;
        else if (name == "Percentile")
            method = CalibrationMethod::Percentile;
        else if (name == "Entropy")
            method = CalibrationMethod::Entropy;
        else
            return m_result.left.push_back(
                fmt::format("line {}: the calibration method {} has no counterpart here", value->line, name));
        m_result.config.calibration.parameters = {};
        m_result.taken.push_back("calibrate_method: " + name);
    }

    void options() {
        const PythonValue* value = argument("extra_options");
        if (value == nullptr || value->kind == Kind::None) return;
        if (value->kind != Kind::Dict)
            failInput("line {}: extra_options must be a dictionary, not {}", value->line,
                      kindName(value->kind));
        auto& config = m_result.config;
        for (std::size_t i = 0; i < value->keys.size(); ++i) {
            const std::string& key = value->keys[i].text;
            const PythonValue& item = m_script.resolved(value->items[i]);
            if (key == "ActivationSymmetric")
                flag(&item, "ActivationSymmetric", config.quantization.activation.symmetric);
            else if (key == "WeightSymmetric")
                flag(&item, "WeightSymmetric", config.quantization.weight.symmetric);
            else if (key == "CalibMovingAverage" && item.kind == Kind::Bool && item.truth) {
                if (overridesTensors() || config.calibration.method != CalibrationMethod::MinMax)
                    continue;  // ONNX Runtime's other methods ignore it
                config.calibration.method = CalibrationMethod::MovingAverage;
                config.calibration.parameters.averagingConstant = 0;
            } else if (key == "CalibPercentile" && item.kind == Kind::Number && item.number > 50 &&
                       item.number <= 100)
                config.calibration.parameters.percentile = item.number / 100;
            else if (key == "QuantizeBias" && item.kind == Kind::Bool)
                config.quantization.biasBits = item.truth ? 32 : kFloatBias;
            else
                m_result.left.push_back(
                    fmt::format("line {}: extra_options['{}'] is not supported", value->keys[i].line, key));
        }
    }

    const ImportSource& m_source;
    PythonSource m_script;
    std::vector<const PythonValue*> m_calls;  ///< in m_script
    const PythonValue* m_call = nullptr;      ///< the one that is imported; null: none can be read
    ImportResult m_result;
};

}  // namespace

ImportResult readOnnxRuntime(const ImportSource& source) { return ScriptReader(source).read(); }

}  // namespace quantloupe
