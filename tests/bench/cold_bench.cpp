// SPDX-License-Identifier: Apache-2.0
// A cold start in a process of its own: the time from opening a model until each result of the first
// evaluation. Usage: cold_bench MODEL DATA CALIBRATION_DATA [PRESET]. Prints seconds, and seconds of
// processor time of all threads, which other work on the machine disturbs less.
#include <fmt/format.h>
#include <sys/resource.h>

#include "base/error.h"
#include "config/presets.h"
#include "data/image_input.h"
#include "session/session.h"
#include "session/stopwatch.h"

using namespace quantloupe;

namespace {

rusage usage() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used;
}

double processorSeconds() {
    const rusage used = usage();
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class Report {
  public:
    void line(const char* what) const {
        fmt::print("{:28} {:7.3f} s {:7.3f} s of processor time\n", what, m_watch.seconds(),
                   processorSeconds());
    }

  private:
    Stopwatch m_watch;
};

void start(const char* model, const char* data, const char* calibration, const char* preset) {
    const Report report;
    Session session(loadModel(model));
    const auto specs = inputSpecsOf(session.graph());
    const auto beside = preprocessBeside(model);
    const Preprocess preprocess = beside ? loadPreprocess(*beside) : Preprocess{};
    session.setData(openDataset(data, specs, preprocess), openDataset(calibration, specs, preprocess));
    report.line("model and data opened");

    int shown = 0;
    EvaluationObserver observer;
    observer.updated = [&](const EvaluationPtr& evaluation) {
        if (shown < 1) report.line("graph");
        if (shown < 2 && evaluation->floating) report.line("first accuracy in float");
        if (shown < 3 && evaluation->quantized) report.line("first quantized accuracy");
        if (shown < 4 && evaluation->quantized && !evaluation->rough) report.line("accuracy on all samples");
        shown = evaluation->quantized ? (evaluation->rough ? 3 : 4) : evaluation->floating ? 2 : 1;
    };
    const EvaluationPtr evaluation = session.evaluate(presetConfig(preset), Depth::Metrics, observer);
    report.line("metrics of all layers");
    const StageSeconds& seconds = evaluation->seconds;
    fmt::print(
        "{} samples, {} for calibration; transforms {:.3f} s, calibration {:.3f} s, float {:.3f} s, "
        "quantized {:.3f} s, metrics {:.3f} s; peak memory {} MiB\n",
        evaluation->samples, evaluation->calibrationSamples, seconds.transform, seconds.calibrate,
        seconds.floating, seconds.quantized, seconds.metrics, usage().ru_maxrss >> 10);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: cold_bench MODEL DATA CALIBRATION_DATA [PRESET]\n");
        return 2;
    }
    try {
        start(argv[1], argv[2], argv[3], argc > 4 ? argv[4] : "default");
    } catch (const Error& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
