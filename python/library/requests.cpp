// SPDX-License-Identifier: Apache-2.0
// Requests about a session: {"do": NAME, ...}. Each is a function of this file.

#include "requests.h"

#include <functional>
#include <limits>

#include "arrays.h"
#include "base/error.h"
#include "config/config_json.h"
#include "config/layer_choices.h"
#include "data/labeled_dataset.h"
#include "interchange/gather.h"
#include "model/sample_axes.h"
#include "picture/write_picture.h"
#include "session/project/task_json.h"
#include "sweep_json.h"
#include "tune_json.h"

namespace quantloupe::python {
namespace {

using cli::toJson;

QuantizationConfig configOf(const OrderedJson& request) {
    return configFromJson(request.at("config").get<std::string>());
}

std::filesystem::path pathOf(const OrderedJson& request) { return request.at("path").get<std::string>(); }

EvaluationObserver reportingTo(Job& job) {
    EvaluationObserver observer;
    observer.progress = [&job](const Progress& progress) {
        job.report(progress.stage, progress.done, progress.total);
    };
    return observer;
}

/// As analyze does: without data, random inputs.
Session& evaluable(Engine& engine) {
    if (!engine.session->hasData()) engine.session->useRandomInputs();
    return *engine.session;
}

Session& withData(Engine& engine) {
    if (!engine.session->hasData() || engine.session->randomInputs())
        failInput("there is no data: call set_data() first");
    return *engine.session;
}

OrderedJson open(Engine& engine, const OrderedJson& request, Job&) {
    SessionOptions options;
    options.threads = request.at("threads").get<int>();
    if (!request.at("memory_mib").is_null())
        options.memory = request.at("memory_mib").get<std::size_t>() << 20;
    const std::filesystem::path path = pathOf(request);
    LoadedModel model = loadModel(path);
    // Absolute, because Python may change the working directory.
    engine.inputs.add("the model", std::filesystem::absolute(path));
    for (const auto& file : model.dataFiles)
        engine.inputs.add("external data of the model", std::filesystem::absolute(file));
    if (const auto beside = preprocessBeside(path)) {
        engine.preprocess = loadPreprocess(*beside);
        engine.inputs.add("the model's preprocessing file", std::filesystem::absolute(*beside));
    }
    engine.session = std::make_unique<Session>(std::move(model), options);
    const Graph& graph = engine.session->graph();
    OrderedJson reply = {{"notices", engine.session->model().notices}, {"layers", OrderedJson::array()}};
    for (const Node& node : graph.nodes()) reply["layers"].push_back(node.name);
    for (const auto& [key, ids] : {std::pair("inputs", graph.inputs()), {"outputs", graph.outputs()}}) {
        reply[key] = OrderedJson::array();
        for (const TensorId id : ids) {
            const TensorInfo& tensor = graph.tensor(id);
            reply[key].push_back({{"name", tensor.name},
                                  {"type", dataTypeName(tensor.type)},
                                  {"shape", toJson(tensor.shape)}});
        }
    }
    const auto axes = sampleAxes(graph);
    for (std::size_t i = 0; i < axes.size(); ++i)
        reply["inputs"][i]["sample_axis"] = axes[i] ? OrderedJson(*axes[i]) : OrderedJson();
    return reply;
}

/// A file or folder, or arrays with labels; null: no data.
DatasetPtr datasetOf(Engine& engine, const OrderedJson& data) {
    if (data.is_null()) return nullptr;
    const auto inputs = inputSpecsOf(engine.session->graph());
    if (data.contains("path")) return openDataset(pathOf(data), inputs, engine.preprocess);
    const OrderedJson& labels = data.at("labels");
    return arrayDataset(arraysFrom(data.at("arrays")), labels.is_null() ? nullptr : arrayFrom(labels),
                        inputs);
}

TaskSettings taskOf(const OrderedJson& request) {
    const std::vector<std::string> otherKeys;
    const Json json = request.at("task");
    return taskFromJson(ObjectReader(json, "", otherKeys));
}

OrderedJson setData(Engine& engine, const OrderedJson& request, Job&) {
    const OrderedJson &evaluation = request.at("data"), &calibration = request.at("calibration");
    const TaskSettings task = taskOf(request);
    DatasetPtr data = datasetOf(engine, evaluation);
    if (data) data = withTask(data, task, engine.preprocess);
    engine.session->setData(data, datasetOf(engine, calibration));
    const OrderedJson& calibrating = calibration.is_null() ? evaluation : calibration;
    engine.calibrationData.clear();
    if (!calibrating.is_null() && calibrating.contains("path")) engine.calibrationData = pathOf(calibrating);
    for (const OrderedJson& given : {evaluation, calibration})
        if (!given.is_null() && given.contains("path")) engine.inputs.add("the data", pathOf(given));
    engine.inputs.add("the labels", task.labels);
    engine.inputs.add("the class names", task.classNames);
    return {{"notice", engine.session->dataNotice()},
            {"samples", engine.session->hasData() ? engine.session->sampleCount() : 0},
            {"together", engine.session->samplesTogether()}};
}

OrderedJson evaluate(Engine& engine, const OrderedJson& request, Job& job) {
    const auto name = request.at("depth").get<std::string>();
    const Depth depth = name == "states"     ? Depth::States
                        : name == "accuracy" ? Depth::Accuracy
                                             : Depth::Metrics;
    Session& session = depth == Depth::States ? *engine.session : evaluable(engine);
    job.evaluation = session.evaluate(configOf(request), depth, reportingTo(job), job.cancelToken());
    return toJson(*job.evaluation);
}

OrderedJson leaveOneOut(Engine& engine, const OrderedJson& request, Job& job) {
    SweepOptions options{0, {}};  // all layers on all samples
    std::size_t done = 0;
    options.updated = [&](const LayerSweep& sweep) {
        job.report("leave-one-out", std::min(++done, sweep.layers.size()), sweep.layers.size());
    };
    Session& session = withData(engine);
    return toJson(quantloupe::leaveOneOut(session, configOf(request), options, job.cancelToken()),
                  session.graph());
}

TuneOptions tuneOptions(const OrderedJson& request) {
    TuneOptions options;
    const OrderedJson& drop = request.at("max_drop");
    options.maxDrop = drop.is_null() ? std::numeric_limits<double>::infinity() : drop.get<double>();
    if (const OrderedJson& budget = request.at("budget"); !budget.is_null())
        options.budget = budget.get<double>();
    for (const OrderedJson& name : request.at("precisions"))
        options.precisions.push_back(precisionNamed(name.get<std::string>()));
    options.cost = usualCost(!options.precisions.empty(), false);
    if (const OrderedJson& cost = request.at("cost"); !cost.is_null()) {
        const auto name = cost.get<std::string>();
        const auto kind = choiceNamed(costsWithoutProfile(), name);  // profiles are files of the command line
        if (!kind)
            failInput("unknown cost '{}'; available: {}", name,
                      fmt::join(choiceNames(costsWithoutProfile()), ", "));
        options.cost = *kind;
    }
    options.allowFloat = request.at("allow_float").get<bool>();
    options.maxSteps = request.at("max_steps").get<std::size_t>();
    options.maxSeconds = request.at("max_seconds").get<double>();
    options.transforms = request.at("transforms").get<bool>();
    return options;
}

OrderedJson tune(Engine& engine, const OrderedJson& request, Job& job) {
    TuneOptions options = tuneOptions(request);
    OrderedJson best;
    options.progress = [&](const TuneProgress& progress) {
        job.report(describe(progress.stage), progress.done, progress.total, best);
    };
    options.improved = [&](const TuneResult& result) {
        const TunePoint& point = result.curve[result.chosen];
        best = {{"drop", point.drop},        {"metric", point.metric}, {"layers", point.layers},
                {"reached", result.reached}, {"cost", point.amount},   {"evaluations", result.evaluations}};
    };
    const TuneResult result =
        quantloupe::tune(withData(engine), configOf(request), options, job.cancelToken());
    OrderedJson reply = toJson(result);
    for (std::size_t i = 0; i < result.curve.size(); ++i)
        reply["curve"][i]["config"] = configToJson(result.curve[i].config);
    reply["samples"] = result.samples;
    reply["notices"] = result.notices;
    reply["seconds"] = result.seconds;
    return reply;
}

OrderedJson outputs(Engine& engine, const OrderedJson& request, Job& job) {
    std::optional<QuantizationConfig> config;
    if (!request.at("config").is_null()) config = configOf(request);
    Session& session = withData(engine);
    const std::vector<ConstantPtr> arrays = session.outputs(config, job.cancelToken());
    auto held = std::make_unique<Held>();
    OrderedJson list = OrderedJson::array();
    for (std::size_t o = 0; o < arrays.size(); ++o)
        list.push_back(
            describeArray(session.graph().tensor(session.graph().outputs()[o]).name, arrays[o], *held));
    return {{"arrays", std::move(list)}, {"held", reinterpret_cast<std::uintptr_t>(held.release())}};
}

OrderedJson exportConfig(Engine& engine, const OrderedJson& request, Job& job) {
    const FileFormat& format = formatNamed(request.at("format").get<std::string>(), false);
    const std::filesystem::path path = pathOf(request);
    engine.inputs.checkOutput(path);
    ExportSource source =
        gatherExport(*engine.session, configOf(request), format, reportingTo(job), job.cancelToken());
    source.output = path;
    source.calibrationData = engine.calibrationData;
    source.preprocess = engine.preprocess;
    const ExportResult exported = exportTo(format, source);
    OrderedJson files = OrderedJson::array();
    for (const auto& file : writeExport(exported, path, engine.inputs)) files.push_back(file.string());
    return {{"files", files}, {"notices", exported.notices}, {"limits", format.limits}};
}

OrderedJson saveQuantized(Engine& engine, const OrderedJson& request, Job& job) {
    const std::filesystem::path path = pathOf(request);
    engine.inputs.checkOutput(path);
    return saveQuantizedModel(withData(engine), configOf(request), path, job.cancelToken());
}

OrderedJson draw(Engine& engine, const OrderedJson& request, Job& job) {
    const OrderedJson& source = request.at("evaluation");
    std::vector<LayerResult> layers;
    if (!source.is_null())
        // NOLINTNEXTLINE(performance-no-int-to-ptr): Python passes the address of the job
        layers = reinterpret_cast<const Job*>(source.get<std::uintptr_t>())->evaluation->layers;
    const LayerPaint paint =
        request.at("paint") == "sensitivity" ? LayerPaint::Sensitivity : LayerPaint::State;
    LayoutOptions layout;
    layout.tidy = layout.compact = true;
    layout.arrangement = Arrangement::Columns;
    layout.viewWidth = 1600, layout.viewHeight = 1000;
    return graphToSvg(engine.session->graph(), layers, job.cancelToken(), layout, paint);
}

}  // namespace

OrderedJson perform(Engine& engine, const OrderedJson& request, Job& job) {
    static const std::map<std::string, std::function<OrderedJson(Engine&, const OrderedJson&, Job&)>>
        requests = {{"open", open},
                    {"set_data", setData},
                    {"evaluate", evaluate},
                    {"leave_one_out", leaveOneOut},
                    {"tune", tune},
                    {"outputs", outputs},
                    {"export", exportConfig},
                    {"save_quantized", saveQuantized},
                    {"draw", draw}};
    return requests.at(request.at("do").get<std::string>())(engine, request, job);
}

}  // namespace quantloupe::python
