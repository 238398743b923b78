// SPDX-License-Identifier: Apache-2.0
#include "interchange/amct/amct_document.h"

#include <algorithm>
#include <cmath>

#include "config/near_names.h"
#include "config/object_reader.h"
#include "config/skip_rules.h"
#include "interchange/amct/amct_layers.h"
#include "interchange/amct/amct_parameters.h"
#include "interchange/wording.h"

namespace quantloupe {
namespace {

constexpr std::string_view kAmctKeys[] = {
    "version",   "batch_num",          "activation_offset",        "joint_quant",    "weight_offset",
    "do_fusion", "skip_fusion_layers", "fakequant_precision_mode", "tensor_quantize"};

class DocumentReader {
  public:
    explicit DocumentReader(const ImportSource& source)
        : m_source(source), m_graph(*source.graph), m_json(parseStrictJson(source.text)) {}

    AmctDocument read() {
        if (!m_json.is_object()) failInput("an object was expected, not {}", describeValue(m_json));
        checkModel();
        for (const auto& item : m_json.items())
            if (!isAmctKey(item.key())) layer(item.key(), item.value());
        refuseAnotherModel();
        globals();
        noteLearning();
        const bool any = std::any_of(m_document.layers.begin(), m_document.layers.end(),
                                     [](const auto& l) { return l.second.enabled; });
        if (!any && !m_json.contains("tensor_quantize"))
            failInput(
                "No quant enable layer: no layer of this model has quant_enable true, and AMCT rejects such "
                "a configuration");
        return std::move(m_document);
    }

  private:
    void checkModel() const {
        for (const Node& node : m_graph.nodes()) {
            if (isAmctKey(node.name))
                failInput(
                    "the layer '{}' has the same name as a key of AMCT's configuration; rename it in the "
                    "model",
                    node.name);
            if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear" || node.op.starts_with("Ascend"))
                failInput(
                    "the model is quantized already ({} '{}'); AMCT's configuration is for a float model",
                    node.op, node.name);
        }
    }

    void refuseAnotherModel() const {
        const std::vector<UnknownName>& missing = m_document.missing;
        if (missing.empty() || !m_document.layers.empty() || missing.size() < m_entries) return;
        std::vector<std::string> names;
        for (const UnknownName& layer : missing)
            names.push_back(fmt::format("'{}'{}", layer.name, didYouMean(layer.similar)));
        throw Error(ErrorKind::BadInput,
                    fmt::format("none of its {} layers is in the model: {}. Open the model that the "
                                "configuration was made for, or choose the matching layers",
                                missing.size(), shortList(names)))
            .setUnknownName(missing.front());
    }

    void noteLearning() {
        if (!m_learning.empty())
            m_document.left.push_back(
                fmt::format("num_iteration, reg_param, beta_range and warm_start of ada_quantize have no "
                            "counterpart here: {}",
                            shortList(m_learning)));
    }

    const Json* global(const char* key, bool fits(const Json&), const char* expectedType) const {
        const auto found = m_json.find(key);
        if (found == m_json.end()) return nullptr;
        if (!fits(*found))
            failInput("Type of {} should be {}, not {}", key, expectedType, describeValue(*found));
        return &*found;
    }
    bool truth(const char* key, bool otherwise) const {
        const Json* value = global(
            key, [](const Json& v) { return v.is_boolean(); }, "true or false");
        return value == nullptr ? otherwise : value->get<bool>();
    }

    void globals() {
        const auto isInteger = [](const Json& v) { return v.is_number_integer(); };
        if (const Json* version = global("version", isInteger, "a whole number");
            version != nullptr && *version != 1)
            failInput("The version must be 1, not {}", describeValue(*version));
        if (const Json* batches = global("batch_num", isInteger, "a whole number")) {
            if (*batches <= 0 || *batches > 1'000'000)
                failInput("batch_num must be from 1 to 1000000, not {}", describeValue(*batches));
            m_document.batches = batches->get<int>();
        }
        m_document.activationOffset = truth("activation_offset", true);
        m_document.fusion = truth("do_fusion", true);
        for (const char* key : {"joint_quant", "weight_offset"})
            if (truth(key, false)) m_document.left.push_back(fmt::format("{} has no counterpart here", key));
        if (const Json* mode = global(
                "fakequant_precision_mode", [](const Json& v) { return v.is_string(); }, "a string")) {
            if (*mode != "DEFAULT" && *mode != "FORCE_FP16_QUANT")
                failInput("fakequant_precision_mode must be DEFAULT or FORCE_FP16_QUANT, not {}",
                          describeValue(*mode));
            if (*mode != "DEFAULT")
                m_document.left.emplace_back("fakequant_precision_mode: scales are float32 here");
        }
        skipFusion();
        tensorQuantize();
    }

    void skipFusion() {
        const Json* list = global(
            "skip_fusion_layers", [](const Json& v) { return v.is_array(); }, "a list of names");
        if (list == nullptr) return;
        for (const Json& item : *list) {
            if (!item.is_string())
                failInput("skip_fusion_layers should be a list of names, but contains {}",
                          describeValue(item));
            const std::string name = m_source.layerName(item.get<std::string>());
            if (std::find(m_document.skipFusion.begin(), m_document.skipFusion.end(), name) !=
                m_document.skipFusion.end())
                failInput("skip_fusion_layers names '{}' twice", name);
            const auto node = m_graph.findNode(name);
            if (!node) throw unknownLayer(m_graph, name).addContext("skip_fusion_layers");
            if (m_graph.node(*node).op != "Conv")
                failInput("skip_fusion_layers: '{}' is a {}, but only Conv can be fused", name,
                          m_graph.node(*node).op);
            m_document.skipFusion.push_back(name);
        }
    }

    void tensorQuantize() {
        const Json* list = global(
            "tensor_quantize", [](const Json& v) { return v.is_array(); }, "a list of objects");
        if (list == nullptr) return;
        for (const Json& item : *list) {
            if (!item.is_object() || !item.contains("layer_name") || !item["layer_name"].is_string() ||
                !item.contains("input_index") || !item["input_index"].is_number_integer() ||
                item["input_index"] < 0)
                failInput(
                    "an entry of tensor_quantize needs layer_name, a string, and input_index, a whole number "
                    "of at least 0");
            const std::string name = m_source.layerName(item["layer_name"].get<std::string>());
            const auto node = m_graph.findNode(name);
            if (!node) throw unknownLayer(m_graph, name).addContext("tensor_quantize");
            if (const std::string& op = m_graph.node(*node).op; op != "MaxPool" && op != "Add")
                failInput("tensor_quantize supports only MaxPool and Add, but '{}' is a {}", name, op);
            if (item.contains("activation_quant_params"))
                readAmctActivation(item["activation_quant_params"], name);
            m_document.left.push_back(fmt::format(
                "tensor_quantize of '{}': settings for the inputs of single layers have no counterpart here",
                name));
        }
    }

    void layer(const std::string& given, const Json& value) {
        const std::string& name = m_source.layerName(given);
        const auto node = m_graph.findNode(name);
        ++m_entries;
        if (!node) {
            if (!value.is_object()) failInput("{} is an invalid layer name or parameter", name);
            m_document.missing.push_back({name, nearLayerNames(m_graph, name)});
            return;
        }
        if (!value.is_object())
            failInput("Type of {} should be an object, not {}", name, describeValue(value));
        for (const char* key : {"retrain_enable", "retrain_data_config", "retrain_weight_config"})
            if (value.contains(key))
                failInput(
                    "the layer '{}' contains {}: this is a retraining configuration; create one for "
                    "post-training quantization with create_quant_config",
                    name, key);
        const AmctVerdict verdict = amctVerdict(m_graph, m_graph.node(*node));
        if (!verdict.layer) {
            m_document.left.push_back(
                fmt::format("layer {} does not support quant: {}", name,
                            verdict.reason.empty() ? m_graph.node(*node).op + " is not a layer type of AMCT"
                                                   : verdict.reason));
            return;
        }
        if (!m_document.layers.try_emplace(name, entry(*node, name, value, *verdict.layer)).second)
            failInput("the layer '{}' occurs twice", name);
    }

    AmctEntry entry(NodeId id, const std::string& name, const Json& value, const AmctLayer& can) {
        const Node& node = m_graph.node(id);
        static const Json kNothing = Json::object();
        AmctEntry entry;
        entry.node = id;
        entry.enableGiven = value.contains("quant_enable");
        if (entry.enableGiven) {
            if (!value["quant_enable"].is_boolean())
                failInput("Type of quant_enable should be true or false, not {}, in layer {}",
                          describeValue(value["quant_enable"]), name);
            entry.enabled = value["quant_enable"].get<bool>();
        }
        if (value.contains("dmq_balancer_param")) {
            const Json& strength = value["dmq_balancer_param"];
            if (!strength.is_number())
                failInput("Type of dmq_balancer_param should be a number, not {}, in layer {}",
                          describeValue(strength), name);
            if (strength < 0.2 || strength > 0.8)
                failInput("dmq_balancer_param must be in [0.2, 0.8], in layer {}", name);
            if (!can.hasWeight)
                failInput("dmq_balancer_param is not supported for {}, in layer {}", node.op, name);
            entry.migrates = true;
        }
        for (const auto& item : value.items())
            if (item.key() != "quant_enable" && item.key() != "dmq_balancer_param" &&
                item.key() != "activation_quant_params" && item.key() != "weight_quant_params")
                failInput("Unknown parameter {} in layer {}", item.key(), name);
        entry.activationGiven = value.contains("activation_quant_params");
        entry.weightGiven = value.contains("weight_quant_params");
        entry.activation = readAmctActivation(value.value("activation_quant_params", kNothing), name);
        const Json weight = value.value("weight_quant_params", kNothing);
        entry.weight = readAmctWeight(weight, name, node, can);
        for (const char* key : {"num_iteration", "reg_param", "beta_range", "warm_start"})
            if (weight.contains(key) && (m_learning.empty() || m_learning.back() != name))
                m_learning.push_back(name);
        if (entry.enabled) checkValues(node, name);
        if (entry.enabled && can.symmetricOnly && entry.activation.asymmetric.value_or(false))
            failInput("current layer {} only support act symmetric quant: its kernel has three dimensions",
                      name);
        if (entry.activation.bits == 16 && !can.sixteenBits)
            failInput(
                "activation_quant_params.num_bits 16 is supported only for Conv and ConvTranspose of one or "
                "two dimensions and Gemm, in layer {}",
                name);
        return entry;
    }

    /// AMCT rejects such constants during calibration; here they are checked on import. AMCT's checks of
    /// activations, of biases in the scale of their sums and of migration factors need its calibration and
    /// are not repeated here.
    void checkValues(const Node& node, const std::string& name) const {
        for (std::size_t i = 1; i < node.inputs.size(); ++i) {
            const Constant* constant = m_graph.constantOf(node.input(i));
            if (constant == nullptr) continue;
            const std::string& tensor = m_graph.tensor(node.input(i)).name;
            if (constant->type() != DataType::Float32 && constant->type() != DataType::Float16) {
                if (i == 1)
                    failInput("'{}' is of type {}: AMCT quantizes float16 and float32, in layer {}", tensor,
                              dataTypeName(constant->type()), name);
                continue;
            }
            double largest = 0;
            for (const double value : constant->toDoubles()) {
                if (!std::isfinite(value))
                    failInput("'{}' contains {}, so that it has no valid scale, in layer {}", tensor, value,
                              name);
                largest = std::max(largest, std::abs(value));
            }
            // The 8-bit scale and its reciprocal are float32.
            if (i == 1 && largest > 0 && !std::isfinite(1.0F / static_cast<float>(largest / 127)))
                failInput(
                    "'{}' is so small (largest magnitude {:g}) that its scale has no reciprocal, in layer {}",
                    tensor, largest, name);
        }
    }

    const ImportSource& m_source;
    const Graph& m_graph;
    Json m_json;
    AmctDocument m_document;
    std::size_t m_entries = 0;
    std::vector<std::string> m_learning;  ///< layers with parameters of ada_quantize
};

}  // namespace

bool isAmctKey(std::string_view name) {
    return std::find(std::begin(kAmctKeys), std::end(kAmctKeys), name) != std::end(kAmctKeys);
}

AmctDocument parseAmct(const ImportSource& source) { return DocumentReader(source).read(); }

}  // namespace quantloupe
