// SPDX-License-Identifier: Apache-2.0
// Imports a Python script with Quark's legacy API (QuantizationConfig). The script is not executed.

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "config/config_choices.h"
#include "interchange/quark/read_quark.h"
#include "interchange/text/python_source.h"
#include "interchange/wording.h"

namespace quantloupe {
namespace {

using Kind = PythonValue::Kind;

Json jsonOf(const PythonValue& value) {
    if (value.kind == Kind::Bool) return value.truth;
    if (value.kind == Kind::Text) return value.text;
    if (value.kind != Kind::Number) return {};
    if (value.number == std::floor(value.number) && std::abs(value.number) < 1e9)
        return static_cast<std::int64_t>(value.number);
    return value.number;
}

class QuarkScriptReader {
  public:
    explicit QuarkScriptReader(const ImportSource& source)
        : m_source(source), m_script(parsePython(source.text)) {
        m_result.config = source.start;
    }

    ImportResult read() {
        if (find("quant_format") == nullptr && find("calibrate_method") == nullptr &&
            find("include_cle") == nullptr && find("nodes_to_exclude") == nullptr)
            failInput(
                "no QuantizationConfig(...): expected a Python script for Quark's legacy API, or QConfig "
                "JSON");
        m_result.left = m_script.changeNotices();
        startQuarkImport(m_result.config);
        exclusions();
        types();
        if (const PythonValue* value = find("quant_format");
            value != nullptr && afterLastDot(value->text) != "QDQ")
            leave(*value, quantFormatNotice(afterLastDot(value->text)));
        if (const PythonValue* value = find("calibrate_method")) {
            if (takeQuarkMethod(afterLastDot(value->text),
                                value->text.find("PowerOfTwo") != std::string::npos, m_result.config))
                take("calibrate_method", afterLastDot(value->text));
            else
                leave(*value, fmt::format("the calibration method {} has no counterpart here", value->text));
        }
        const CalibrationMethod method = m_result.config.calibration.method;
        auto& weight = m_result.config.quantization.weight;
        weight.powerOfTwo = isPowerOfTwo(method);
        weight.restricted = true;
        weight.method =
            method == CalibrationMethod::PowerOfTwoMinMse ? WeightMethod::Mse : WeightMethod::MinMax;
        flag("per_channel", weight.perChannel);
        bool npu = false, cle = true;
        flag("enable_npu_cnn", npu);
        m_result.config.quantization.biasBits = npu ? 8 : 32;
        takeQuarkNpu(npu, m_result.config);
        if (find("include_cle") == nullptr)
            m_result.taken.emplace_back(
                "include_cle is not given: Quark equalizes by default, and so does this configuration");
        flag("include_cle", cle);
        extraOptions(cle);
        for (const char* key :
             {"nodes_to_quantize", "op_types_to_quantize", "extra_op_types_to_quantize", "input_nodes",
              "output_nodes", "reduce_range", "include_fast_ft", "include_auto_mp", "include_sq",
              "include_rotation", "enable_npu_transformer", "specific_tensor_precision"})
            notRead(key);
        return std::move(m_result);
    }

  private:
    const PythonValue* find(const char* key) const { return m_script.find(key); }
    void take(const char* key, std::string_view value) {
        m_result.taken.push_back(fmt::format("{}: {}", key, value));
    }
    void leave(const PythonValue& value, const std::string& why) {
        m_result.left.push_back(fmt::format("line {}: {}", value.line, why));
    }

    void notRead(const char* key) {
        const PythonValue* value = find(key);
        if (value == nullptr || value->kind == Kind::None || (value->kind == Kind::Bool && !value->truth) ||
            (value->kind == Kind::List && value->items.empty()))
            return;
        leave(*value, fmt::format("{} has no counterpart here", key));
    }

    bool truth(const PythonValue& value, const std::string& key) {
        if (value.kind != Kind::Bool)
            failInput("line {}: {} must be True or False, not {}", value.line, key, kindName(value.kind));
        return value.truth;
    }
    void flag(const char* key, bool& target) {
        const PythonValue* value = find(key);
        if (value == nullptr) return;
        target = truth(*value, key);
        take(key, target ? "True" : "False");
    }

    void exclusions() {
        if (const PythonValue* list = find("nodes_to_exclude"); list != nullptr && list->kind != Kind::None) {
            if (!list->isTexts())
                failInput("line {}: nodes_to_exclude must be a list of node names, not {}", list->line,
                          kindName(list->kind));
            takeQuarkExclusions(m_source, list->texts(), m_result);
        }
        const PythonValue* list = find("subgraphs_to_exclude");
        if (list == nullptr || list->kind == Kind::None) return;
        if (list->kind != Kind::List)
            failInput("line {}: subgraphs_to_exclude must be a list of ([starts], [ends]), not {}",
                      list->line, kindName(list->kind));
        for (const PythonValue& item : list->items) {
            if (item.kind != Kind::List || item.items.size() != 2 || !item.items[0].isTexts() ||
                !item.items[1].isTexts())
                failInput("line {}: an entry of subgraphs_to_exclude must be ([start names], [end names])",
                          item.line);
            takeQuarkSubgraph(m_source, item.items[0].texts(), item.items[1].texts(), m_result);
        }
    }

    void types() {
        auto& q = m_result.config.quantization;
        const auto type = [&](const char* key, int& bits, bool& isSigned) {
            const PythonValue* value = find(key);
            if (value == nullptr) return;
            const std::string_view name = afterLastDot(value->text);
            if (name.starts_with('Q') && takeIntegerType(name.substr(1), bits, isSigned))
                take(key, name);
            else
                leave(*value, fmt::format("{} {} is not an integer type of 4, 8 or 16 bits", key, name));
        };
        type("activation_type", q.activation.bits, q.activation.isSigned);
        type("weight_type", q.weight.bits, q.weight.isSigned);
    }

    int wholeNumber(const PythonValue& value, const std::string& key, int least, int most) {
        if (value.kind != Kind::Number || value.number != std::floor(value.number) || value.number < least ||
            value.number > most)
            failInput("line {}: {} must be a whole number from {} to {}", value.line, key, least, most);
        return static_cast<int>(value.number);
    }
    double positive(const PythonValue& value, const std::string& key) {
        if (value.kind != Kind::Number || !(value.number >= 0))
            failInput("line {}: {} must be a non-negative number", value.line, key);
        return value.number;
    }

    void extraOptions(bool cle) {
        auto& t = m_result.config.transforms;
        auto& q = m_result.config.quantization;
        const NpuOperators npu = t.npuOperators;  // already set from enable_npu_cnn
        t = {};
        t.npuOperators = npu;
        if (cle) {
            t.equalization.profile = EqualizationProfile::Quark;
            t.equalization.appendBias = true;
            t.equalization.excludeSkipped = true;
        }
        q.activation.symmetric = isPowerOfTwo(m_result.config.calibration.method);
        q.weight.symmetric = true;
        const PythonValue* options = find("extra_options");
        if (options == nullptr || options->kind == Kind::None) return;
        if (options->kind != Kind::Dict)
            failInput("line {}: extra_options must be a dictionary, not {}", options->line,
                      kindName(options->kind));
        for (std::size_t i = 0; i < options->keys.size(); ++i) {
            const std::string& key = options->keys[i].text;
            const PythonValue& value = m_script.resolved(options->items[i]);
            const auto given = [&] { return truth(value, key); };
            auto& e = t.equalization;
            if (key == "ActivationSymmetric")
                q.activation.symmetric = truth(value, key);
            else if (key == "WeightSymmetric")
                q.weight.symmetric = truth(value, key);
            else if (key == "Percentile") {
                const double percent = positive(value, key);
                if (percent <= 50 || percent > 100)
                    failInput("line {}: Percentile must be above 50 and at most 100", value.line);
                m_result.config.calibration.parameters.percentile = percent / 100;
            } else if (key == "ReplaceClip6Relu") {
                if (truth(value, key) && cle) t.replaceRelu6 = ReplaceRelu6::All;
            } else if (key == "CLESteps")
                e.steps = wholeNumber(value, key, -1, kMaxEqualizationSteps);
            else if (key == "CLEScaleAppendBias")
                e.appendBias = truth(value, key);
            else if (key == "CLEWeightThreshold")
                e.weightThreshold = positive(value, key);
            else if (key == "CLETotalLayerDiffThreshold")
                e.totalLayerDiffThreshold = positive(value, key);
            else if (!takeQuarkFlag(key, given, m_result.config) &&
                     !takeQuarkCalibration(key, jsonOf(value), m_result.config)) {
                m_result.left.push_back(
                    fmt::format("line {}: extra_options['{}'] is not supported", options->keys[i].line, key));
                continue;
            }
            m_result.taken.push_back(key);
        }
        if (!cle) t.equalization = {};
    }

    const ImportSource& m_source;
    PythonSource m_script;
    ImportResult m_result;
};

}  // namespace

ImportResult readQuarkScript(const ImportSource& source) { return QuarkScriptReader(source).read(); }

}  // namespace quantloupe
