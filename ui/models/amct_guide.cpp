// SPDX-License-Identifier: Apache-2.0
#include "models/amct_guide.h"

#include <QApplication>
#include <QPointer>
#include <QSettings>
#include <algorithm>
#include <cmath>

#include "config/presets.h"
#include "models/config_difference.h"
#include "results/task_metric.h"

namespace quantloupe::ui {

namespace {

const QString kPointsKey = QStringLiteral("amct/largestDrop"),
              kDecibelsKey = QStringLiteral("amct/leastSqnr");

bool makesSense(const AmctTarget& target) {
    return std::isfinite(target.points) && std::isfinite(target.decibels) && target.points >= 0 &&
           target.points <= 100;
}

/// Returns the results on the open data, which have the same number of samples and the same float accuracy.
std::vector<AmctMeasurement> measuredOn(const Evaluation& present, const EvaluationHistory& history) {
    std::vector<AmctMeasurement> measured;
    if (!present.floating) return measured;
    const auto rateNow = taskRate(*present.floating);
    for (const MeasuredConfig& entry : history.entries()) {
        const auto rate = taskRate(entry.floating);
        const bool sameKind = rate ? rateNow && rate->metric == rateNow->metric : !rateNow.has_value();
        const bool sameData = !entry.data.empty()
                                  ? entry.data == present.data.hex()
                                  : entry.floating.samples == present.samples && sameKind &&
                                        (present.rough || !rate || rate->value == rateNow->value);
        if (entry.otherModel || !sameData) continue;
        measured.emplace_back(entry.config,
                              amctNumber(entry.floating, entry.quantized, present.randomInputs));
    }
    return measured;
}

}  // namespace

AmctGuide::AmctGuide(Document* document, QObject* parent) : QObject(parent), m_document(document) {
    const QSettings settings;
    AmctTarget kept{settings.value(kPointsKey, m_target.points).toDouble(),
                    settings.value(kDecibelsKey, m_target.decibels).toDouble()};
    if (makesSense(kept)) m_target = kept;
    connect(&m_tell, &QTimer::timeout, this, &AmctGuide::changed);
    connect(document, &Document::configChanged, this, &AmctGuide::outdate);
    connect(document, &Document::layersChanged, this, &AmctGuide::outdate);
    connect(document, &Document::evaluationChanged, this, &AmctGuide::outdate);
    connect(document, &Document::historyChanged, this, &AmctGuide::outdate);
    connect(document, &Document::modelChanged, this, &AmctGuide::forgetTrials);
    connect(document, &Document::dataChanged, this, &AmctGuide::forgetTrials);
    // The query was dropped by an edit, Cancel, or another model.
    connect(document->job(), &EvaluationJob::queueChanged, this, [this] {
        const auto queue = m_document->job()->queue();
        if (m_trying && std::ranges::none_of(queue, [](const QueuedWork& work) {
                return work.slot == QuerySlot::ParameterVariants;
            })) {
            m_trying = false;
            m_tell.start();
        }
    });
}

void AmctGuide::outdate() {
    m_outdated = true;
    m_tell.start();
}

void AmctGuide::forgetTrials() {
    m_trials.clear();
    outdate();
}

void AmctGuide::update() {
    if (!std::exchange(m_outdated, false)) return;
    const QuantizationConfig& config = m_document->config();
    const EvaluationPtr evaluation = m_document->evaluation();
    m_measured = evaluation ? measuredOn(*evaluation, m_document->history()) : std::vector<AmctMeasurement>();
    m_measured.insert(m_measured.end(), m_trials.begin(), m_trials.end());
    m_candidates = m_document->hasModel() ? skipCandidates(*m_document->graph(), m_document->layers())
                                          : std::vector<SkipCandidates>();
    m_variants = amctVariants(config);

    AmctFacts facts;
    facts.config = config;
    facts.measured = m_measured;
    facts.target = m_target;
    for (const AmctVariant& variant : m_variants) facts.variants.push_back(variant.edit.next);
    for (const SkipCandidates& candidates : m_candidates) facts.candidates += candidates.quantized.size();
    const auto& layers = m_document->layers();
    if (!layers.empty())
        facts.quantizedLayers = static_cast<std::size_t>(std::ranges::count_if(
            layers, [](const LayerResult& layer) { return layer.state == LayerState::Quantized; }));
    m_state = amctState(facts);
}

const AmctState& AmctGuide::state() {
    update();
    return m_state;
}

const std::vector<SkipCandidates>& AmctGuide::candidates() {
    update();
    return m_candidates;
}

const std::vector<AmctVariant>& AmctGuide::variants() {
    update();
    return m_variants;
}

std::optional<AmctNumber> AmctGuide::numberOf(const QuantizationConfig& config) {
    update();
    const AmctMeasurement* measurement = findMeasurement(m_measured, config);
    return measurement ? measurement->number : std::nullopt;
}

bool AmctGuide::tried(const QuantizationConfig& config) {
    update();
    return findMeasurement(m_measured, config) != nullptr;
}

QStringList AmctGuide::differences() const {
    QuantizationConfig amct = presetConfig(kAmctPreset), initial = amctInitial(m_document->config());
    for (QuantizationConfig* config : {&amct, &initial}) {
        config->preset.clear();  // the name of the preset is not a difference
        config->exports = {};
        config->layers.clear();
    }
    return configDifference(amct, initial);
}

bool AmctGuide::setTarget(const AmctTarget& target) {
    if (!makesSense(target)) return false;
    m_target = target;
    QSettings settings;
    settings.setValue(kPointsKey, target.points);
    settings.setValue(kDecibelsKey, target.decibels);
    outdate();
    return true;
}

void AmctGuide::tryVariants() {
    std::vector<QuantizationConfig> configs;
    for (const AmctVariant& variant : variants())
        if (!tried(variant.edit.next)) configs.push_back(variant.edit.next);
    if (configs.empty()) return;
    const auto found = [self = QPointer<AmctGuide>(this),
                        version = m_document->config()](const AmctMeasurement& measurement) {
        QMetaObject::invokeMethod(
            qApp,
            [self, version, measurement] {
                // A result that arrives after a change of data or model belongs to the previous ones.
                if (!self || !self->m_trying || self->m_document->config() != version) return;
                self->m_trials.push_back(measurement);
                self->outdate();
            },
            Qt::QueuedConnection);
    };
    m_trying = true;
    m_document->job()->query(
        QuerySlot::ParameterVariants,
        [configs, found](Session& session, const CancelToken& cancel) -> std::function<void()> {
            measureVariants(session, configs, found, cancel);
            return {};
        },
        [self = QPointer<AmctGuide>(this)](const QString& refusal) {
            if (self) self->m_document->say(MessageKind::Error, refusal);
        });
    m_tell.start();
}

void AmctGuide::stopTrying() { m_document->job()->dropQuery(QuerySlot::ParameterVariants); }

}  // namespace quantloupe::ui
