// SPDX-License-Identifier: Apache-2.0
#include "interchange/amct_document.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "config/near_names.h"
#include "config/object_reader.h"
#include "config/skip_rules.h"
#include "interchange/amct_layers.h"

namespace quantloupe {
namespace {

constexpr std::string_view kKeys[] = {"version",   "batch_num",          "activation_offset",        "joint_quant",    "weight_offset",
                                      "do_fusion", "skip_fusion_layers", "fakequant_precision_mode", "tensor_quantize"};

/// Reads one object of parameters; messages end with the layer's name.
class Parameters {
  public:
    Parameters(const Json& value, std::string name, const std::string& layer) : m_value(value), m_name(std::move(name)), m_layer(layer) {
        if (!value.is_object()) failInput("Type of {} should be an object, not {}, in layer {}", m_name, describeValue(value), layer);
    }

    const Json* find(std::string_view key) {
        m_known.insert(std::string(key));
        const auto found = m_value.find(std::string(key));
        return found == m_value.end() ? nullptr : &*found;
    }
    bool has(std::string_view key) const { return m_value.contains(std::string(key)); }

    void boolean(std::string_view key, bool& target) {
        if (const Json* value = find(key)) {
            if (!value->is_boolean()) wrongType(key, *value, "true or false");
            target = value->get<bool>();
        }
    }
    void number(std::string_view key, double& target) {
        if (const Json* value = find(key)) {
            if (!value->is_number()) wrongType(key, *value, "a number");
            target = value->get<double>();
        }
    }
    void integerOf(std::string_view key, int& target, const std::vector<int>& allowed) {
        const Json* value = find(key);
        if (value == nullptr) return;
        if (!value->is_number_integer()) wrongType(key, *value, "a whole number");
        const auto number = value->get<std::int64_t>();
        if (std::find(allowed.begin(), allowed.end(), number) == allowed.end())
            failInput("{}.{} must be one of {}, not {}, in layer {}", m_name, key, fmt::join(allowed, ", "), number, m_layer);
        target = static_cast<int>(number);
    }
    std::optional<std::string> text(std::string_view key) {
        const Json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (!value->is_string()) wrongType(key, *value, "a text");
        return value->get<std::string>();
    }
    [[noreturn]] void wrongType(std::string_view key, const Json& value, std::string_view wanted) const {
        failInput("Type of {}.{} should be {}, not {}, in layer {}", m_name, key, wanted, describeValue(value), m_layer);
    }
    void within(std::string_view key, bool fits, double value, std::string_view range) const {
        if (!fits) failInput("{}.{} must lie in {}, not at {}, in layer {}", m_name, key, range, value, m_layer);
    }
    void finish() const {
        for (const auto& item : m_value.items())
            if (!m_known.contains(item.key())) failInput("Unknown parameter {} in {} of layer {}", item.key(), m_name, m_layer);
    }

  private:
    const Json& m_value;
    std::string m_name;
    const std::string& m_layer;
    std::set<std::string> m_known;
};

AmctActivation readActivation(const Json& value, const std::string& layer) {
    Parameters p(value, "activation_quant_params", layer);
    AmctActivation a;
    p.integerOf("num_bits", a.bits, {4, 8, 16});
    const auto algorithm = p.text("act_algo");
    if (algorithm && *algorithm != "ifmr" && *algorithm != "hfmg")
        failInput("activation_quant_params.act_algo must be ifmr or hfmg, not '{}', in layer {}", *algorithm, layer);
    static constexpr std::string_view kIfmr[] = {"max_percentile", "min_percentile", "search_range", "search_step"};
    std::string ifmrKey;
    for (const std::string_view key : kIfmr)
        if (p.has(key)) ifmrKey = key;
    if (!ifmrKey.empty() && p.has("num_of_bins"))
        failInput("{} belongs to ifmr and num_of_bins to hfmg; they can not appear at the same time, in layer {}", ifmrKey, layer);
    a.hfmg = algorithm ? *algorithm == "hfmg" : p.has("num_of_bins");
    if (a.hfmg && !ifmrKey.empty()) failInput("{} is not a valid parameter of hfmg, in layer {}", ifmrKey, layer);
    if (!a.hfmg && p.has("num_of_bins")) failInput("num_of_bins is not a valid parameter of ifmr, in layer {}", layer);
    if (p.has("asymmetric")) {
        bool asymmetric = false;
        p.boolean("asymmetric", asymmetric);
        a.asymmetric = asymmetric;
    }
    p.number("max_percentile", a.maxPercentile);
    p.within("max_percentile", a.maxPercentile > 0.5 && a.maxPercentile <= 1, a.maxPercentile, "(0.5, 1]");
    p.number("min_percentile", a.minPercentile);
    p.within("min_percentile", a.minPercentile > 0.5 && a.minPercentile <= 1, a.minPercentile, "(0.5, 1]");
    if (const Json* range = p.find("search_range")) {
        if (!range->is_array() || range->size() != 2 || !(*range)[0].is_number() || !(*range)[1].is_number())
            p.wrongType("search_range", *range, "a list of two numbers");
        a.searchRange = {(*range)[0].get<double>(), (*range)[1].get<double>()};
        if (!(a.searchRange[0] > 0 && a.searchRange[0] < a.searchRange[1]))
            failInput("activation_quant_params.search_range must rise from above 0, not from {} to {}, in layer {}", a.searchRange[0],
                      a.searchRange[1], layer);
    }
    p.number("search_step", a.searchStep);
    // AMCT compares decimally: 1.3 - 0.7 holds a step of 0.6.
    if (!(a.searchStep > 0 && a.searchStep <= a.searchRange[1] - a.searchRange[0] + 1e-9))
        failInput("activation_quant_params.search_step must lie in (0, {:.6g}], the width of the search range, not at {}, in layer {}",
                  a.searchRange[1] - a.searchRange[0], a.searchStep, layer);
    p.integerOf("num_of_bins", a.numOfBins, {1024, 2048, 4096, 8192});
    p.finish();
    return a;
}

AmctWeight readWeight(const Json& value, const std::string& layer, const Node& node, const AmctLayer& can) {
    Parameters p(value, "weight_quant_params", layer);
    AmctWeight w;
    w.channelWise = can.perChannel;
    p.integerOf("num_bits", w.bits, {4, 6, 7, 8});
    p.boolean("channel_wise", w.channelWise);
    if (w.channelWise && !can.perChannel) failInput("channel_wise must be False for layer type {}, in layer {}", node.op, layer);
    const std::string algorithm = p.text("wts_algo").value_or("arq_quantize");
    if (algorithm == "arq_quantize") w.algorithm = AmctWeightAlgorithm::Arq;
    else if (algorithm == "ada_quantize") w.algorithm = AmctWeightAlgorithm::Ada;
    else if (algorithm == "nuq_quantize") w.algorithm = AmctWeightAlgorithm::Nuq;
    else failInput("weight_quant_params.wts_algo must be arq_quantize or ada_quantize, not '{}', in layer {}", algorithm, layer);
    const auto only = [&](AmctWeightAlgorithm owner, std::string_view key) {
        if (p.has(key) && w.algorithm != owner) failInput("{} is not a valid parameter of {}, in layer {}", key, algorithm, layer);
        return p.has(key);
    };
    const auto ratio = [&](std::string_view key) {
        double number = 0.5;
        p.number(key, number);
        p.within(key, number > 0 && number < 1, number, "(0, 1)");
    };
    if (only(AmctWeightAlgorithm::Ada, "num_iteration")) {
        double number = 0;
        p.number("num_iteration", number);
        p.within("num_iteration", number >= 0 && number == std::floor(number), number, "the whole numbers from 0");
    }
    if (only(AmctWeightAlgorithm::Ada, "reg_param")) ratio("reg_param");
    if (only(AmctWeightAlgorithm::Ada, "warm_start")) ratio("warm_start");
    if (only(AmctWeightAlgorithm::Ada, "beta_range")) {
        const Json& range = *p.find("beta_range");
        if (!range.is_array() || range.size() != 2 || !range[0].is_number() || !range[1].is_number() ||
            !(range[0].get<double>() > range[1].get<double>() && range[1].get<double>() > 0))
            failInput("weight_quant_params.beta_range must be two falling numbers above 0, in layer {}", layer);
    }
    int ignored = 0;
    if (only(AmctWeightAlgorithm::Nuq, "num_steps")) p.integerOf("num_steps", ignored, {16, 32});
    if (only(AmctWeightAlgorithm::Nuq, "num_of_iteration")) p.integerOf("num_of_iteration", ignored, {0, 1, 2, 3, 4, 5});
    p.finish();
    if ((w.bits == 6 || w.bits == 7) && !can.sixAndSevenBits)
        failInput("weight_quant_params.num_bits {} is for two-dimensional Conv only, in layer {}", w.bits, layer);
    if (w.bits == 4 && !can.fourBits)
        failInput("weight_quant_params.num_bits 4 needs one group and an even number of input channels, in layer {}", layer);
    return w;
}

class DocumentReader {
  public:
    DocumentReader(const Graph& graph, std::string_view text) : m_graph(graph), m_json(parseStrictJson(text)) {}

    AmctDocument read() {
        if (!m_json.is_object()) failInput("an object was expected, not {}", describeValue(m_json));
        checkModel();
        globals();
        for (const auto& item : m_json.items())
            if (!isAmctKey(item.key())) layer(item.key(), item.value());
        const bool any = std::any_of(m_document.layers.begin(), m_document.layers.end(), [](const auto& l) { return l.second.enabled; });
        if (!any && !m_json.contains("tensor_quantize"))
            failInput("No quant enable layer: quant_enable is true in no layer of this model, which AMCT refuses");
        return std::move(m_document);
    }

  private:
    void checkModel() const {
        for (const Node& node : m_graph.nodes()) {
            if (isAmctKey(node.name)) failInput("the layer '{}' has the name of a key of AMCT's own; rename it in the model", node.name);
            if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear" || node.op.starts_with("Ascend"))
                failInput("the model is quantized already ({} '{}'); AMCT's configuration is for a float model", node.op, node.name);
        }
    }

    const Json* global(const char* key, bool fits(const Json&), const char* wanted) const {
        const auto found = m_json.find(key);
        if (found == m_json.end()) return nullptr;
        if (!fits(*found)) failInput("Type of {} should be {}, not {}", key, wanted, describeValue(*found));
        return &*found;
    }
    bool truth(const char* key, bool otherwise) const {
        const Json* value = global(key, [](const Json& v) { return v.is_boolean(); }, "true or false");
        return value == nullptr ? otherwise : value->get<bool>();
    }

    void globals() {
        const auto isInteger = [](const Json& v) { return v.is_number_integer(); };
        if (const Json* version = global("version", isInteger, "a whole number"); version != nullptr && *version != 1)
            failInput("The version must be 1, not {}", describeValue(*version));
        if (const Json* batches = global("batch_num", isInteger, "a whole number")) {
            if (*batches <= 0 || *batches > 1'000'000) failInput("batch_num must be above 0, not {}", describeValue(*batches));
            m_document.batches = batches->get<int>();
        }
        m_document.activationOffset = truth("activation_offset", true);
        m_document.fusion = truth("do_fusion", true);
        for (const char* key : {"joint_quant", "weight_offset"})
            if (truth(key, false)) m_document.left.push_back(fmt::format("{} has no counterpart here", key));
        if (const Json* mode = global("fakequant_precision_mode", [](const Json& v) { return v.is_string(); }, "a text")) {
            if (*mode != "DEFAULT" && *mode != "FORCE_FP16_QUANT")
                failInput("fakequant_precision_mode must be DEFAULT or FORCE_FP16_QUANT, not {}", describeValue(*mode));
            if (*mode != "DEFAULT") m_document.left.emplace_back("fakequant_precision_mode: scales are float32 here");
        }
        skipFusion();
        tensorQuantize();
    }

    void skipFusion() {
        const Json* list = global("skip_fusion_layers", [](const Json& v) { return v.is_array(); }, "a list of names");
        if (list == nullptr) return;
        for (const Json& item : *list) {
            if (!item.is_string()) failInput("skip_fusion_layers should be a list of names, and holds {}", describeValue(item));
            const std::string name = item.get<std::string>();
            if (std::find(m_document.skipFusion.begin(), m_document.skipFusion.end(), name) != m_document.skipFusion.end())
                failInput("skip_fusion_layers names '{}' twice", name);
            const auto node = m_graph.findNode(name);
            if (!node) failInput("skip_fusion_layers: the model has no layer '{}'{}", name, didYouMean(nearLayerNames(m_graph, name)));
            if (m_graph.node(*node).op != "Conv")
                failInput("skip_fusion_layers: '{}' is a {}, and only Conv can be fused", name, m_graph.node(*node).op);
            m_document.skipFusion.push_back(name);
        }
    }

    void tensorQuantize() {
        const Json* list = global("tensor_quantize", [](const Json& v) { return v.is_array(); }, "a list of objects");
        if (list == nullptr) return;
        for (const Json& item : *list) {
            if (!item.is_object() || !item.contains("layer_name") || !item["layer_name"].is_string() || !item.contains("input_index") ||
                !item["input_index"].is_number_integer() || item["input_index"] < 0)
                failInput("an entry of tensor_quantize needs layer_name, a text, and input_index, a whole number from 0");
            const std::string name = item["layer_name"].get<std::string>();
            const auto node = m_graph.findNode(name);
            if (!node) failInput("tensor_quantize: the model has no layer '{}'{}", name, didYouMean(nearLayerNames(m_graph, name)));
            if (const std::string& op = m_graph.node(*node).op; op != "MaxPool" && op != "Add")
                failInput("tensor_quantize takes MaxPool and Add, and '{}' is a {}", name, op);
            if (item.contains("activation_quant_params")) readActivation(item["activation_quant_params"], name);
            m_document.left.push_back(fmt::format("tensor_quantize of '{}': inputs of single layers have no counterpart here", name));
        }
    }

    void layer(const std::string& name, const Json& value) {
        const auto node = m_graph.findNode(name);
        if (!node) {
            if (!value.is_object()) failInput("{} is an invalid layer name or parameter", name);
            m_document.left.push_back(fmt::format("the model has no layer '{}'{}", name, didYouMean(nearLayerNames(m_graph, name))));
            return;
        }
        if (!value.is_object()) failInput("Type of {} should be an object, not {}", name, describeValue(value));
        for (const char* key : {"retrain_enable", "retrain_data_config", "retrain_weight_config"})
            if (value.contains(key))
                failInput("the layer '{}' holds {}: this is a retraining configuration; make one with create_quant_config", name, key);
        const AmctVerdict verdict = amctVerdict(m_graph, m_graph.node(*node));
        if (!verdict.layer) {
            m_document.left.push_back(fmt::format("layer {} does not support quant: {}", name,
                                                  verdict.reason.empty() ? m_graph.node(*node).op + " is no type of AMCT's" : verdict.reason));
            return;
        }
        m_document.layers[name] = entry(*node, name, value, *verdict.layer);
    }

    AmctEntry entry(NodeId id, const std::string& name, const Json& value, const AmctLayer& can) const {
        const Node& node = m_graph.node(id);
        static const Json kNothing = Json::object();
        AmctEntry entry;
        entry.node = id;
        entry.enableGiven = value.contains("quant_enable");
        if (entry.enableGiven) {
            if (!value["quant_enable"].is_boolean())
                failInput("Type of quant_enable should be true or false, not {}, in layer {}", describeValue(value["quant_enable"]), name);
            entry.enabled = value["quant_enable"].get<bool>();
        }
        if (value.contains("dmq_balancer_param")) {
            const Json& strength = value["dmq_balancer_param"];
            if (!strength.is_number()) failInput("Type of dmq_balancer_param should be a number, not {}, in layer {}", describeValue(strength), name);
            if (strength < 0.2 || strength > 0.8) failInput("dmq_balancer_param must lie in [0.2, 0.8], in layer {}", name);
            if (!can.hasWeight) failInput("dmq_balancer_param is not for {}, in layer {}", node.op, name);
            entry.migrates = true;
        }
        for (const auto& item : value.items())
            if (item.key() != "quant_enable" && item.key() != "dmq_balancer_param" && item.key() != "activation_quant_params" &&
                item.key() != "weight_quant_params")
                failInput("Unknown parameter {} in layer {}", item.key(), name);
        entry.activation = readActivation(value.value("activation_quant_params", kNothing), name);
        entry.weight = readWeight(value.value("weight_quant_params", kNothing), name, node, can);
        if (entry.enabled && can.symmetricOnly && entry.activation.asymmetric.value_or(false))
            failInput("current layer {} only support act symmetric quant: its kernel has three dimensions", name);
        const bool wide = node.op == "Gemm" || (node.op.starts_with("Conv") && !can.symmetricOnly);
        if (entry.activation.bits == 16 && !wide)
            failInput("activation_quant_params.num_bits 16 is for Conv and ConvTranspose of one or two dimensions and Gemm only, in layer {}", name);
        return entry;
    }

    const Graph& m_graph;
    Json m_json;
    AmctDocument m_document;
};

}  // namespace

bool isAmctKey(std::string_view name) { return std::find(std::begin(kKeys), std::end(kKeys), name) != std::end(kKeys); }

AmctDocument parseAmct(const Graph& graph, std::string_view text) { return DocumentReader(graph, text).read(); }

}  // namespace quantloupe
