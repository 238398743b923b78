// SPDX-License-Identifier: Apache-2.0
#include "session/pipeline.h"

#include "config/config_fields.h"
#include "config/config_json.h"
#include "config/precision_rules.h"
#include "config/skip_rules.h"
#include "model/quantized_model.h"
#include "quantize/conversions.h"
#include "transform/own_inputs.h"

namespace quantloupe {
namespace {

/// The version of everything in a configuration that the transforms depend on.
Version transformVersion(const QuantizationConfig& config, const std::vector<bool>& skipped) {
    QuantizationConfig only = onlyFields(config, [](const Field& field) { return field.changesModel; });
    if (config.refine.migration > 0) only.calibration.samples = config.calibration.samples;
    VersionBuilder builder;
    builder.add(std::string_view(configToJson(only)));
    for (const bool one : skipped) builder.add(one);
    return builder.finish();
}

}  // namespace

Pipeline::Pipeline(GraphPtr source, const SessionOptions& options, SessionSamples& samples,
                   NetworkRunner& runner)
    : m_source(std::move(source)), m_arithmetic(options.arithmetic), m_samples(samples), m_runner(runner) {}

std::shared_ptr<const Prepared> Pipeline::prepare(const QuantizationConfig& config,
                                                  const RunControl& control) {
    std::vector<bool> skipped;
    if (config.transforms.equalization.excludeSkipped) {
        const SkipDecisions skips = resolveSkips(*m_source, config);
        for (std::size_t i = 0; i < m_source->nodeCount(); ++i) skipped.push_back(skips.skipped(NodeId(i)));
    }
    const EvaluatedPart& part = m_samples.part();
    const Version version =
        VersionBuilder().add(transformVersion(config, skipped)).add(part.unavailable.size()).finish();
    if (const auto* known = m_prepared.find(version)) return converted(*known, config);
    if (!m_constants) m_constants = foldMovedConstants(m_source);
    Prepared made = quantloupe::prepare(m_source, config.transforms, skipped, &*m_constants,
                                        config.quantization.operators == OperatorSet::Layers);
    made.operators = config.quantization.operators;
    made.symmetricActivations = config.quantization.activation.symmetric;
    if (config.refine.migration > 0) made = migrate(std::move(made), config, control);
    if (config.quantization.placement == Placement::WeightedInputs) made = withOwnInputs(std::move(made));
    if (!part.whole())
        for (const NodeId source : made.sourceOf) {
            const auto found = part.unavailable.find(source);
            made.unevaluated.push_back(found == part.unavailable.end() ? std::string() : found->second);
        }
    return converted(m_prepared.store(version, std::make_shared<const Prepared>(std::move(made))), config);
}

std::shared_ptr<const Prepared> Pipeline::converted(std::shared_ptr<const Prepared> made,
                                                    const QuantizationConfig& config) {
    if (!hasPrecisions(config) || quantizationOperators(*m_source) > 0) return made;
    const QuantizationConfig resolved = withPrecisionsResolved(*m_source, config);
    const UnitList units = findUnits(*made, resolveSkips(*m_source, config));
    Prepared changed = withConversions(*made, units, resolved);
    const Version version = changed.version;
    if (version == made->version) return made;
    // Before the evaluated part is known, the same network has other unevaluated nodes.
    const Version key = VersionBuilder().add(version).add(changed.unevaluated.size()).finish();
    if (const auto* known = m_prepared.find(key)) return *known;
    return m_prepared.store(key, std::make_shared<const Prepared>(std::move(changed)));
}

std::shared_ptr<const Plan> Pipeline::plan(const QuantizationConfig& measured, const RunControl& control) {
    const auto prepared = prepare(measured, control);
    const UnitList units = findUnits(*prepared, resolveSkips(*m_source, measured));
    const QuantizationConfig config = withPrecisionsResolved(*m_source, measured);
    const Statistics& ranges = statistics(*prepared, units, config, control);
    return std::make_shared<const Plan>(resolve(prepared, units, ranges, config, control, false));
}

void Pipeline::clear() {
    m_prepared.clear();
    m_ranges.clear();
    m_tensorRanges.clear();
    m_channelMaxima.clear();
    m_refinements.clear();
    m_quantizers.clear();
}

}  // namespace quantloupe
