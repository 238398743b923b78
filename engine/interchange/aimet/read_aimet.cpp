// SPDX-License-Identifier: Apache-2.0
// Imports AIMET's encodings in any of the three formats: bit widths, symmetry, granularity, and the layers
// without an entry, which stay in float. A configuration contains no scales: calibration finds them again,
// which the import reports.

#include <algorithm>
#include <map>
#include <set>

#include "config/config_choices.h"
#include "config/object_reader.h"
#include "config/presets.h"
#include "config/skip_rules.h"
#include "interchange/wording.h"
#include "interchange/writers.h"
#include "quantize/units.h"

namespace quantloupe {
namespace {

struct EncodingEntry {
    int bits = 8;
    bool symmetric = false, perChannel = false, isSigned = true;
    bool centered = false;  ///< unsigned with the zero point in the middle: probably symmetric
};

/// Returns the most frequent value.
template <typename Value>
Value mostCommon(const std::map<Value, std::size_t>& counts, Value otherwise) {
    std::size_t most = 0;
    for (const auto& [value, count] : counts)
        if (count > most) {
            most = count;
            otherwise = value;
        }
    return otherwise;
}

class AimetReader {
  public:
    explicit AimetReader(const ImportSource& source)
        : m_source(source),
          m_json(parseStrictJson(source.text)),
          m_prepared(prepare(source.graph, source.start.transforms)) {
        m_result.config = source.start;
        m_prepared.operators = OperatorSet::Aimet;
    }

    ImportResult read() {
        if (!m_json.is_object() || !m_json.contains("version") || !m_json["version"].is_string())
            failInput("the key version is missing: expected AIMET's encodings ('0.6.1', '1.0.0' or '2.0.0')");
        const std::string version = m_json["version"].get<std::string>();
        if (version == "0.6.1" || version == "0.5.1")
            readOld();
        else if (version == "1.0.0")
            readCurrent();
        else if (version == "2.0.0")
            readFlat();
        else
            failInput("version: '{}' is not a supported AIMET format; available: 0.6.1, 1.0.0, 2.0.0",
                      version);
        schemes();
        calibration();
        skips();
        m_result.left.emplace_back(
            "scales are not imported: a configuration contains the calibration method, and calibration finds "
            "them again");
        return std::move(m_result);
    }

  private:
    int bits(const Json& object, const char* key, const std::string& path) {
        if (!object.contains(key) || !object[key].is_number_integer() || object[key].get<int>() < 2 ||
            object[key].get<int>() > 32)
            failInput("{}.{}: must be a whole number from 2 to 32", path, key);
        return object[key].get<int>();
    }

    const Json& section(const char* key, Json::value_t type, const char* expectedType) {
        if (!m_json.contains(key)) failInput("the key {} is missing", key);
        if (m_json[key].type() != type)
            failInput("{}: must be {}, not {}", key, expectedType, describeValue(m_json[key]));
        return m_json[key];
    }

    static bool isTrue(const Json& value) {
        return (value.is_boolean() && value.get<bool>()) ||
               (value.is_string() && value.get<std::string>() == "True");
    }

    void readOld() {
        for (const bool parameter : {false, true}) {
            const char* key = parameter ? "param_encodings" : "activation_encodings";
            for (const auto& item : section(key, Json::value_t::object, "an object of tensors").items()) {
                const std::string path = fmt::format("{}['{}']", key, item.key());
                if (!item.value().is_array() || item.value().empty() || !item.value()[0].is_object())
                    failInput("{}: must be a list of encodings", path);
                const Json& first = item.value()[0];
                if (first.contains("dtype") && first["dtype"] == "float") continue;
                EncodingEntry entry;
                entry.bits = bits(first, "bitwidth", path);
                entry.symmetric = first.contains("is_symmetric") && isTrue(first["is_symmetric"]);
                entry.perChannel = item.value().size() > 1;
                add(parameter, item.key(), entry);
            }
        }
    }

    std::string nameOf(const Json& object, const std::string& path) {
        if (!object.is_object()) failInput("{}: must be an object, not {}", path, describeValue(object));
        if (!object.contains("name") || !object["name"].is_string())
            failInput("{}.name: is missing or not a string", path);
        return object["name"].get<std::string>();
    }

    void readCurrent() {
        for (const bool parameter : {false, true}) {
            const char* key = parameter ? "param_encodings" : "activation_encodings";
            const Json& list = section(key, Json::value_t::array, "a list of encodings");
            for (std::size_t i = 0; i < list.size(); ++i) {
                const std::string path = fmt::format("{}[{}]", key, i);
                const std::string name = nameOf(list[i], path);
                if (list[i].contains("dtype") && list[i]["dtype"] == "FLOAT") continue;
                EncodingEntry entry;
                entry.bits = bits(list[i], "bw", path);
                entry.symmetric = list[i].contains("is_sym") && isTrue(list[i]["is_sym"]);
                const std::string kind = list[i].contains("enc_type") && list[i]["enc_type"].is_string()
                                             ? list[i]["enc_type"].get<std::string>()
                                             : std::string("PER_TENSOR");
                if (kind != "PER_TENSOR" && kind != "PER_CHANNEL")
                    m_result.left.push_back(fmt::format(
                        "{}: {} has no counterpart here; '{}' is imported as per channel", path, kind, name));
                entry.perChannel = kind != "PER_TENSOR";
                add(parameter, name, entry);
            }
        }
    }

    void readFlat() {
        const Json& list = section("encodings", Json::value_t::array, "a list of encodings");
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string path = fmt::format("encodings[{}]", i);
            const std::string name = nameOf(list[i], path);
            if (!list[i].contains("output_dtype") || !list[i]["output_dtype"].is_string())
                failInput("{}.output_dtype: is missing or not a string", path);
            const std::string type = list[i]["output_dtype"].get<std::string>();
            EncodingEntry entry;
            entry.isSigned = !type.starts_with('u');
            const std::string digits =
                type.substr(entry.isSigned ? 3 : std::min<std::size_t>(4, type.size()));
            if (!type.starts_with(entry.isSigned ? "int" : "uint") || digits.empty() || digits.size() > 2 ||
                !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
                m_result.left.push_back(fmt::format(
                    "{}.output_dtype: '{}' is not an integer type; '{}' stays in float", path, type, name));
                continue;
            }
            entry.bits = std::stoi(digits);
            entry.perChannel = list[i].contains("y_scale") && list[i]["y_scale"].is_array();
            entry.symmetric = entry.isSigned && !list[i].contains("y_zero_point");
            entry.centered = !entry.isSigned && entry.bits <= 16 &&
                             list[i].value("y_zero_point", Json()) == (1 << (entry.bits - 1));
            add(isParameter(name).value_or(entry.isSigned), name, entry);
        }
        // An affine quantizer has its zero point in the middle only by chance.
        const auto isCentered = [](const auto& entry) { return entry.second.centered; };
        const auto centered = static_cast<std::size_t>(std::ranges::count_if(m_activations, isCentered));
        if (2 * centered <= m_activations.size()) return;
        for (auto& [name, entry] : m_activations) entry.symmetric = entry.symmetric || entry.centered;
    }

    /// Empty if the model has no such tensor.
    std::optional<bool> isParameter(const std::string& name) const {
        // Weights may have got their names when constants were transposed or batch norms folded.
        for (const Graph* graph : {m_prepared.graph.get(), m_source.graph.get()}) {
            const auto id = graph->findTensor(name);
            if (!id) continue;
            // The bounds of a Clip are scalar constants, which AIMET lists with the activations.
            const Constant* constant = graph->constantOf(*id);
            return constant != nullptr && !constant->dims().empty();
        }
        return std::nullopt;
    }

    void add(bool parameter, const std::string& name, const EncodingEntry& entry) {
        if (parameter && entry.bits == 32) return;  // a bias
        auto& target = parameter ? m_parameters : m_activations;
        if (!target.emplace(name, entry).second)
            failInput("the tensor '{}' has two encodings; remove one", name);
    }

    /// Sets the network's schemes to the most frequent ones.
    void schemes() {
        auto& q = m_result.config.quantization;
        q = presetConfig("aimet-default").quantization;
        std::map<int, std::size_t> weightBits, activationBits;
        std::map<bool, std::size_t> channels, symmetricWeights, symmetricActivations;
        for (const auto& [name, e] : m_parameters) {
            ++weightBits[e.bits];
            ++channels[e.perChannel];
            ++symmetricWeights[e.symmetric];
        }
        for (const auto& [name, e] : m_activations) {
            ++activationBits[e.bits];
            ++symmetricActivations[e.symmetric];
        }
        q.weight.bits = std::min(16, mostCommon(weightBits, q.weight.bits));
        q.weight.perChannel = mostCommon(channels, q.weight.perChannel);
        q.weight.symmetric = mostCommon(symmetricWeights, q.weight.symmetric);
        q.activation.bits = std::min(16, mostCommon(activationBits, q.activation.bits));
        q.activation.symmetric = mostCommon(symmetricActivations, q.activation.symmetric);
        q.activation.isSigned = q.activation.symmetric;
        m_result.taken.push_back(fmt::format("weights: {} bits, {}, with all negative codes, as in AIMET",
                                             q.weight.bits,
                                             q.weight.perChannel ? "per channel" : "per tensor"));
        m_result.taken.push_back(fmt::format("activations: {} bits, {}", q.activation.bits,
                                             q.activation.symmetric ? "symmetric" : "affine"));
    }

    /// The method is only in formats 0.6.1 and 1.0.0.
    void calibration() {
        CalibrationOptions& calibration = m_result.config.calibration;
        calibration.quantizedWeights = true;  // AIMET calibrates with them
        const Json arguments = m_json.value("quantizer_args", Json());
        const Json scheme = arguments.is_object() ? arguments.value("quant_scheme", Json()) : Json();
        if (scheme.is_null()) return;
        static const std::map<std::string, CalibrationMethod> kSchemes = {
            {"min_max", CalibrationMethod::MinMax},
            {"tf", CalibrationMethod::MinMax},
            {"post_training_tf", CalibrationMethod::MinMax},
            {"tf_enhanced", CalibrationMethod::TfEnhanced},
            {"post_training_tf_enhanced", CalibrationMethod::TfEnhanced},
            {"percentile", CalibrationMethod::Percentile},
            {"post_training_percentile", CalibrationMethod::Percentile}};
        const auto known = scheme.is_string() ? kSchemes.find(scheme.get<std::string>()) : kSchemes.end();
        if (known == kSchemes.end()) {
            m_result.left.push_back(fmt::format(
                "quantizer_args.quant_scheme: {} has no counterpart here; the calibration method stays {}",
                describeValue(scheme), choiceName(kCalibrationMethods, calibration.method)));
            return;
        }
        calibration.parameters = {};
        calibration.method = known->second;
        m_result.taken.push_back(fmt::format("quant_scheme: {}", known->first));
    }

    void skips() {
        auto& config = m_result.config;
        forgetLayers(config, true);
        m_prepared.symmetricActivations = config.quantization.activation.symmetric;
        const Graph& graph = *m_prepared.graph;
        const UnitList units = findUnits(m_prepared, resolveSkips(*m_source.graph, config));
        const std::vector<std::size_t> owners = scaleOwners(units);
        std::vector<std::string> floating;
        for (std::size_t u = 0; u < units.units.size(); ++u) {
            const Unit& unit = units.units[u];
            if (!unit.quantized) continue;
            const std::string& layer = m_source.graph->node(m_prepared.sourceOf.at(unit.layer.index())).name;
            const auto entryOf =
                [&](TensorId tensor,
                    const std::map<std::string, EncodingEntry>& entries) -> const EncodingEntry* {
                const auto found = entries.find(graph.tensor(tensor).name);
                return found == entries.end() ? nullptr : &found->second;
            };
            const EncodingEntry* output = entryOf(unit.output, m_activations);
            if (unit.kind == UnitKind::Weighted) {
                const EncodingEntry* weight = entryOf(unit.weight, m_parameters);
                // A weight with a folded batch norm has a new name here; AIMET keeps the old one.
                const TensorId before =
                    m_source.graph->node(m_prepared.sourceOf.at(unit.layer.index())).input(1);
                if (weight == nullptr && before.valid())
                    if (const auto found = m_parameters.find(m_source.graph->tensor(before).name);
                        found != m_parameters.end())
                        weight = &found->second;
                if (weight == nullptr) {
                    floating.push_back(layer);
                    continue;
                }
                own(layer, *weight);
            } else if (unit.kind == UnitKind::Arithmetic) {
                if (output == nullptr) floating.push_back(layer);
            }
            if (output == nullptr) continue;
            m_taken.insert(graph.tensor(unit.output).name);
            const ActivationScheme& common = config.quantization.activation;
            if (std::min(16, output->bits) != common.bits)
                config.layers[layer].activationBits = std::min(16, output->bits);
            if (owners[u] == u && output->symmetric != common.symmetric) {
                config.layers[layer].activationSymmetric = output->symmetric;
                config.layers[layer].activationSigned = output->symmetric;
            }
        }
        takeSkips(floating, m_result);
        unknownTensors(graph);
        otherBits(graph);
        unquantizedTensors(units, {floating.begin(), floating.end()});
    }

    /// Adds a message about activations that AIMET quantizes, but no layer does here.
    void unquantizedTensors(const UnitList& units, const std::set<std::string>& floating) {
        const Graph& prepared = *m_prepared.graph;
        std::set<TensorId> quantized;
        for (const Unit& unit : units.units) {
            if (floating.contains(m_source.graph->node(m_prepared.sourceOf.at(unit.layer.index())).name))
                continue;
            quantized.insert(unit.output);
            for (const auto* tensors : {&unit.inputs, &unit.otherOutputs})
                quantized.insert(tensors->begin(), tensors->end());
            for (const UnitConstant& constant : unit.constants) quantized.insert(constant.tensor);
        }
        std::vector<std::string> tensors;
        for (const auto& [name, entry] : m_activations) {
            const auto id = prepared.findTensor(name);
            if (id && prepared.constantOf(*id) == nullptr && !quantized.contains(*id))
                tensors.push_back(name);
        }
        if (!tensors.empty())
            m_result.left.push_back(fmt::format("no layer of the operator set 'aimet' quantizes {}: {}",
                                                tensors.size() == 1 ? "this tensor" : "these tensors",
                                                shortList(tensors)));
    }

    /// Adds a message about tensors whose bits no layer sets here: inputs of the network, and outputs of
    /// operators that keep the scale of their input.
    void otherBits(const Graph& prepared) {
        const int common = m_result.config.quantization.activation.bits;
        std::vector<std::string> tensors;
        for (const auto& [name, entry] : m_activations)
            if (std::min(16, entry.bits) != common && !m_taken.contains(name) && prepared.findTensor(name))
                tensors.push_back(fmt::format("{} ({} bits)", name, entry.bits));
        if (!tensors.empty())
            m_result.left.push_back(fmt::format("the bits of these tensors, which have {} bits here: {}",
                                                common, shortList(tensors)));
    }

    void own(const std::string& layer, const EncodingEntry& weight) {
        auto& config = m_result.config;
        if (std::min(16, weight.bits) != config.quantization.weight.bits)
            config.layers[layer].weightBits = std::min(16, weight.bits);
        if (weight.perChannel != config.quantization.weight.perChannel)
            config.layers[layer].weightPerChannel = weight.perChannel;
        if (weight.symmetric != config.quantization.weight.symmetric)
            config.layers[layer].weightSymmetric = weight.symmetric;
    }

    void unknownTensors(const Graph& prepared) {
        std::vector<std::string> unknown;
        for (const auto* entries : {&m_activations, &m_parameters})
            for (const auto& [name, e] : *entries)
                if (!prepared.findTensor(name) && !m_source.graph->findTensor(name)) unknown.push_back(name);
        if (!unknown.empty() && unknown.size() == m_activations.size() + m_parameters.size())
            failInput("none of its {} tensors is in the model: these are the encodings of another model",
                      unknown.size());
        if (!unknown.empty())
            m_result.left.push_back(fmt::format("the model does not have {}: {}",
                                                unknown.size() == 1 ? "this tensor" : "these tensors",
                                                shortList(unknown)));
    }

    const ImportSource& m_source;
    Json m_json;
    Prepared m_prepared;
    std::map<std::string, EncodingEntry> m_activations, m_parameters;
    std::set<std::string> m_taken;  ///< activations that a layer's settings describe
    ImportResult m_result;
};

}  // namespace

ImportResult readAimet(const ImportSource& source) { return AimetReader(source).read(); }

}  // namespace quantloupe
