// SPDX-License-Identifier: Apache-2.0
// A network whose activations exceed the memory: the time until a first estimate, the cost of toggling a
// layer with all, half and none of the memory for its activations, a complete leave-one-out, and the memory
// that it takes. Usage: large_bench MODEL DATA CALIBRATION_DATA [SAMPLES]. Prints one line per measurement.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>

#include "base/error.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "data/image_input.h"
#include "session/session.h"
#include "session/studies/leave_one_out.h"

using namespace quantloupe;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Anonymous memory (not backed by a file) in MiB.
double anonymousMemory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    double kib = 0;
    while (status >> word)
        if (word == "RssAnon:") status >> kib;
    return kib / 1024;
}

QuantizationConfig plain() {
    QuantizationConfig config = presetConfig("default");
    config.skipTail = false;
    return config;
}

struct Inputs {
    std::filesystem::path model, data, calibration;
    std::size_t samples;
};

std::unique_ptr<Session> open(const Inputs& inputs, std::optional<std::size_t> memory) {
    SessionOptions options;
    options.samples = inputs.samples;
    options.memory = memory;
    auto session = std::make_unique<Session>(loadModel(inputs.model), options);
    const auto specs = inputSpecsOf(session->graph());
    const auto beside = preprocessBeside(inputs.model);
    const Preprocess preprocess = beside ? loadPreprocess(*beside) : Preprocess{};
    session->setData(openDataset(inputs.data, specs, preprocess),
                     openDataset(inputs.calibration, specs, preprocess));
    return session;
}

/// Seconds until the first estimate and until the final accuracy, without cached results.
void cold(Session& session, const char* what) {
    const auto start = Clock::now();
    double rough = 0;
    EvaluationObserver observer;
    observer.updated = [&](const EvaluationPtr& evaluation) {
        if (rough == 0 && evaluation->quantized) rough = since(start);
    };
    session.evaluate(plain(), Depth::Accuracy, observer);
    fmt::print("{}: rough answer {:.2f} s, accuracy {:.2f} s\n", what, rough, since(start));
}

void toggles(Session& session, const char* what, std::size_t count) {
    const EvaluationPtr base = session.evaluate(plain(), Depth::Accuracy);
    std::vector<std::string> layers;
    for (const LayerResult& layer : base->layers)
        if (layer.state == LayerState::Quantized && layer.macs > 0) layers.push_back(layer.name);
    std::shuffle(layers.begin(), layers.end(), std::mt19937(20261121));
    layers.resize(std::min(layers.size(), count));
    std::vector<double> seconds, roughs;
    for (const std::string& layer : layers) {
        const auto start = Clock::now();
        double rough = 0;
        EvaluationObserver observer;
        observer.updated = [&](const EvaluationPtr& evaluation) {
            if (rough == 0 && evaluation->quantized) rough = since(start);
        };
        session.evaluate(withLayersSkipped(plain(), {layer}), Depth::Accuracy, observer);
        seconds.push_back(since(start));
        roughs.push_back(rough);
    }
    const auto median = [](std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return values[values.size() / 2];
    };
    fmt::print(
        "{}: toggle median {:.2f} s (rough {:.2f} s), longest {:.2f} s; kept {} of {} MiB, anonymous {:.0f} "
        "MiB\n",
        what, median(seconds), median(roughs), *std::max_element(seconds.begin(), seconds.end()),
        session.activationBytes() >> 20, session.activationBudget() >> 20, anonymousMemory());
}

void measure(const Inputs& inputs) {
    std::size_t wanted = 0;
    {
        const auto session = open(inputs, {});
        cold(*session, "cold, first time (decoding)");
        session->clearCache();
        cold(*session, "cold");
        wanted = session->activationBytes();
        toggles(*session, "all memory", 12);
        const auto start = Clock::now();
        session->evaluate(plain(), Depth::Metrics);
        fmt::print("metrics of all layers: {:.2f} s\n", since(start));
        const LayerSweep sweep = leaveOneOut(*session, plain(), {0, {}});
        fmt::print("leave-one-out of {} layers: {:.2f} s\n", sweep.layers.size(), sweep.seconds);
    }
    {
        const auto session = open(inputs, wanted / 2);
        toggles(*session, "half of what one evaluation keeps", 12);
    }
    const auto session = open(inputs, 0);
    toggles(*session, "no memory", 6);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: large_bench MODEL DATA CALIBRATION_DATA [SAMPLES]\n");
        return 2;
    }
    try {
        measure({argv[1], argv[2], argv[3], argc > 4 ? std::strtoul(argv[4], nullptr, 10) : 256});
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
