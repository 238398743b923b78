// SPDX-License-Identifier: Apache-2.0
// How the time of a first evaluation with all layer metrics, and of one toggle, grows with the number of
// workers and of samples. Every measurement is a process of its own. Usage: scaling_bench MODEL DATA
// CALIBRATION_DATA [MOST_SAMPLES [MEMORY_MIB]]. If there are fewer samples in DATA, they are repeated.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/error.h"
#include "config/layer_choices.h"
#include "config/presets.h"
#include "data/image_input.h"
#include "session/session.h"
#include "session/stopwatch.h"

using namespace quantloupe;

namespace {

struct Measured {
    double first = 0, toggle = 0;  ///< seconds
    long peakMib = 0;
};

struct Files {
    const char *model, *data, *calibration;
    std::optional<std::size_t> memory;  ///< bytes
};

DatasetPtr repeated(const DatasetPtr& data, std::size_t samples) {
    std::vector<std::size_t> indices(samples);
    for (std::size_t i = 0; i < samples; ++i) indices[i] = i % data->size();
    return subset(data, std::move(indices));
}

Measured evaluate(const Files& files, int workers, std::size_t samples) {
    const Stopwatch first;
    Session session(loadModel(files.model), {.threads = workers, .memory = files.memory});
    const auto specs = inputSpecsOf(session.graph());
    const auto beside = preprocessBeside(files.model);
    const Preprocess preprocess = beside ? loadPreprocess(*beside) : Preprocess{};
    session.setData(repeated(openDataset(files.data, specs, preprocess), samples),
                    openDataset(files.calibration, specs, preprocess));
    const QuantizationConfig config = presetConfig("default");
    const EvaluationPtr evaluation = session.evaluate(config, Depth::Metrics);
    Measured measured{first.seconds()};

    std::vector<std::string> quantized;
    for (const LayerResult& layer : evaluation->layers)
        if (layer.state == LayerState::Quantized) quantized.push_back(layer.name);
    if (quantized.empty()) failInput("no layer is quantized");
    const Stopwatch toggle;
    session.evaluate(withLayersSkipped(config, {quantized[quantized.size() / 2]}), Depth::Metrics);
    measured.toggle = toggle.seconds();
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    measured.peakMib = used.ru_maxrss >> 10;
    return measured;
}

/// Runs evaluate() in a new process, so that neither caches nor the peak of memory are shared.
Measured measure(const Files& files, int workers, std::size_t samples) {
    int ends[2];
    if (::pipe(ends) != 0) fail(ErrorKind::Io, "no pipe for the result");
    const pid_t child = ::fork();
    if (child == 0) {
        try {
            const Measured measured = evaluate(files, workers, samples);
            ::_exit(::write(ends[1], &measured, sizeof measured) == sizeof measured ? 0 : 1);
        } catch (const std::exception& error) {
            fmt::print(stderr, "{}\n", error.what());
            ::_exit(1);
        }
    }
    ::close(ends[1]);
    Measured measured;
    const bool complete = ::read(ends[0], &measured, sizeof measured) == sizeof measured;
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    if (!complete) fail(ErrorKind::Io, "a measurement failed");
    return measured;
}

void scaling(const Files& files, std::size_t most) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    const std::size_t some = std::min<std::size_t>(1000, most);
    fmt::print("{} samples\nworkers   first s  efficiency   toggle s  efficiency\n", some);
    Measured alone;
    for (int workers = 1; workers <= cores; workers *= 2) {
        const Measured now = measure(files, workers, some);
        if (workers == 1) alone = now;
        fmt::print("{:7} {:9.3f} {:9.0f} % {:10.3f} {:9.0f} %\n", workers, now.first,
                   100 * alone.first / (workers * now.first), now.toggle,
                   100 * alone.toggle / (workers * now.toggle));
        std::fflush(stdout);
    }
    fmt::print("\n{} workers\nsamples   first s  ms/sample   toggle s  ms/sample   peak MiB\n", cores);
    for (std::size_t samples = 100; samples <= most; samples *= 10) {
        for (const std::size_t factor : {1, 3}) {
            const std::size_t count = samples * factor;
            if (count > most) break;
            const Measured now = measure(files, cores, count);
            const double each = 1000 / static_cast<double>(count);
            fmt::print("{:7} {:9.3f} {:10.3f} {:10.3f} {:10.3f} {:10}\n", count, now.first, each * now.first,
                       now.toggle, each * now.toggle, now.peakMib);
            std::fflush(stdout);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: scaling_bench MODEL DATA CALIBRATION_DATA [MOST_SAMPLES [MEMORY_MIB]]\n");
        return 2;
    }
    try {
        std::optional<std::size_t> memory;
        if (argc > 5) memory = std::stoul(argv[5]) << 20;
        scaling({argv[1], argv[2], argv[3], memory}, argc > 4 ? std::stoul(argv[4]) : 10'000);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
