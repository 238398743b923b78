// SPDX-License-Identifier: Apache-2.0
#include "models/suggestions.h"

#include <algorithm>
#include <cmath>

#include "commands/layer_edits.h"
#include "config/layer_choices.h"
#include "document/metric.h"
#include "session/studies/evaluation_gain.h"
#include "session/studies/leave_one_out.h"
#include "style/words.h"

namespace quantloupe::ui {

namespace {

constexpr std::size_t kWorstLayers = 3;

/// Returns the most sensitive quantized layers, by leave-one-out if available, otherwise and among equal
/// gains by their local error.
std::vector<const LayerResult*> worstLayers(const std::vector<LayerResult>& layers) {
    struct RankedLayer {
        double value, localQs;
        const LayerResult* layer;
    };
    std::vector<RankedLayer> order;
    const bool measured = leaveOneOutComplete(layers);
    for (const LayerResult& layer : layers) {
        if (layer.state != LayerState::Quantized) continue;
        const auto localQs = metricValue(layer, Metric::LocalQs);
        const auto value = measured ? layer.leaveOneOut : localQs;
        if (value && std::isfinite(*value))
            order.push_back({*value, localQs && std::isfinite(*localQs) ? *localQs : 0, &layer});
    }
    std::ranges::stable_sort(order, std::greater<>(),
                             [](const RankedLayer& c) { return std::pair(c.value, c.localQs); });
    std::vector<const LayerResult*> worst;
    for (std::size_t i = 0; i < std::min(kWorstLayers, order.size()); ++i) worst.push_back(order[i].layer);
    return worst;
}

}  // namespace

std::vector<Suggestion> candidateEdits(const QuantizationConfig& config,
                                       const std::vector<LayerResult>& layers) {
    std::vector<Suggestion> candidates;
    const auto add = [&](const QString& title, const QString& why, const auto& change) {
        ConfigEdit edit = changeConfig(config, title, change);
        if (edit.next != config) candidates.push_back({std::move(edit), title, why, 0, false, {}});
    };
    const bool relu6 = std::ranges::any_of(layers, [](const LayerResult& l) { return l.op == "Clip"; });
    if (config.transforms.equalization.profile == EqualizationProfile::Off) {
        add(Words::tr("Equalize"), Words::tr("Balances the channel ranges of neighboring layers"),
            [](QuantizationConfig& c) { c.transforms.equalization.profile = EqualizationProfile::Aimet; });
        if (relu6 && config.transforms.replaceRelu6 == ReplaceRelu6::None)
            add(Words::tr("Equalize, replace ReLU6 between layers"),
                Words::tr("ReLU6 blocks equalization; without it, more layers are equalized"),
                [](QuantizationConfig& c) {
                    c.transforms.replaceRelu6 = ReplaceRelu6::Between;
                    c.transforms.equalization.profile = EqualizationProfile::Aimet;
                });
    }
    if (!config.quantization.weight.perChannel)
        add(Words::tr("Weights per channel"), Words::tr("One scale per output channel"),
            [](QuantizationConfig& c) { c.quantization.weight.perChannel = true; });
    if (config.quantization.weight.method == WeightMethod::MinMax)
        add(Words::tr("Weight scales by least squared error"),
            Words::tr("Clips a few large weights for finer steps"),
            [](QuantizationConfig& c) { c.quantization.weight.method = WeightMethod::Mse; });
    if (config.refine.biasCorrection == BiasCorrection::Off)
        add(Words::tr("Correct biases"), Words::tr("Corrects the shift of the layers' mean outputs"),
            [](QuantizationConfig& c) { c.refine.biasCorrection = BiasCorrection::Empirical; });
    const bool normalized =
        std::ranges::any_of(layers, [](const LayerResult& l) { return l.op == "LayerNormalization"; });
    if (normalized && config.refine.migration == 0)
        add(Words::tr("Migrate outliers"),
            Words::tr("Moves activation outliers of Gemm and MatMul inputs into the weights (SmoothQuant)"),
            [](QuantizationConfig& c) { c.refine.migration = 0.5; });
    if (config.calibration.method == CalibrationMethod::MinMax)
        add(Words::tr("Ranges by least squared error"),
            Words::tr("Finer steps for activations with rare large values"),
            [](QuantizationConfig& c) { c.calibration.method = CalibrationMethod::Mse; });
    for (const LayerResult* layer : worstLayers(layers)) {
        const QString name = QString::fromStdString(layer->name);
        candidates.push_back({{withLayersSkipped(config, {layer->name}), Words::tr("Skip %1").arg(name), {}},
                              Words::tr("Keep %1 in float").arg(name),
                              Words::tr("One of the most sensitive layers"),
                              0,
                              false,
                              {}});
        if (config.quantization.weight.bits < 8 && layer->parameters > 0)
            candidates.push_back({changeLayers(config, {layer->name}, Words::tr("8-bit weights"),
                                               [](LayerSettings& s) { s.weightBits = 8; }),
                                  Words::tr("8-bit weights for %1").arg(name),
                                  Words::tr("One of the most sensitive layers"),
                                  0,
                                  false,
                                  {}});
    }
    return candidates;
}

std::optional<Suggestion> measureSuggestion(Session& session, const QuantizationConfig& config,
                                            Suggestion candidate, const CancelToken& cancel) {
    const EvaluationPtr before = session.experiment(config, Depth::Accuracy, cancel);
    EvaluationPtr after;
    try {
        after = session.experiment(candidate.edit.next, Depth::Accuracy, cancel);
    } catch (const Cancelled&) {
        throw;
    } catch (const Error&) {
        return std::nullopt;  // applying the edit manually shows the reason
    }
    if (!before->quantized || !after->quantized) return std::nullopt;
    const TaskMetric metric = gainMetric(*before);
    const EvaluationGain gain = gainBetween(*before, *after, metric);
    candidate.gain = gain.value;
    candidate.certain = gain.significant();
    // A gain in decibels that rounds to zero is not suggested.
    if (!candidate.certain && !(gain.paired && gain.value > 0)) return std::nullopt;
    if (gain.paired)
        candidate.verdict = QString::fromStdString(describe(*gain.paired));
    else if (metric == TaskMetric::Sqnr)
        candidate.verdict = Words::tr("+%1 dB SQNR of the outputs").arg(gain.value, 0, 'f', 1);
    else
        candidate.verdict = Words::tr("your metric: %1 instead of %2")
                                .arg(formatOwnMetric(valueOf(*after->quantized, metric)),
                                     formatOwnMetric(valueOf(*before->quantized, metric)));
    return candidate;
}

}  // namespace quantloupe::ui
