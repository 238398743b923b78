// SPDX-License-Identifier: Apache-2.0
#include "session/session.h"

#include "base/error.h"
#include "config/config_json.h"
#include "model/quantized_model.h"
#include "quantize/qdq_writer.h"
#include "session/session_parts.h"

namespace quantloupe {

Session::Session(LoadedModel model, SessionOptions options)
    : m_parts(std::make_unique<SessionParts>(*this, std::move(model), std::move(options))) {}

Session::~Session() = default;

const Graph& Session::graph() const { return *m_parts->model.graph; }
const LoadedModel& Session::model() const { return m_parts->model; }
ProcessGroup* Session::group() const { return m_parts->options.group.get(); }
bool Session::hasData() const { return m_parts->samples.available(); }
bool Session::randomInputs() const { return m_parts->samples.random(); }
const std::string& Session::dataNotice() const { return m_parts->samples.notice(); }
const std::string& Session::mixingNotice() const { return m_parts->samples.mixingNotice(); }

Task Session::task() const {
    const DatasetPtr& data = m_parts->samples.evaluation();
    const auto labels = data ? data->taskLabels() : nullptr;
    return labels ? labels->task : Task::Automatic;
}
void Session::clearCache() { m_parts->clear(); }
void Session::limitCaches() { m_parts->limitCaches(); }
std::size_t Session::cacheBytes() const { return m_parts->cacheBytes(); }
std::size_t Session::cacheBudget() const { return m_parts->memoryBudget; }
std::size_t Session::activationBytes() const { return m_parts->runner.activations().bytes(); }
std::size_t Session::activationBudget() const { return m_parts->runner.activations().budget(); }
std::size_t Session::packedWeightBytes() const { return m_parts->runner.kernels()->bytes(); }

WorkDone Session::workDone() const {
    WorkDone work = m_parts->work;
    work.calibrated = m_parts->pipeline.tensorsCalibrated();
    work.refined = m_parts->pipeline.layersRefined();
    return work;
}

void Session::setData(DatasetPtr evaluation, DatasetPtr calibration) {
    m_parts->samples.set(std::move(evaluation), std::move(calibration));
    m_parts->clear();
}

void Session::useRandomInputs(std::size_t samples) try {
    m_parts->samples.setRandom(samples);
    m_parts->clear();
} catch (...) {
    m_parts->rethrowWithModel();
}

void Session::setMetric(std::optional<UserMetric> metric) {
    m_parts->metric.metric = std::move(metric);
    ++m_parts->metric.changes;
    m_parts->clearMetric();
}

bool Session::hasMetric() const { return m_parts->metric.metric.has_value(); }

std::size_t Session::calibrationSampleCount(const QuantizationConfig& config) const {
    m_parts->samples.require();
    return m_parts->samples.calibrationFor(config).batches.samples();
}

std::size_t Session::sampleCount() const {
    m_parts->samples.require();
    return m_parts->samples.evaluation()->size();
}

std::size_t Session::samplesTogether() const { return m_parts->samples.together(); }

std::string Session::sampleName(std::size_t sample) const {
    m_parts->samples.require();
    return m_parts->samples.evaluation()->sampleName(sample);
}

std::shared_ptr<const Prepared> Session::prepare(const QuantizationConfig& config) try {
    return m_parts->prepare(config);
} catch (...) {
    m_parts->rethrowWithModel();
}

void Session::findEvaluatedPart() { m_parts->samples.findPart(); }

std::shared_ptr<const Plan> Session::plan(const QuantizationConfig& config, const CancelToken& cancel) try {
    m_parts->samples.require();
    if (m_parts->samples.random())
        failInput(
            "a quantized model needs ranges from real data, not from random inputs: open calibration data "
            "first");
    m_parts->samples.requireEvaluable();
    requireFloatModel(*m_parts->model.graph, "quantization");
    return m_parts->withFreedMemory([&] { return m_parts->plan(config, m_parts->runner.control(cancel)); });
} catch (...) {
    m_parts->rethrowWithModel();
}

GraphPtr Session::quantizedModel(const QuantizationConfig& config, const CancelToken& cancel) try {
    return writeQdq(*plan(config, cancel), configToJson(config), config.exports);
} catch (...) {
    m_parts->rethrowWithModel();
}

}  // namespace quantloupe
