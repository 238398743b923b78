// SPDX-License-Identifier: Apache-2.0
#include "quantize/conversions.h"

#include <algorithm>
#include <map>

#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

/// The bits of a tensor, or the bits in which a layer reads it: kFloat16Bits for float16.
struct Bits {
    int bits = kFloat16Bits;
    bool chosen = false;  ///< set by a precision; otherwise by the bits of the network or the layer
};

class ConversionFinder {
  public:
    ConversionFinder(const Prepared& prepared, const UnitList& list, const QuantizationConfig& config)
        : m_prepared(prepared), m_units(list.units), m_config(config) {
        for (std::size_t u = 0; u < m_units.size(); ++u) {
            for (const TensorId input : m_units[u].inputs) m_readers[input].push_back(u);
            m_producer[m_units[u].output] = u;
        }
    }

    void find() {
        for (std::size_t u = 0; u < m_units.size(); ++u) {
            const Unit& unit = m_units[u];
            const std::optional<Bits> bits = bitsAfter(u);
            produce(unit.output, bits);
            for (const TensorId other : unit.otherOutputs) produce(other, bits);
        }
    }

    /// The readers of each conversion, by tensor and bits.
    std::map<std::pair<TensorId, int>, std::vector<NodeId>> conversions;
    std::map<TensorId, int> direct;  ///< Prepared::activationBits, except of conversions

  private:
    const LayerSettings* settingsOf(const Unit& unit) const {
        const Node& source = m_prepared.source->node(m_prepared.sourceOf[unit.layer.index()]);
        return m_config.settingsOf(source.name);
    }
    bool chosen(const Unit& unit) const {
        const LayerSettings* settings = settingsOf(unit);
        return settings != nullptr && settings->precision;
    }
    int activationBits(const Unit& unit) const {
        const LayerSettings* settings = settingsOf(unit);
        return (settings != nullptr ? settings->activationBits : std::nullopt)
            .value_or(m_config.quantization.activation.bits);
    }

    /// Whether the unit keeps the bits of its input.
    bool follows(const Unit& unit) const { return followsInput(unit) && !chosen(unit); }

    /// Returns the bits in which the unit reads its inputs; empty if it reads them without conversion.
    std::optional<Bits> wanted(const Unit& unit) const {
        if (unit.float16) return Bits{kFloat16Bits, true};
        if (unit.skipped || follows(unit)) return std::nullopt;
        if (!followsInput(unit) && !unit.quantized) return std::nullopt;
        return Bits{activationBits(unit), chosen(unit)};
    }

    /// Returns the bits of the unit's output; empty: float32.
    std::optional<Bits> bitsAfter(std::size_t u) {
        const Unit& unit = m_units[u];
        for (const TensorId input : unit.inputs)
            if (!m_bits.contains(input)) produce(input, std::nullopt);
        if (unit.float16) return Bits{kFloat16Bits, true};
        if (unit.skipped || !unit.quantizesOutput) return std::nullopt;
        if (!followsInput(unit)) return unit.quantized ? wanted(unit) : std::nullopt;
        const std::optional<Bits> before = m_bits.at(unit.inputs[0]);
        if (!before || before->bits == kFloat16Bits) return std::nullopt;
        if (chosen(unit)) return wanted(unit);
        if (!unit.ifInputIs) return before;
        // A separate Relu has its own scale, and its own bits unless a precision sets the bits of its input.
        if (!before->chosen) return Bits{activationBits(unit), false};
        direct[unit.output] = before->bits;
        return before;
    }

    void produce(TensorId tensor, const std::optional<Bits>& bits) {
        m_bits[tensor] = bits;
        if (!bits) return produceFloat(tensor);
        for (const std::size_t u : m_readers[tensor]) {
            const Unit& reader = m_units[u];
            const std::optional<Bits> want = wanted(reader);
            if (!want || want->bits == bits->bits || !(want->chosen || bits->chosen)) continue;
            if (bits->bits == kFloat16Bits && followsInput(reader)) continue;
            convert(tensor, want->bits, reader.layer);
        }
    }

    /// Determines the bits of a tensor that is not quantized where it is produced.
    void produceFloat(TensorId tensor) {
        std::map<int, std::vector<NodeId>> groups;
        bool anyChosen = false;
        const int usual = usualBits(tensor);
        for (const std::size_t u : m_readers[tensor]) {
            const Unit& reader = m_units[u];
            const std::optional<Bits> want = wanted(reader);
            if (!want || (followsInput(reader) && !reader.float16)) continue;
            groups[want->chosen ? want->bits : usual].push_back(reader.layer);
            anyChosen = anyChosen || want->chosen;
        }
        if (groups.size() == 1 && !groups.contains(kFloat16Bits)) {
            const int bits = groups.begin()->first;
            m_bits[tensor] = Bits{bits, anyChosen};
            if (bits != usual) direct[tensor] = bits;
            convertForFollowers(tensor, bits);
            return;
        }
        for (const auto& [bits, readers] : groups)
            for (const NodeId reader : readers) convert(tensor, bits, reader);
    }

    void convertForFollowers(TensorId tensor, int bits) {
        for (const std::size_t u : m_readers[tensor]) {
            const Unit& reader = m_units[u];
            const std::optional<Bits> want = wanted(reader);
            if (want && followsInput(reader) && want->bits != bits) convert(tensor, want->bits, reader.layer);
        }
    }

    /// Returns the bits that the tensor has without precisions: those of the layer that produces it, unless
    /// that layer only quantizes its inputs.
    int usualBits(TensorId tensor) const {
        const auto producer = m_producer.find(tensor);
        return producer == m_producer.end() || !m_units[producer->second].quantizesOutput
                   ? m_config.quantization.activation.bits
                   : activationBits(m_units[producer->second]);
    }

    void convert(TensorId tensor, int bits, NodeId reader) {
        std::vector<NodeId>& readers = conversions[{tensor, bits}];
        if (std::ranges::find(readers, reader) == readers.end()) readers.push_back(reader);
    }

    const Prepared& m_prepared;
    const std::vector<Unit>& m_units;
    const QuantizationConfig& m_config;
    std::map<TensorId, std::vector<std::size_t>> m_readers;
    std::map<TensorId, std::size_t> m_producer;
    std::map<TensorId, std::optional<Bits>> m_bits;  ///< of the tensors visited so far
};

}  // namespace

Prepared withConversions(Prepared prepared, const UnitList& units, const QuantizationConfig& resolved) {
    if (prepared.placement == Placement::WeightedInputs) return prepared;
    ConversionFinder finder(prepared, units, resolved);
    finder.find();
    if (finder.conversions.empty() && finder.direct.empty()) return prepared;
    VersionBuilder version;
    version.add(prepared.version).add(prepared.operators).add(prepared.symmetricActivations);
    std::vector<OwnInput> inputs;
    std::vector<int> bits;
    for (auto& [key, readers] : finder.conversions) {
        const auto& [tensor, width] = key;
        version.add(tensor.value).add(width).add(readers.size());
        for (const NodeId reader : readers) version.add(reader.value);
        inputs.push_back({tensor, std::move(readers),
                          prepared.graph->tensor(tensor).name +
                              (width == kFloat16Bits ? "_to_float16" : fmt::format("_to_a{}", width))});
        bits.push_back(width);
    }
    for (const auto& [tensor, width] : finder.direct) version.add(tensor.value).add(width);
    WithOwnInputs made = withOwnInputs(std::move(prepared), inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        made.prepared.conversions.insert(made.identities[i]);
        made.prepared.activationBits[made.prepared.graph->node(made.identities[i]).output()] = bits[i];
    }
    for (const auto& [tensor, width] : finder.direct)
        made.prepared.activationBits[made.tensors[tensor.index()]] = width;
    made.prepared.version = version.finish();
    return std::move(made.prepared);
}

}  // namespace quantloupe
