// SPDX-License-Identifier: Apache-2.0
// CLIKA ACE 24.x: Python settings with the skip rules, and the same settings as YAML.
//
// CLIKA has calls for single layers, skip-until and downstream rules, and a switch for the tail. Other kinds
// of rules are written as the layers that they cover. A threshold on the absolute L2 difference becomes
// CLIKA's automatic_skip_quantization. Layers have CLIKA's names with the ONNX name next to each; a table
// lists both names of all layers.

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "interchange/clika/clika_names.h"
#include "interchange/text/python_text.h"
#include "interchange/wording.h"
#include "interchange/writers.h"

namespace quantloupe {
namespace {

/// The bits that CLIKA has.
constexpr int kActivationBits = 8;
constexpr int writtenWeightBits(int bits) { return bits > 4 ? 8 : 4; }

struct LayerEntry : ClikaLayer {
    NodeId node;
};

class Writer {
  public:
    explicit Writer(const ExportSource& source)
        : m_source(source),
          m_graph(*source.prepared->source),
          m_names(m_graph),
          m_skips(resolveSkips(m_graph, source.config)) {}

    ExportResult write() {
        for (std::size_t i = 0; i < m_source.config.rules.size(); ++i) addRule(i);
        for (const auto& [name, own] : m_source.config.layers) addLayer(name, own);
        notices();
        ExportResult result;
        result.files.push_back({"", python(), nullptr, false});
        result.files.push_back({".yaml", yaml(), nullptr, false});
        result.files.push_back({".layers.txt", clikaLayerTable(m_graph), nullptr, false});
        result.notices = std::move(m_notices);
        return result;
    }

  private:
    /// True for rules that CLIKA's automatic_skip_quantization expresses: layers above an absolute L2
    /// difference.
    static bool isAutomaticSkip(const SkipRule& rule) {
        return rule.kind == SkipKind::Threshold && rule.metric == SkipMetric::LocalAbsoluteL2 && !rule.below;
    }

    LayerEntry& entry(const std::string& name) {
        const NodeId node = *m_graph.findNode(name);
        const auto found = std::find_if(m_entries.begin(), m_entries.end(),
                                        [&](const LayerEntry& e) { return e.node == node; });
        if (found != m_entries.end()) return *found;
        m_entries.push_back({{}, node});
        return m_entries.back();
    }

    /// In CLIKA, a rule is part of the settings of the layer where it begins. It has no effect if this layer
    /// is quantized by its own setting; returns true then, and notes that its layers are listed instead.
    bool mustBeListed(std::size_t i) {
        const SkipRule& rule = m_source.config.rules[i];
        const LayerSettings* const own = m_source.config.settingsOf(rule.from);
        if (own == nullptr || !own->quantize.value_or(false)) return false;
        m_listed.insert(i);
        m_notices.push_back(fmt::format(
            "the rule that begins at '{}' is written as a list of layers, because this layer itself is "
            "quantized",
            rule.from));
        return true;
    }

    void addRule(std::size_t i) {
        const SkipRule& rule = m_source.config.rules[i];
        switch (rule.kind) {
            case SkipKind::Node:
                for (const std::string& name : rule.layers) entry(name).skip = true;
                return;
            case SkipKind::Until: {
                if (mustBeListed(i)) break;
                LayerEntry& from = entry(rule.from);
                from.skip = true;
                for (const std::string& name : rule.to) {
                    const std::string& to = m_names.of(*m_graph.findNode(name));
                    if (std::find(from.until.begin(), from.until.end(), to) == from.until.end())
                        from.until.push_back(to);
                }
                return;
            }
            case SkipKind::Downstream:
                if (mustBeListed(i)) break;
                entry(rule.from).skip = true;
                entry(rule.from).downstream = true;
                return;
            case SkipKind::Threshold:
                // The lowest of several limits covers the others.
                if (isAutomaticSkip(rule)) {
                    m_sensitivity = std::min(m_sensitivity.value_or(rule.threshold), rule.threshold);
                    return;
                }
                break;
            default:
                break;
        }
        for (const LayerResult& layer : m_source.layers)
            if (layer.state == LayerState::Skipped && m_skips.covered[i][layer.node.index()])
                entry(layer.name).skip = true;
    }

    void addLayer(const std::string& name, const LayerSettings& own) {
        if (!m_graph.findNode(name)) return;
        if (own.quantize) {
            if (*own.quantize && covered(name))
                m_notices.push_back(
                    fmt::format("'{}' is quantized here although a rule skips it; CLIKA does not document "
                                "whether a layer's own setting overrides the rule of another layer",
                                name));
            entry(name).skip = !*own.quantize;
        }
        if (own.weightBits) entry(name).weightBits = writtenWeightBits(*own.weightBits);
        if (own.activationBits) entry(name).activationBits = kActivationBits;
        const bool odd = (own.weightBits && *own.weightBits != 8 && *own.weightBits != 4) ||
                         (own.activationBits && *own.activationBits != 8);
        if (odd && (!own.precision || own.precision->isInteger()))
            m_notices.push_back(
                fmt::format("CLIKA documents 8 or 4 bits for weights and 8 for activations: '{}' has {} and "
                            "is written with {} and {} bits",
                            name, precisionName(precisionOf(m_source.config, name)),
                            writtenWeightBits(own.weightBits.value_or(8)), kActivationBits));
    }

    /// Whether the layer is covered by a rule that is written as a rule, not as a list of layers.
    bool covered(const std::string& name) const {
        const NodeId node = *m_graph.findNode(name);
        for (std::size_t i = 0; i < m_skips.covered.size(); ++i)
            if (m_skips.covered[i][node.index()] && !m_listed.contains(i)) return true;
        return false;
    }

    void notices() {
        ExportSource others = m_source;
        std::erase_if(others.config.rules, isAutomaticSkip);  // expressed directly
        for (std::string& text :
             ruleNotices(others, "CLIKA", {SkipKind::Node, SkipKind::Until, SkipKind::Downstream}, true))
            m_notices.push_back(std::move(text));
        if (m_sensitivity)
            m_notices.push_back(
                fmt::format("automatic_skip_quantization skips layers above {:g} by CLIKA's own metric, "
                            "which grows with the number of samples, so it can skip other layers than the "
                            "preview",
                            *m_sensitivity));
        append(m_notices, previewNotices(m_source, "CLIKA"));
        m_notices.push_back(
            "CLIKA numbers layers by type in its own order (conv, conv_1, ...): compare the names with its "
            "model_init.svg; the exported files show the ONNX name next to each");
        const QuantizationOptions& q = m_source.config.quantization;
        if (q.weight.bits != 8 && q.weight.bits != 4)
            m_notices.push_back(fmt::format("CLIKA's weights have 8 or 4 bits, not {}: {} is written",
                                            q.weight.bits, writtenWeightBits(q.weight.bits)));
        if (q.activation.bits != kActivationBits)
            m_notices.push_back(
                fmt::format("CLIKA's activations have 8 bits, not {}: 8 is written", q.activation.bits));
        m_notices.emplace_back("CLIKA chooses the calibration method, symmetry and granularity itself");
        append(m_notices, missingTransformNotices(m_source.config, "CLIKA"));
    }

    std::string describeNode(NodeId node) const {
        std::string text = m_graph.node(node).name;
        for (char& c : text)
            if (static_cast<unsigned char>(c) < 0x20) c = ' ';
        return m_graph.node(node).op + " " + text;
    }

    std::string python() const {
        const QuantizationOptions& q = m_source.config.quantization;
        std::string text = fmt::format(
            R"("""Settings for CLIKA ACE 24.x, tuned for {} in Quantloupe. Import `settings` from this file."""
from clika_compression import LayerQuantizationSettings, Settings

settings = Settings()
settings.global_quantization_settings.weights_num_bits = {}
settings.global_quantization_settings.activations_num_bits = {}
settings.global_quantization_settings.skip_tail_quantization = {}
settings.global_quantization_settings.automatic_skip_quantization = {}
)",
            inDocstring(m_source.model.filename().string()), writtenWeightBits(q.weight.bits),
            kActivationBits, pythonBool(skipsTail()), pythonBool(m_sensitivity.has_value()));
        if (m_sensitivity)
            text +=
                fmt::format("settings.global_quantization_settings.quantization_sensitivity_threshold = {}\n",
                            pythonFloat(*m_sensitivity));
        for (const LayerEntry& e : m_entries) {
            std::vector<std::string> arguments;
            if (e.skip) arguments.push_back(fmt::format("skip_quantization={}", pythonBool(*e.skip)));
            if (!e.until.empty()) {
                std::vector<std::string> names;
                for (const std::string& name : e.until) names.push_back(pythonString(name));
                arguments.push_back(fmt::format("skip_quantization_until=[{}]", fmt::join(names, ", ")));
            }
            if (e.downstream) arguments.emplace_back("skip_quantization_downstream=True");
            if (e.weightBits) arguments.push_back(fmt::format("weights_num_bits={}", *e.weightBits));
            if (e.activationBits)
                arguments.push_back(fmt::format("activations_num_bits={}", *e.activationBits));
            text += fmt::format(
                "\n# {}\nsettings.set_quantization_settings_for_layer(\n    {},\n    "
                "LayerQuantizationSettings({}),\n)\n",
                describeNode(e.node), pythonString(m_names.of(e.node)), fmt::join(arguments, ", "));
        }
        return text;
    }

    /// CLIKA has no limit for the tail: if the preview does not skip the tail, CLIKA must not skip it either.
    bool skipsTail() const { return m_source.config.skipTail && m_skips.tailNotice.empty(); }

    std::string yaml() const {
        const QuantizationOptions& q = m_source.config.quantization;
        std::string text =
            fmt::format(R"(# Settings for CLIKA ACE 24.x, tuned in Quantloupe.
global_quantization_settings:
  method: qat
  weights_num_bits: {}
  activations_num_bits: {}
  skip_tail_quantization: {}
  automatic_skip_quantization: {}
  quantization_sensitivity_threshold: {}
)",
                        writtenWeightBits(q.weight.bits), kActivationBits, skipsTail(),
                        m_sensitivity.has_value(), m_sensitivity ? pythonFloat(*m_sensitivity) : "null");
        text += m_entries.empty() ? "layer_settings: {}\n" : "layer_settings:\n";
        for (const LayerEntry& e : m_entries) {
            text += fmt::format("  # {}\n  {}:\n    quantization_settings:\n", describeNode(e.node),
                                jsonQuoted(m_names.of(e.node)));
            if (e.skip) text += fmt::format("      skip_quantization: {}\n", *e.skip);
            if (!e.until.empty()) {
                text += "      skip_quantization_until:\n";
                for (const std::string& name : e.until) text += "        - " + jsonQuoted(name) + "\n";
            }
            if (e.downstream) text += "      skip_quantization_downstream: true\n";
            if (e.weightBits) text += fmt::format("      weights_num_bits: {}\n", *e.weightBits);
            if (e.activationBits) text += fmt::format("      activations_num_bits: {}\n", *e.activationBits);
        }
        return text;
    }

    const ExportSource& m_source;
    const Graph& m_graph;
    ClikaNames m_names;
    SkipDecisions m_skips;
    std::set<std::size_t> m_listed;       ///< rules that are written as lists of layers
    std::optional<double> m_sensitivity;  ///< quantization_sensitivity_threshold
    std::vector<LayerEntry> m_entries;
    std::vector<std::string> m_notices;
};

}  // namespace

ExportResult writeClika(const ExportSource& source) { return Writer(source).write(); }

}  // namespace quantloupe
