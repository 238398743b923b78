// SPDX-License-Identifier: Apache-2.0
// Layers are refined one after the other in graph order. Each layer also compensates for the errors of the
// layers before it ("asymmetric reconstruction" in the AdaRound paper), and its result is used in the network
// that provides the inputs of the next layers.
#include "quantize/refine/refine_layers.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/short_text.h"
#include "quantize/refine/bias_correction.h"
#include "quantize/refine/channel_moments.h"
#include "quantize/refine/learn_layer.h"

namespace quantloupe {
namespace {

/// Of all groups: 8192 inputs of a layer without groups, whose moments take 1 GiB.
constexpr double kMostMoments = 8192.0 * 8192.0;

class LayerRefiner {
  public:
    LayerRefiner(const Plan& plan, const RefineOptions& options, const RefineContext& context)
        : m_plan(plan), m_options(options), m_context(context) {
        m_plan.arithmetic = Arithmetic::Simulation;
        if (options.biasCorrection == BiasCorrection::Analytic)
            m_moments = momentsFromBatchNorms(*plan.prepared);
        if (context.samples != nullptr) m_inputs = context.samples->inputsOf(graph());
    }

    Refinements refine(std::vector<std::string>& notices) {
        std::vector<std::size_t> refined;
        for (std::size_t u = 0; u < m_plan.units.units.size(); ++u) {
            const Unit& unit = m_plan.units.units[u];
            if (unit.quantized && unit.kind == UnitKind::Weighted && m_plan.quantizers[u].weight)
                refined.push_back(u);
        }
        for (std::size_t i = 0; i < refined.size(); ++i) {
            m_context.control.cancel.check();
            refineUnit(refined[i]);
            if (m_context.control.progress) m_context.control.progress(i + 1, refined.size());
        }
        tell("learned rounding", m_unlearned, notices);
        tell("bias correction", m_uncorrected, notices);
        return std::move(m_result);
    }

  private:
    const Graph& graph() const { return *m_plan.prepared->graph; }
    bool learns(const Unit& unit) const {
        return m_options.rounding == Rounding::Adaround && !isTooWide(unit);
    }

    /// Whether the moments of the layer's inputs would take too much memory and time.
    bool isTooWide(const Unit& unit) const {
        const Constant& weight = *graph().constantOf(unit.weight);
        const auto axis = static_cast<std::size_t>(unit.weightAxis);
        const double outputs = axis < weight.dims().size() ? static_cast<double>(weight.dims()[axis]) : 1;
        const double columns = static_cast<double>(weight.size()) / outputs;
        const auto groups = static_cast<double>(graph().node(unit.layer).attributes.integer("group", 1));
        return groups * columns * columns > kMostMoments;
    }

    void refineUnit(std::size_t u) {
        const Unit& unit = m_plan.units.units[u];
        const std::string noBias =
            m_options.biasCorrection == BiasCorrection::Off ? "" : whyBiasStays(graph(), unit);
        const bool corrects = m_options.biasCorrection != BiasCorrection::Off && noBias.empty();
        if (!noBias.empty())
            m_uncorrected.push_back(fmt::format("'{}' {}", graph().node(unit.layer).name, noBias));
        const bool measures = corrects && m_options.biasCorrection == BiasCorrection::Empirical;
        const bool adaround = m_options.rounding == Rounding::Adaround;
        if (adaround && isTooWide(unit))
            m_unlearned.push_back(fmt::format("'{}' has too many inputs", graph().node(unit.layer).name));
        if (learns(unit) || measures) {
            const LayerRefinement found = fromSamples(u, measures);
            const std::string why =
                fmt::format("'{}' is not a Conv, Gemm or MatMul over samples", graph().node(unit.layer).name);
            if (learns(unit) && found.empty()) m_unlearned.push_back(why);
            if (measures && found.empty()) m_uncorrected.push_back(why);
            use(u, found);
        }
        if (!corrects || m_options.biasCorrection != BiasCorrection::Analytic) return;
        LayerRefinement refinement;
        const ChannelMoments& moments = m_moments[unit.inputs[0].index()];
        if (moments.known())
            refinement.bias =
                biasForMeans(graph(), unit, m_plan.quantizers[u].weight->dequantized->floats(), moments.mean);
        if (refinement.bias.empty())
            m_uncorrected.push_back(fmt::format("the input means of '{}' do not follow from any {}batch norm",
                                                graph().node(unit.layer).name,
                                                m_plan.prepared->foldedBatchNorms == 0 ? "folded " : ""));
        use(u, refinement);
    }

    /// `corrects`: also corrects the bias from the samples.
    LayerRefinement fromSamples(std::size_t u, bool corrects) {
        const Unit& unit = m_plan.units.units[u];
        const TensorId input = unit.inputs[0];
        const ConstantQuantizer& nearest = *m_plan.quantizers[u].weight;
        VersionBuilder own;
        own.add(graph().constantOf(unit.weight)->version())
            .add(nearest.dequantized->version())
            .add(nearest.axis)
            .add(nearest.quantMin)
            .add(nearest.quantMax);
        // Weights that several bit widths represent exactly differ in the scales only.
        for (const float scale : nearest.scales) own.add(scale);
        for (const std::int32_t zero : nearest.zeroPoints) own.add(zero);
        own.add(unit.bias.valid() ? graph().constantOf(unit.bias)->version() : Version{});
        own.add(m_options.rounding).add(corrects);
        graph().node(unit.layer).attributes.addTo(own);
        const Version scheme = own.finish();
        const Version latest = VersionBuilder().add(scheme).add(m_context.settings).finish();
        if (m_context.takeLatest)
            if (const auto* known = m_context.cache.latest.find(latest)) return *known;

        const ProgramSpec quantized = m_plan.networkSpec(m_inputs, {input});
        ProgramSpec exact = floatProgram(m_plan.prepared->graph, m_inputs, {input});
        const Version content = VersionBuilder()
                                    .add(scheme)
                                    .add(m_context.versionOf(quantized, input))
                                    .add(m_context.versionOf(exact, input))
                                    .finish();
        const auto* known = m_context.cache.byContent.find(content);
        if (known == nullptr) ++m_context.cache.computed;
        LayerRefinement found = known != nullptr ? *known : compute(u, corrects, quantized, std::move(exact));
        m_context.cache.byContent.store(content, found);
        m_context.cache.latest.store(latest, found);
        return found;
    }

    LayerRefinement compute(std::size_t u, bool corrects, const ProgramSpec& quantized, ProgramSpec exact) {
        const Unit& unit = m_plan.units.units[u];
        RunControl quiet{m_context.control.workers, m_context.control.cancel, {}};
        auto samples = sampleLayer(graph(), unit, m_context.bind(quantized), m_context.bind(std::move(exact)),
                                   *m_context.samples, quiet);
        LayerRefinement found;
        if (!samples) return found;
        // If the bias corrects the means of these samples, the codes only have to compensate for deviations.
        const auto moments = momentsOf(*samples, corrects, learns(unit), quiet);
        const ConstantQuantizer& nearest = *m_plan.quantizers[u].weight;
        const LearnTask task{samples->shape, graph().constantOf(unit.weight)->floats(), nearest, moments};
        std::shared_ptr<const ConstantQuantizer> learned;
        if (learns(unit)) {
            found.codes = learnCodes(task, quiet);
            learned = withCodes(nearest, found.codes);
        }
        if (corrects) {
            const auto lacking = biasCorrections(task, (learned ? *learned : nearest).dequantized->floats());
            const auto bias = graph().constantOf(unit.bias)->floats();
            for (std::size_t o = 0; o < bias.size(); ++o)
                found.bias.push_back(static_cast<float>(static_cast<double>(bias[o]) + lacking[o]));
        }
        return found;
    }

    void use(std::size_t u, const LayerRefinement& found) {
        const Unit& unit = m_plan.units.units[u];
        UnitQuantizers& own = m_plan.quantizers[u];
        if (!found.codes.empty())
            m_result.weights[unit.weight] = own.weight = withCodes(*own.weight, found.codes);
        if (found.bias.empty()) return;
        own.correctedBias = Constant::fromFloats(graph().constantOf(unit.bias)->dims(), found.bias);
        m_result.biases[unit.bias] = own.correctedBias;
        if (!own.bias) return;
        try {
            own.bias = std::make_shared<const ConstantQuantizer>(
                quantizeBias(*own.correctedBias, own.bias->bits, own.inputs[0].scale, own.weight->scales));
        } catch (Error& error) {
            error.addContext(fmt::format("layer '{}'", graph().node(unit.layer).name));
            throw;
        }
    }

    static void tell(const char* what, const std::vector<std::string>& reasons,
                     std::vector<std::string>& notices) {
        if (reasons.empty()) return;
        notices.push_back(fmt::format("{} leaves out {}: {}{}", what, counted(reasons.size(), "layer"),
                                      reasons[0], reasons.size() == 1 ? "" : ", and others"));
    }

    Plan m_plan;  ///< includes the refinements of all layers before the current one
    const RefineOptions& m_options;
    const RefineContext& m_context;
    std::vector<ChannelMoments> m_moments;
    std::map<TensorId, TensorDesc> m_inputs;
    Refinements m_result;
    std::vector<std::string> m_unlearned, m_uncorrected;
};

}  // namespace

std::size_t RefinementCache::shrink(std::size_t mostBytes) {
    const auto size = [](const LayerRefinement& found) {
        return found.codes.size() * sizeof(std::int32_t) + found.bias.size() * sizeof(float);
    };
    return byContent.shrink(mostBytes / 2, size) + latest.shrink(mostBytes / 2, size);
}

void RefinementCache::clear() {
    byContent.clear();
    latest.clear();
    latestOf = {};
}

bool needsSamples(const RefineOptions& options) {
    return options.rounding == Rounding::Adaround || options.biasCorrection == BiasCorrection::Empirical;
}

Refinements refineLayers(const Plan& plan, const RefineOptions& options, const RefineContext& context,
                         std::vector<std::string>& notices) {
    return LayerRefiner(plan, options, context).refine(notices);
}

}  // namespace quantloupe
