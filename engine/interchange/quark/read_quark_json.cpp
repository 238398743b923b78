// SPDX-License-Identifier: Apache-2.0
// Imports Quark's QConfig JSON. Reports keys that Quark itself would silently ignore.

#include "base/text.h"
#include "config/config_choices.h"
#include "config/object_reader.h"
#include "interchange/quark/read_quark.h"
#include "interchange/wording.h"

namespace quantloupe {
namespace {

/// "ScaleType.PowerOf2", "<ScaleType.PowerOf2: 1>" or "PowerOf2".
std::string lastName(std::string text) {
    if (const auto colon = text.find(':'); text.starts_with('<') && colon != std::string::npos)
        text = text.substr(1, colon - 1);
    return std::string(afterLastDot(text));
}

struct TensorSpec {
    bool symmetric = false, powerOfTwo = false, perChannel = false, isSigned = true;
    int bits = 8;
    std::string method;
};

std::vector<std::string> nameList(const Json& value, const std::string& path) {
    std::vector<std::string> names;
    if (!value.is_array()) failInput("{}: must be a list of names, not {}", path, describeValue(value));
    for (const Json& name : value) {
        if (!name.is_string()) failInput("{}: must contain names, not {}", path, describeValue(name));
        names.push_back(name.get<std::string>());
    }
    return names;
}

class QuarkJsonReader {
  public:
    explicit QuarkJsonReader(const ImportSource& source)
        : m_source(source), m_json(parseStrictJson(source.text)) {
        m_result.config = source.start;
    }

    ImportResult read() {
        if (!m_json.contains("global_config"))
            failInput(
                "the key global_config is missing: expected Quark's QConfig, as QConfig.to_dict writes it");
        startQuarkImport(m_result.config);
        globalConfig(m_json["global_config"]);
        exclude();
        types();
        layers();
        equalization();
        extraOptions();
        for (const auto& item : m_json.items())
            if (!known(item.key())) m_result.left.push_back(fmt::format("{} is not supported", item.key()));
        return std::move(m_result);
    }

  private:
    static bool known(const std::string& key) {
        for (const char* name : {"global_config", "exclude", "layer_type_config", "specific_layer_config",
                                 "algo_config", "extra_options", "use_external_data_format"})
            if (key == name) return true;
        return false;
    }

    static ObjectReader readerOf(const Json& object, const std::string& path) {
        static const std::vector<std::string> kNoSuggestions;
        return {object, path, kNoSuggestions};
    }

    /// Reports the keys that are set, but not read.
    void reportUnread(ObjectReader& object) {
        for (const std::string& key : object.unread())
            if (!object.find(key)->is_null())
                m_result.left.push_back(fmt::format("{} has no counterpart here", object.pathOf(key)));
    }

    std::optional<TensorSpec> tensor(ObjectReader& parent, const char* key) {
        const Json* const found = parent.find(key);
        if (found == nullptr || found->is_null()) return std::nullopt;
        const std::string where = parent.pathOf(key);
        ObjectReader value = readerOf(*found, where);
        const auto need = [&](const char* name) -> const Json& {
            const Json* const item = value.find(name);
            if (item == nullptr)
                failInput(
                    "{} is missing: Quark needs symmetric, scale_type, calibration_method, "
                    "quant_granularity and data_type",
                    value.pathOf(name));
            return *item;
        };
        const auto text = [&](const char* name) {
            const Json& item = need(name);
            if (!item.is_string())
                failInput("{}.{}: must be a string, not {}", where, name, describeValue(item));
            return lastName(item.get<std::string>());
        };
        TensorSpec spec;
        need("symmetric");
        value.boolean("symmetric", spec.symmetric);
        const std::string scale = text("scale_type");
        if (scale != "PowerOf2" && scale != "Float32")
            m_result.left.push_back(fmt::format(
                "{}.scale_type: {} has no counterpart here; it is imported as Float32", where, scale));
        spec.powerOfTwo = scale == "PowerOf2";
        const std::string granularity = text("quant_granularity");
        if (granularity != "Tensor" && granularity != "Channel")
            m_result.left.push_back(
                fmt::format("{}.quant_granularity: {} has no counterpart here", where, granularity));
        spec.perChannel = granularity == "Channel";
        const std::string type = text("data_type");
        if (!takeIntegerType(type, spec.bits, spec.isSigned)) {
            m_result.left.push_back(fmt::format(
                "{}.data_type: {} is not one of Int4, UInt4, Int8, UInt8, Int16, UInt16", where, type));
            return std::nullopt;
        }
        spec.method = text("calibration_method");
        reportUnread(value);
        return spec;
    }

    /// Returns a list of the document; empty if it is not set.
    Json listAt(const std::string& key) const {
        Json list = m_json.value(key, Json());
        if (list.is_null()) return Json::array();
        if (!list.is_array()) failInput("{}: must be a list, not {}", key, describeValue(list));
        return list;
    }

    void globalConfig(const Json& json) {
        ObjectReader global = readerOf(json, "global_config");
        if (global.find("activation") != nullptr)
            failInput(
                "global_config.activation: Quark ignores this key; activations are called input_tensors");
        if (global.find("input_tensors") == nullptr)
            failInput("global_config.input_tensors is missing, and Quark needs it");
        auto& q = m_result.config.quantization;
        if (const auto a = tensor(global, "input_tensors")) {
            q.activation.bits = a->bits;
            q.activation.isSigned = a->isSigned;
            q.activation.symmetric = a->symmetric;
            if (!takeQuarkMethod(a->method, a->powerOfTwo, m_result.config))
                m_result.left.push_back(fmt::format(
                    "global_config.input_tensors.calibration_method: {} has no counterpart here", a->method));
            m_result.taken.push_back(
                fmt::format("activations: {} bits, {}", a->bits, a->symmetric ? "symmetric" : "affine"));
            m_power = a->powerOfTwo;
        }
        if (const auto w = tensor(global, "weight")) {
            q.weight.bits = w->bits;
            q.weight.isSigned = w->isSigned;
            q.weight.symmetric = w->symmetric;
            q.weight.restricted = w->symmetric;
            q.weight.perChannel = w->perChannel;
            q.weight.powerOfTwo = w->powerOfTwo;
            q.weight.method =
                w->powerOfTwo && w->method == "MinMSE" ? WeightMethod::Mse : WeightMethod::MinMax;
            m_result.taken.push_back(
                fmt::format("weights: {} bits, {}", w->bits, w->perChannel ? "per channel" : "per tensor"));
            m_power = m_power && w->powerOfTwo;
        }
        reportUnread(global);
        q.biasBits = m_power ? 8 : 32;  // power-of-two scales for both enable Quark's NPU mode
        takeQuarkNpu(m_power, m_result.config);
    }

    void exclude() {
        const Json list = listAt("exclude");
        std::vector<std::string> names;
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (list[i].is_string())
                names.push_back(list[i].get<std::string>());
            else if (list[i].is_array() && list[i].size() == 2) {
                const std::string path = fmt::format("exclude[{}]", i);
                takeQuarkSubgraph(m_source, nameList(list[i][0], path), nameList(list[i][1], path), m_result);
                m_result.taken.push_back(
                    path +
                    ": imported as a subgraph; Quark itself ignores a list here (it expects a Python tuple)");
            } else
                failInput("exclude[{}]: must be a name or [[starts], [ends]], not {}", i,
                          describeValue(list[i]));
        }
        takeQuarkExclusions(m_source, names, m_result);
    }

    void types() {
        const Json list = listAt("layer_type_config");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string path = fmt::format("layer_type_config[{}]", i);
            if (!list[i].is_array() || list[i].size() != 2)
                failInput("{}: must be [null or settings, [operators]]", path);
            const auto operators = nameList(list[i][1], path + "[1]");
            if (!list[i][0].is_null()) {
                m_result.left.push_back(fmt::format("{}: settings for all {} layers have no counterpart here",
                                                    path, shortList(operators)));
                continue;
            }
            for (const std::string& op : operators) {
                SkipRule rule;
                rule.kind = SkipKind::Type;
                rule.op = op;
                m_result.config.rules.push_back(rule);
                m_result.taken.push_back(fmt::format("all {} layers stay in float", op));
            }
        }
    }

    void layers() {
        const Json list = listAt("specific_layer_config");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string path = fmt::format("specific_layer_config[{}]", i);
            if (!list[i].is_array() || list[i].size() != 2 || !list[i][0].is_object())
                failInput("{}: must be [settings, [names]]", path);
            ObjectReader settings = readerOf(list[i][0], path + "[0]");
            const auto weight = tensor(settings, "weight");
            const auto output = tensor(settings, "output_tensors");
            reportUnread(settings);
            std::size_t count = 0;
            for (const std::string& name :
                 knownLayers(m_source, nameList(list[i][1], path + "[1]"), m_result)) {
                LayerSettings& own = m_result.config.layers[name];
                if (weight) {
                    own.weightBits = weight->bits;
                    own.weightSigned = weight->isSigned;
                    own.weightSymmetric = weight->symmetric;
                    own.weightPerChannel = weight->perChannel;
                    own.weightPowerOfTwo = weight->powerOfTwo;
                }
                if (output) {
                    own.activationBits = output->bits;
                    own.activationSigned = output->isSigned;
                    own.activationSymmetric = output->symmetric;
                    own.activationPowerOfTwo = output->powerOfTwo;
                }
                if (own.empty())
                    m_result.config.layers.erase(name);
                else
                    ++count;
            }
            if (count > 0) m_result.taken.push_back(fmt::format("settings of {}", counted(count, "layer")));
        }
    }

    void equalization() {
        auto& t = m_result.config.transforms;
        const NpuOperators npu = t.npuOperators;  // from the scales
        t = {};
        t.npuOperators = npu;
        const Json list = listAt("algo_config");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string path = fmt::format("algo_config[{}]", i);
            if (!list[i].is_object() || !list[i].contains("name") || !list[i]["name"].is_string())
                failInput("{}: must be an object with a name", path);
            const std::string name = list[i]["name"].get<std::string>();
            if (name != "cle") {
                m_result.left.push_back(
                    fmt::format("{}: the algorithm {} has no counterpart here", path, name));
                continue;
            }
            ObjectReader reader = readerOf(list[i], path);
            reader.find("name");
            auto& e = t.equalization;
            e.profile = EqualizationProfile::Quark;
            e.appendBias = true;
            e.excludeSkipped = true;
            e.totalLayerDiffThreshold = 1.9e-7;  // the default of CLEConfig; legacy options have 2e-7
            reader.integer("cle_steps", e.steps, -1, kMaxEqualizationSteps);
            reader.boolean("cle_scale_append_bias", e.appendBias);
            for (const auto& [key, target] :
                 {std::pair<const char*, double*>{"cle_weight_threshold", &e.weightThreshold},
                  {"cle_total_layer_diff_threshold", &e.totalLayerDiffThreshold}})
                if (const Json* value = reader.find(key)) {
                    if (!value->is_number() || value->get<double>() < 0)
                        failInput("{}.{}: must be a non-negative number, not {}", path, key,
                                  describeValue(*value));
                    *target = value->get<double>();
                }
            // Quark's defaults, and the only values that exist here.
            if (list[i].value("cle_balance_method", Json()) == "max") reader.find("cle_balance_method");
            if (list[i].value("cle_scale_use_threshold", Json()) == true)
                reader.find("cle_scale_use_threshold");
            reportUnread(reader);
            m_result.taken.push_back("cle: " + (e.steps < 0
                                                    ? "until converged"
                                                    : counted(static_cast<std::size_t>(e.steps), "step")));
        }
    }

    void extraOptions() {
        if (!m_json.contains("extra_options") || m_json["extra_options"].is_null()) return;
        const Json& options = m_json["extra_options"];
        if (!options.is_object())
            failInput("extra_options: must be an object, not {}", describeValue(options));
        for (const auto& item : options.items()) {
            const Json& value = item.value();
            const auto truth = [&] { return value.get<bool>(); };
            auto& config = m_result.config;
            if (item.key() == "ReplaceClip6Relu" && value.is_boolean()) {
                const bool cle = config.transforms.equalization.profile != EqualizationProfile::Off;
                if (value.get<bool>() && cle) config.transforms.replaceRelu6 = ReplaceRelu6::All;
            } else if (item.key() == "Percentile" && value.is_number() && value.get<double>() > 50 &&
                       value.get<double>() <= 100)
                config.calibration.parameters.percentile = value.get<double>() / 100;
            else if (!(value.is_boolean() && takeQuarkFlag(item.key(), truth, config)) &&
                     !takeQuarkCalibration(item.key(), value, config))
                m_result.left.push_back(fmt::format("extra_options.{} is not supported", item.key()));
        }
    }

    const ImportSource& m_source;
    Json m_json;
    bool m_power = false;
    ImportResult m_result;
};

}  // namespace

ImportResult readQuarkJson(const ImportSource& source) { return QuarkJsonReader(source).read(); }

}  // namespace quantloupe
