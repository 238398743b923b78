// SPDX-License-Identifier: Apache-2.0
// Targets for models, and for files that are applied to one.

#include <algorithm>

#include "config/config_json.h"
#include "config/presets.h"
#include "config/skip_rules.h"
#include "cost/latency_file.h"
#include "data/random_dataset.h"
#include "interchange/file_format.h"
#include "interchange/gather.h"
#include "model/assumed_sizes.h"
#include "session/project/project_file.h"
#include "session/session.h"
#include "support.h"
#include "targets.h"

namespace quantloupe::fuzz {
namespace {

const SessionOptions kOneThread = {.threads = 1, .memory = 64 << 20};

/// The states of all layers, which need no data.
void evaluateStates(LoadedModel model, const QuantizationConfig& config) {
    Session session(std::move(model), kOneThread);
    const EvaluationPtr evaluation = session.evaluate(config, Depth::States);
    for (const LayerResult& layer : evaluation->layers)
        require(layer.state == LayerState::Quantized || !layer.reason.empty(),
                "a float layer without a reason");
}

/// The accuracy and all metrics of a network with small inputs; `exports`: also all exports, which take
/// longer.
void evaluateOnRandomSamples(LoadedModel model, const QuantizationConfig& config, bool exports) {
    constexpr std::int64_t kMostValues = 1 << 14;
    for (Dims dims : assumedInputDims(*model.graph)) {
        std::ranges::replace(dims, 0, 1);  // a sample of an empty batch is not empty
        if (elementCount(dims) > kMostValues) return;
    }
    const DatasetPtr samples = randomDataset(*model.graph, 2, 1);
    Session session(std::move(model), kOneThread);
    session.setData(samples);
    session.evaluate(config);
    if (!exports) return;
    for (const std::string& name : formatNames(false))
        mayRefuse([&] {
            const FileFormat& format = formatNamed(name, false);
            ExportSource source = gatherExport(session, config, format);
            source.model = "model.onnx";
            source.output = "model" + format.ending;
            exportTo(format, source);
        });
    mayRefuse([&] { modelBytes(*session.quantizedModel(config)); });
}

}  // namespace

void models(std::string_view bytes) {
    mayRefuse([&] {
        const LoadedModel model = parseModel(bytes.data(), bytes.size());
        mayRefuse([&] {
            const std::string written = modelBytes(*model.graph);
            const LoadedModel again = parseModel(written.data(), written.size());
            require(again.graph->inputs().size() == model.graph->inputs().size() &&
                        again.graph->outputs().size() == model.graph->outputs().size(),
                    "a model with other inputs or outputs after it was written");
        });
        mayRefuse([&] { evaluateStates(model, {}); });
        QuantizationConfig config;
        setConfigKey(config, "transforms.simplify", "true");
        setConfigKey(config, "transforms.equalization.profile", "quantloupe");
        mayRefuse([&] { evaluateStates(model, config); });
        const bool exports = std::hash<std::string_view>()(bytes) % 8 == 0;
        mayRefuse([&] { evaluateOnRandomSamples(model, config, exports); });
    });
}

void configurations(std::string_view bytes) {
    LoadedModel model = smallModel();
    mayRefuse([&] {
        const QuantizationConfig config = configFromJson(bytes);
        require(configFromJson(configToJson(config)) == config, "a configuration changes when it is written");
        evaluateStates(std::move(model), config);
    });
}

void imports(std::string_view bytes) {
    static const GraphPtr graph = smallModel().graph;
    const MemoryFile file(bytes);
    for (const std::string& name : formatNames(true)) {
        mayRefuse([&] {
            const ImportResult result = importFile(formatNamed(name, true), graph, {}, file.path());
            resolveSkips(*graph, result.config);
            require(configFromJson(configToJson(result.config)) == result.config,
                    "an imported configuration that cannot be written");
        });
    }
}

void profiles(std::string_view bytes) {
    mayRefuse([&] {
        const LatencyFile file = parseLatency(bytes);
        for (const LatencyRow& row : file.rows) require(row.ms >= 0 && row.ms <= 1e9, "an impossible time");
    });
}

void projects(std::string_view bytes) {
    const std::filesystem::path path = "/folder/input.quantloupe";
    mayRefuse([&] {
        const Project read = projectFromJson(bytes, path);
        const std::string written = projectToJson(read, path);
        require(projectToJson(projectFromJson(written, path), path) == written,
                "a project changes when it is written");
    });
}

}  // namespace quantloupe::fuzz
