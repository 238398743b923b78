// SPDX-License-Identifier: Apache-2.0
#include "open_session.h"

#include <chrono>

#include "analysis/user_metric.h"
#include "data/labeled_dataset.h"
#include "output_file.h"
#include "progress_line.h"
#include "runtime/program/shard.h"
#include "timed_dataset.h"

namespace quantloupe::cli {
Preprocess preprocessOf(const Options& options) {
    if (options.preprocess.native().starts_with('{')) return preprocessFromJson(options.preprocess.native());
    if (!options.preprocess.empty()) return loadPreprocess(options.preprocess);
    const auto beside = preprocessBeside(options.model);
    return beside ? loadPreprocess(*beside) : Preprocess{};
}

OpenedSession openSession(const Options& options, const OpenOptions& how) {
    const auto start = std::chrono::steady_clock::now();
    LoadedModel model = loadModel(options.model);
    startOutputs(options, model);
    for (const std::string& text : model.notices) notice(text);

    SessionOptions sessionOptions;
    sessionOptions.threads = options.threads;
    sessionOptions.samples = options.samples;
    sessionOptions.group = options.group;
    if (options.memoryMiB)  // processes of a group share it
        sessionOptions.memory = (*options.memoryMiB << 20) / shardOf(options.group.get()).count;
    if (options.simulate) sessionOptions.arithmetic = Arithmetic::Simulation;
    OpenedSession opened;
    opened.session = std::make_unique<Session>(std::move(model), sessionOptions);
    opened.loadSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.data.empty() && options.task != TaskSettings{})
        throw UsageError(
            "--labels, --class-names, --task, --decoder, --class-output and --category-index describe the "
            "evaluation data: add --data");
    if (options.data.empty() && options.calibrationData.empty()) {
        if (!how.randomInputs) return opened;
        opened.session->useRandomInputs();
        notice(opened.session->dataNotice());
        return opened;
    }

    const Preprocess preprocess = preprocessOf(options);
    const auto specs = inputSpecsOf(opened.session->graph());
    DatasetPtr calibration;
    if (!options.calibrationData.empty())
        calibration = openDataset(options.calibrationData, specs, preprocess);
    if (!options.data.empty())
        opened.data = std::make_shared<TimedDataset>(
            withTask(openDataset(options.data, specs, preprocess), options.task, preprocess));
    if (!opened.data && !how.wholeData)
        notice(
            "no evaluation data: the network is evaluated on the calibration samples, so its accuracy can be "
            "better than on other samples");
    const DatasetPtr evaluation = opened.data ? opened.data : calibration;
    if (!calibration && how.wholeData) calibration = evaluation;
    if (calibration) opened.calibrationSize = calibration->size();
    opened.session->setData(evaluation, calibration);
    if (!opened.session->dataNotice().empty()) notice(opened.session->dataNotice());
    return opened;
}

UserMetric ownMetric(const Options& options) {
    MetricProgram program;
    program.program = options.metricProgram;
    program.arguments = options.metricArguments;
    program.lowerIsBetter = options.lowerIsBetter;
    return programMetric(std::move(program));
}

void useMetricProgram(Session& session, const Options& options) {
    if (options.metricProgram.empty()) return;
    if (!session.hasData() || session.randomInputs())
        throw UsageError("--metric-program needs samples: add --data");
    session.setMetric(ownMetric(options));
}

}  // namespace quantloupe::cli
