// SPDX-License-Identifier: Apache-2.0
// Imports nodes_to_exclude, types, symmetry and calibration method from a script with quantize_static. The
// script is not executed.

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/presets.h"
#include "interchange/text/python_source.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

using Kind = PythonValue::Kind;

class ScriptReader {
  public:
    explicit ScriptReader(const ImportSource& source) : m_source(source), m_script(parsePython(source.text)) {
        m_result.config = source.start;
    }

    ImportResult read() {
        const PythonValue* excluded = m_script.find("nodes_to_exclude");
        if (excluded == nullptr && m_script.find("activation_type") == nullptr &&
            m_script.find("weight_type") == nullptr)
            failInput(
                "no call of quantize_static and no list nodes_to_exclude: expected a Python script for ONNX "
                "Runtime's quantizer");
        m_result.left = m_script.changeNotices();
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
        for (const char* key : {"nodes_to_quantize", "op_types_to_quantize", "reduce_range"}) {
            const PythonValue* value = m_script.find(key);
            const bool neutral = value == nullptr || value->kind == Kind::None ||
                                 (value->kind == Kind::List && value->items.empty()) ||
                                 (value->kind == Kind::Bool && !value->truth);
            if (!neutral)
                m_result.left.push_back(fmt::format("line {}: {} has no counterpart here", value->line, key));
        }
        return std::move(m_result);
    }

  private:
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
        const PythonValue* options = m_script.find("extra_options");
        return options != nullptr && options->kind == Kind::Dict &&
               std::ranges::any_of(options->keys,
                                   [](const PythonValue& key) { return key.text == "TensorQuantOverrides"; });
    }

    void types() {
        auto& q = m_result.config.quantization;
        const auto type = [&](const char* key, bool& isSigned, int& bits) {
            const PythonValue* value = m_script.find(key);
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
        flag(m_script.find("per_channel"), "per_channel", q.weight.perChannel);
    }

    void flag(const PythonValue* value, const char* key, bool& target) {
        if (value == nullptr) return;
        if (value->kind != Kind::Bool)
            failInput("line {}: {} must be True or False, not {}", value->line, key, kindName(value->kind));
        target = value->truth;
        m_result.taken.push_back(fmt::format("{}: {}", key, value->truth));
    }

    void calibration() {
        const PythonValue* value = m_script.find("calibrate_method");
        if (value == nullptr) return;
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
        const PythonValue* value = m_script.find("extra_options");
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
    ImportResult m_result;
};

}  // namespace

ImportResult readOnnxRuntime(const ImportSource& source) { return ScriptReader(source).read(); }

}  // namespace quantloupe
