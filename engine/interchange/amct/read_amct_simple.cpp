// SPDX-License-Identifier: Apache-2.0
// Imports AMCT's simplified configuration. Like AMCT, expands it (common_config < override_layer_types <
// override_layer_configs) into a complete entry for each layer, then reads these as config.json.

#include <set>

#include "base/error.h"
#include "base/is_one_of.h"
#include "base/json.h"
#include "base/text.h"
#include "config/calibration_config.h"
#include "config/near_names.h"
#include "config/skip_rules.h"
#include "interchange/amct/amct_layers.h"
#include "interchange/text/proto_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

OrderedJson scalar(const ProtoField& f) {
    if (f.message) failInput("line {}: {} must be a single value", f.line, f.name);
    if (f.quoted) return f.text;
    if (isOneOf(f.text, {"true", "True", "t"})) return true;  // as in protobuf
    if (isOneOf(f.text, {"false", "False", "f"})) return false;
    if (const auto whole = parsed<std::int64_t>(f.text)) return *whole;
    if (const auto number = parsed<double>(f.text)) return *number;
    return f.text;  // a name of an enumeration
}

class Expander {
  public:
    Expander(const ImportSource& source) : m_graph(*source.graph), m_fields(parseProtoText(source.text)) {
        for (ProtoField& f : m_fields) {
            if (f.name == "skip_layers" || f.name == "skip_fusion_layers") f.text = source.layerName(f.text);
            for (ProtoField& inner : f.fields)
                if (inner.name == "layer_name") inner.text = source.layerName(inner.text);
        }
    }

    std::string expand() {
        if (m_fields.empty())
            failInput("the file is empty: expected AMCT's simplified configuration (protobuf text)");
        collect();
        m_json["version"] = 1;
        std::size_t enabled = 0;
        std::vector<std::string> lowered;
        for (const Node& node : m_graph.nodes()) {
            const AmctVerdict verdict = amctVerdict(m_graph, node);
            if (!verdict.layer) continue;
            OrderedJson entry;
            const bool on = !m_skipped.contains(node.name) && !m_skippedTypes.contains(node.op);
            enabled += on;
            entry["quant_enable"] = on;
            const ProtoField* layer = find("override_layer_configs", "layer_name", node.name);
            if (!on && layer == nullptr) {  // without parameters of its own
                m_json[node.name] = std::move(entry);
                continue;
            }
            entry["activation_quant_params"] = OrderedJson::object();
            entry["weight_quant_params"] = OrderedJson::object();
            const ProtoField* type = find("override_layer_types", "layer_type", node.op);
            for (const ProtoField* config : {m_common, type == nullptr ? nullptr : calibrationOf(*type),
                                             layer == nullptr ? nullptr : calibrationOf(*layer)})
                if (config != nullptr) {
                    const bool own = layer != nullptr && config == calibrationOf(*layer);
                    apply(*config, entry, *verdict.layer, own);
                    if (!own && lowerBits(entry, *verdict.layer) && on &&
                        (lowered.empty() || lowered.back() != node.name))
                        lowered.push_back(node.name);
                }
            m_json[node.name] = std::move(entry);
        }
        if (enabled == 0)
            failInput("skip_layers and skip_layer_types leave no layer to quantize, which AMCT rejects");
        if (!lowered.empty())
            left.push_back(
                fmt::format("these layers do not support the number of bits, and get 8, as in AMCT: {}",
                            shortList(lowered)));
        return m_json.dump();
    }

    std::vector<std::string> left;

  private:
    void collect() {
        for (const ProtoField& f : m_fields) {
            if (f.name == "skip_layers")
                skipLayer(f);
            else if (f.name == "skip_layer_types")
                skipType(f);
            else if (f.name == "skip_fusion_layers")
                m_json["skip_fusion_layers"].push_back(scalar(f));
            else if (f.name == "common_config") {
                if (!f.message) failInput("line {}: common_config must be a message", f.line);
                m_common = &f;
            } else if (f.name == "override_layer_types" || f.name == "override_layer_configs")
                checkOverride(f);
            else if (f.name == "batch_num" || f.name == "activation_offset" || f.name == "joint_quant" ||
                     f.name == "do_fusion" || f.name == "fakequant_precision_mode")
                m_json[f.name] = scalar(f);
            else if (f.name == "nuq_config" || f.name == "tensor_quantize" ||
                     f.name == "conv_calibration_config" || f.name == "fc_calibration_config")
                left.push_back(fmt::format("line {}: {} has no counterpart here", f.line, f.name));
            else
                failInput(
                    "line {}: unknown field {}{}", f.line, f.name,
                    didYouMean(nearNames({"skip_layers", "skip_layer_types", "skip_fusion_layers",
                                          "common_config", "override_layer_types", "override_layer_configs",
                                          "batch_num", "activation_offset", "joint_quant", "do_fusion"},
                                         f.name, 2)));
        }
    }

    void skipLayer(const ProtoField& f) {
        const auto node = m_graph.findNode(f.text);
        if (!node)
            throw unknownLayer(m_graph, f.text).addContext(fmt::format("line {}: skip_layers", f.line));
        if (!amctVerdict(m_graph, m_graph.node(*node)).layer)
            failInput("line {}: skip_layers: '{}' is a {} that AMCT does not quantize", f.line, f.text,
                      m_graph.node(*node).op);
        if (!m_skipped.insert(f.text).second)
            failInput("line {}: skip_layers names '{}' twice", f.line, f.text);
    }

    void skipType(const ProtoField& f) {
        static const std::set<std::string> kTypes = {"Conv", "ConvTranspose", "Gemm", "MatMul",
                                                     "AveragePool"};
        if (!kTypes.contains(f.text))
            failInput("line {}: skip_layer_types: AMCT does not quantize {}; available: {}", f.line, f.text,
                      fmt::join(kTypes, ", "));
        if (!m_skippedTypes.insert(f.text).second)
            failInput("line {}: skip_layer_types names {} twice", f.line, f.text);
    }

    void checkOverride(const ProtoField& f) const {
        const bool byType = f.name == "override_layer_types";
        const char* key = byType ? "layer_type" : "layer_name";
        const ProtoField* name = nullptr;
        for (const ProtoField& inner : f.fields)
            if (inner.name == key) name = &inner;
        if (name == nullptr) failInput("line {}: {} needs {}", f.line, f.name, key);
        if (calibrationOf(f) == nullptr) failInput("line {}: {} needs a calibration_config", f.line, f.name);
        if (!byType && !m_graph.findNode(name->text))
            throw unknownLayer(m_graph, name->text).addContext(fmt::format("line {}", name->line));
    }

    static const ProtoField* calibrationOf(const ProtoField& f) {
        for (const ProtoField& inner : f.fields)
            if (inner.name == "calibration_config" && inner.message) return &inner;
        return nullptr;
    }

    const ProtoField* find(const char* list, const char* key, const std::string& value) const {
        const ProtoField* found = nullptr;
        for (const ProtoField& f : m_fields)
            if (f.name == list)
                for (const ProtoField& inner : f.fields)
                    if (inner.name == key && inner.text == value) found = &f;
        return found;
    }

    /// `own`: settings for this layer alone. Other settings are dropped if the layer does not support them,
    /// as in AMCT.
    void apply(const ProtoField& config, OrderedJson& entry, const AmctLayer& can, bool own) {
        OrderedJson& activation = entry["activation_quant_params"];
        OrderedJson& weight = entry["weight_quant_params"];
        for (const ProtoField& block : config.fields) {
            if (block.name == "ifmr_quantize" || block.name == "hfmg_quantize") {
                // Parameters of another algorithm are not inherited, including asymmetric.
                const std::string algorithm = block.name.substr(0, 4);
                if (activation.value("act_algo", algorithm) != algorithm) activation = OrderedJson::object();
                activation["act_algo"] = algorithm;
                for (const ProtoField& f : block.fields) {
                    if (f.name == "search_range_start" || f.name == "search_range_end") {
                        if (!activation.contains("search_range"))
                            activation["search_range"] = kDefaultIfmrRange;
                        activation["search_range"][f.name.ends_with("end") ? 1 : 0] = scalar(f);
                    } else if (f.name == "dst_type") {
                        if (f.text != "INT4" && f.text != "INT8" && f.text != "INT16")
                            failInput("line {}: dst_type must be INT4, INT8 or INT16, not {}", f.line,
                                      f.text);
                        activation["num_bits"] = std::stoi(f.text.substr(3));
                    } else if (f.name == "asymmetric") {
                        const bool enabled = scalar(f) == true;
                        activation[f.name] = enabled && (own || !can.symmetricOnly);
                    } else {
                        activation[f.name] = scalar(f);
                    }
                }
            } else if (block.name == "arq_quantize" || block.name == "ada_quantize" ||
                       block.name == "nuq_quantize") {
                weight = {{"wts_algo", block.name}};
                if (!can.hasWeight) weight = OrderedJson::object();
                for (const ProtoField& f : block.fields) {
                    if (!can.hasWeight) continue;
                    OrderedJson value = scalar(f);
                    if (f.name == "channel_wise" && !own && !can.perChannel) value = false;
                    weight[f.name == "quant_bits" ? "num_bits" : f.name] = value;
                }
            } else if (block.name == "dmq_balancer") {
                for (const ProtoField& f : block.fields)
                    if (f.name == "migration_strength" && can.hasWeight)
                        entry["dmq_balancer_param"] = scalar(f);
            } else {
                failInput("line {}: unknown field {} in a calibration_config", block.line, block.name);
            }
        }
    }

    /// Changes widths that a layer does not support to 8, as AMCT does. Returns whether there was one.
    static bool lowerBits(OrderedJson& entry, const AmctLayer& can) {
        const auto lower = [&](const char* parameters, const auto& unsupported) {
            const auto bits = entry[parameters].find("num_bits");
            if (bits == entry[parameters].end() || !unsupported(*bits)) return false;
            *bits = 8;
            return true;
        };
        const bool activation = lower("activation_quant_params", [&](const OrderedJson& bits) {
            return bits == 16 && !can.sixteenBits;
        });
        const bool weight = lower("weight_quant_params", [&](const OrderedJson& bits) {
            return (bits == 4 && !can.fourBits) || ((bits == 6 || bits == 7) && !can.sixAndSevenBits);
        });
        return activation || weight;
    }

    const Graph& m_graph;
    std::vector<ProtoField> m_fields;
    OrderedJson m_json;
    std::set<std::string> m_skipped, m_skippedTypes;
    const ProtoField* m_common = nullptr;
};

}  // namespace

ImportResult readAmctSimple(const ImportSource& source) {
    Expander expander(source);
    ImportSource full = source;
    full.text = expander.expand();
    full.renamed.clear();
    ImportResult result = readAmct(full);
    result.left.insert(result.left.begin(), expander.left.begin(), expander.left.end());
    return result;
}

}  // namespace quantloupe
