// SPDX-License-Identifier: Apache-2.0
#include "session/studies/layer_details.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/is_one_of.h"
#include "config/layer_choices.h"
#include "model/operator_traits.h"
#include "session/session_parts.h"
#include "session/stages/layer_metrics.h"
#include "session/stages/tensor_collector.h"
#include "session/stages/unit_comparison.h"
#include "session/stages/weight_sensitivity.h"

namespace quantloupe {
namespace {

/// Returns the unit of a layer. Throws Error with the reason if it has none.
std::size_t unitOf(const Plan& plan, NodeId source) {
    const Prepared& prepared = *plan.prepared;
    const Graph& graph = *prepared.source;
    const std::string& name = graph.node(source).name;
    const LayerMapping& mapping = prepared.layerMappings[source.index()];
    if (!mapping.prepared.valid() && !mapping.foldedInto.valid())
        failInput("layer '{}' no longer exists: {}", name, mapping.note);
    if (!mapping.prepared.valid())
        failInput("layer '{}' is folded into '{}'; request that layer", name,
                  graph.node(mapping.foldedInto).name);
    const auto index = plan.units.unitOf[mapping.prepared.index()];
    if (!index)
        failInput("layer '{}' has no quantizers: {}", name, plan.units.reasons[mapping.prepared.index()]);
    const NodeId host = plan.units.units[*index].layer;
    if (host != mapping.prepared)
        failInput("layer '{}' runs inside '{}'; request that layer", name,
                  graph.node(prepared.sourceOf[host.index()]).name);
    return *index;
}

/// Whether the channels of a layer's output are on its last axis, and not on the one after the samples: if a
/// matrix product, a recurrent layer or a LayerNormalization computes them, possibly followed by operators
/// that keep the axes.
bool channelsAreLast(const Graph& graph, NodeId layer) {
    constexpr int kFarthest = 100;
    for (int steps = 0; layer.valid() && steps < kFarthest; ++steps) {
        const Node& node = graph.node(layer);
        switch (traitsOf(node).kind) {
            case OperatorKind::Convolution:
                return false;
            case OperatorKind::Product:
            case OperatorKind::Recurrent:
                return true;
            default:
                break;
        }
        if (node.op == "LayerNormalization") return true;
        if (onlyRearranges(node.op) || node.op == "Gather") return false;
        NodeId producer;
        for (const TensorId input : node.inputs)
            if (input.valid() && !producer.valid()) producer = graph.tensor(input).producer;
        layer = producer;
    }
    return false;
}

class DetailsRun {
  public:
    DetailsRun(NetworkRunner& runner, const SampleBatches& batches, std::shared_ptr<const Plan> plan,
               std::size_t unit, const CancelToken& cancel)
        : m_runner(runner),
          m_batches(batches),
          m_plan(std::move(plan)),
          m_index(unit),
          m_unit(m_plan->units.units[unit]),
          m_quantizers(m_plan->quantizers[unit]),
          m_channelsAreLast(channelsAreLast(*m_plan->prepared->graph, m_unit.layer)),
          m_control(runner.control(cancel)) {}

    void fill(LayerDetails& details, std::size_t bins) {
        const Graph& graph = *m_plan->prepared->graph;
        const std::size_t chunks = m_batches.chunks();
        const auto workers = static_cast<std::size_t>(m_control.workers.count());
        for (std::size_t i = 0; i < m_unit.inputs.size(); ++i)
            m_inputs.emplace_back(graph.tensor(m_unit.inputs[i]).name, m_quantizers.inputs[i], chunks,
                                  workers);
        const auto outputQuantizer =
            m_unit.quantizesOutput ? std::optional(m_quantizers.output) : std::nullopt;
        ActivationCollector output(graph.tensor(m_unit.output).name, outputQuantizer, chunks, workers);
        pass(false, [&](const ComparedTensor& tensor) {
            output.addRange(tensor.chunk, tensor.reference, tensor.tested, tensor.elements);
            forInputs(tensor, [&](ActivationCollector& input, const float* values, const float* rounded,
                                  std::size_t n) { input.addRange(tensor.chunk, values, rounded, n); });
        });
        output.startCounting(bins);
        for (ActivationCollector& input : m_inputs) input.startCounting(bins);

        m_local.resize(chunks);
        m_cumulative.resize(chunks);
        pass(true, [&](const ComparedTensor& tensor) {
            output.count(tensor.chunk, tensor.worker, tensor.reference, tensor.tested, tensor.elements);
            forInputs(tensor,
                      [&](ActivationCollector& input, const float* values, const float* rounded,
                          std::size_t n) { input.count(tensor.chunk, tensor.worker, values, rounded, n); });
            addChannels(tensor, m_local);
        });
        for (ActivationCollector& input : m_inputs) details.inputs.push_back(input.result());
        details.output = output.result();
        putChannels(m_local, details, &ChannelDetails::local);
        putChannels(m_cumulative, details, &ChannelDetails::cumulative);
    }

  private:
    using Channels = std::vector<std::vector<DifferenceSums>>;  // by chunk

    void pass(bool cumulative, std::function<void(const ComparedTensor&)> use) {
        ResumeOptions resume = m_runner.resumeOptions(m_plan->prepared->graph);
        resume.keep = false;
        UnitComparison comparison{*m_plan, m_batches, resume, m_runner.kernels()};
        comparison.local = {m_index};
        comparison.compareLocal = std::move(use);
        if (cumulative) comparison.cumulative = {m_index};
        comparison.compareCumulative = [this](const ComparedTensor& tensor) {
            addChannels(tensor, m_cumulative);
        };
        compareUnits(comparison, m_control);
    }

    template <typename Use>
    void forInputs(const ComparedTensor& tensor, const Use& use) {
        std::vector<float> rounded, gathered;
        for (std::size_t i = 0; i < m_inputs.size(); ++i) {
            const TensorDesc& desc = tensor.floating.program().desc(m_unit.inputs[i]);
            if (desc.type != DataType::Float32) continue;
            const auto values = presentValues(desc, tensor.floating.floats(m_unit.inputs[i]),
                                              m_batches.samplesIn(tensor.chunk), gathered);
            rounded.resize(values.size());
            applyFakeQuant(m_quantizers.inputs[i].fakeQuant(), values.data(), rounded.data(), values.size());
            use(m_inputs[i], values.data(), rounded.data(), values.size());
        }
    }

    void addChannels(const ComparedTensor& tensor, Channels& sums) const {
        const bool together = samplesAreTogether(tensor.desc);
        const auto samples = together ? std::nullopt : sampleDimension(tensor.desc);
        ChannelLayout layout{1, 1, tensor.elements};
        if (tensor.desc.dims.size() > 1 && (together || samples)) {
            Dims dims = tensor.desc.dims;
            if (samples) {  // the values are sample by sample
                const auto place = dims.begin() + static_cast<std::ptrdiff_t>(*samples);
                *place /= tensor.desc.samples.count;  // the rest of a dimension that is also something else
                if (*place == 1) dims.erase(place);
                dims.insert(dims.begin(), static_cast<std::int64_t>(tensor.samples));
            }
            layout = tensor.desc.layout != Layout::Plain ? channelLayout(tensor.desc)
                                                         : channelLayout(dims, m_channelsAreLast ? -1 : 1);
            const std::size_t each = layout.channels * layout.inner;
            layout.outer = each == 0 ? 0 : tensor.elements / each;
        }
        sums[tensor.chunk].resize(layout.channels);
        addPerChannel(layout, tensor.reference, tensor.tested, sums[tensor.chunk]);
    }

    static void putChannels(const Channels& sums, LayerDetails& details,
                            std::optional<TensorDifference> ChannelDetails::*member) {
        std::vector<DifferenceSums> all(sums.empty() ? 0 : sums[0].size());
        for (const auto& chunk : sums)
            for (std::size_t c = 0; c < std::min(all.size(), chunk.size()); ++c) all[c].merge(chunk[c]);
        if (details.channels.size() < all.size()) details.channels.resize(all.size());
        for (std::size_t c = 0; c < all.size(); ++c) details.channels[c].*member = all[c].result();
    }

    NetworkRunner& m_runner;
    const SampleBatches& m_batches;
    std::shared_ptr<const Plan> m_plan;
    std::size_t m_index;
    const Unit& m_unit;
    const UnitQuantizers& m_quantizers;
    bool m_channelsAreLast;
    RunControl m_control;
    std::vector<ActivationCollector> m_inputs;
    Channels m_local, m_cumulative;
};

/// Splits a weight into groups whose output channels follow each other. All groups of a ConvTranspose use the
/// same indices of the output axis; other weights are one group. The parts refer to the weight's values.
std::vector<ConstantPtr> splitByOutputs(const Node& node, const Constant& weight) {
    const std::int64_t groups = node.op == "ConvTranspose" ? node.attributes.integer("group", 1) : 1;
    Dims dims = weight.dims();
    dims[0] /= groups;
    const std::size_t bytes = weight.bytes().size() / static_cast<std::size_t>(groups);
    std::vector<ConstantPtr> parts;
    for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g)
        parts.push_back(
            Constant::view(weight.type(), dims, nullptr, weight.bytes().subspan(g * bytes, bytes)));
    return parts;
}

void putWeight(const Plan& plan, const Unit& unit, const ConstantQuantizer& quantizer, std::size_t bins,
               LayerDetails& details) {
    const Graph& graph = *plan.prepared->graph;
    const Graph& source = *plan.prepared->source;
    const Constant& weight = *graph.constantOf(unit.weight);
    details.weight = weightDetails(graph, unit, quantizer, bins);
    const Node& node = graph.node(unit.layer);
    const std::vector<ConstantPtr> groups = splitByOutputs(node, weight),
                                   rounded = splitByOutputs(node, *quantizer.dequantized);
    std::vector<ConstantPtr> originals;
    const Constant* original = source.constantOf(source.node(details.node).input(1));
    if (original != nullptr && original->type() == DataType::Float32 && original->dims() == weight.dims())
        originals = splitByOutputs(node, *original);
    const ChannelLayout layout = channelLayout(groups[0]->dims(), unit.weightAxis);
    const std::size_t channels = groups.size() * layout.channels;
    if (details.channels.size() < channels) details.channels.resize(channels);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        std::vector<DifferenceSums> sums(layout.channels);
        addPerChannel(layout, groups[g]->floats().data(), rounded[g]->floats().data(), sums);
        const std::vector<ChannelRange> after = channelRanges(*groups[g], unit.weightAxis);
        std::vector<ChannelRange> before;
        if (!originals.empty()) before = channelRanges(*originals[g], unit.weightAxis);
        for (std::size_t c = 0; c < layout.channels; ++c) {
            ChannelDetails& channel = details.channels[g * layout.channels + c];
            channel.weight = sums[c].result();
            channel.weightAfter = after[c];
            if (!before.empty()) channel.weightBefore = before[c];
            channel.weightScale = quantizer.scales[quantizer.scales.size() == 1 ? 0 : c];
        }
    }
}

}  // namespace

LayerDetails layerDetails(Session& session, const QuantizationConfig& config, const std::string& layer,
                          std::size_t bins, const CancelToken& cancel) {
    SessionParts& parts = partsOf(session);
    requireLayers(session.graph(), {layer});
    if (bins == 0 || bins > 65536) failInput("a histogram has 1 to 65536 bins, not {}", bins);
    const NodeId node = *session.graph().findNode(layer);
    LayerMetricsOptions all;
    all.elementwise = true;
    all.only = node;
    parts.samples.requireEvaluable();
    const auto plan = parts.plan(config, parts.runner.control(cancel));
    const std::size_t index = unitOf(*plan, node);
    const std::vector<LayerMetrics> metrics = measureLayers(session, config, all, {}, cancel);
    const Unit& unit = plan->units.units[index];
    const EvaluationPtr states = session.experiment(config, Depth::States, cancel);

    const LayerResult& known = states->layers[node.index()];
    LayerDetails details{node,         known.name, known.op, known.state,
                         known.reason, {},         {},       TensorDetails{{}, {0, 0, 1}, {0, 0, 1}},
                         known.weight, {},         {},       {}};
    for (const LayerMetrics& entry : metrics) {
        if (entry.node != node) continue;
        details.local = entry.local;
        details.cumulative = entry.cumulative;
    }
    if (!details.local) failInput("layer '{}' has no metrics: {}", layer, "its output is not float32");
    if (const auto& quantizer = plan->quantizers[index].weight)
        putWeight(*plan, unit, *quantizer, bins, details);
    details.weightDifference = plannedWeightDifference(parts.results, *plan, index);
    DetailsRun(parts.runner, parts.samples.batches(), plan, index, cancel).fill(details, bins);
    return details;
}

}  // namespace quantloupe
