// SPDX-License-Identifier: Apache-2.0
// Forward passes on one thread: the float network, and the quantized one in integers and in simulation. Reads
// lines with "float", "integer" or "simulation" and the seconds to measure, and answers each with images per
// second, so that compare_throughput.py can alternate with other programs. Usage: throughput_bench MODEL.
// Samples are random.
#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <map>
#include <string>

#include "base/error.h"
#include "config/presets.h"
#include "data/random_dataset.h"
#include "quantize/plan.h"
#include "session/evaluation_data.h"

using namespace quantloupe;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

struct Network {
    std::shared_ptr<const Program> program;
    Workspace workspace;
    std::vector<std::vector<std::byte>> samples;

    Network(const ProgramSpec& spec, const SampleBatches& batches)
        : program(Program::compile(spec)), workspace(program), samples(batches.load(0)) {
        const auto inputs = program->graph().inputs();
        for (std::size_t i = 0; i < inputs.size(); ++i)
            if (program->reads(inputs[i])) workspace.bind(inputs[i], samples[i].data());
    }
};

void serve(const std::string& model) {
    SessionOptions options{1, 16, 8};
    Session session(loadModel(model), options);
    session.setData(randomDataset(session.graph(), 16, 1), randomDataset(session.graph(), 8, 2));
    QuantizationConfig config = presetConfig("onnxruntime-u8s8");
    config.skipTail = false;
    session.evaluate(config, Depth::Accuracy);
    Plan plan = *session.plan(config);
    const SampleBatches& batches = evaluationBatches(session);
    std::map<std::string, Network> networks;
    const auto endsOf = [](const Graph& graph) {
        return std::vector<TensorId>(graph.outputs().begin(), graph.outputs().end());
    };
    const GraphPtr source = session.model().graph, prepared = plan.prepared->graph;
    networks.try_emplace("float", floatProgram(source, batches.inputsOf(*source), endsOf(*source)), batches);
    for (const auto& [name, arithmetic] :
         {std::pair("integer", bestArithmetic()), std::pair("simulation", Arithmetic::Simulation)}) {
        plan.arithmetic = arithmetic;
        networks.try_emplace(name, plan.networkSpec(batches.inputsOf(*prepared), endsOf(*prepared)), batches);
    }
    fmt::print("ready, batches of {}\n", batches.batch());
    std::fflush(stdout);
    std::string name;
    double seconds = 0;
    while (std::cin >> name >> seconds) {
        Network& network = networks.at(name);
        network.workspace.run();
        std::size_t runs = 0;
        const auto start = Clock::now();
        do {
            network.workspace.run();
            ++runs;
        } while (since(start) < seconds);
        fmt::print("{:.4g}\n", static_cast<double>(runs * batches.batch()) / since(start));
        std::fflush(stdout);
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        fmt::print(stderr, "usage: throughput_bench MODEL\n");
        return 2;
    }
    try {
        serve(argv[1]);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
