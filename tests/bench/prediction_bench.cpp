// SPDX-License-Identifier: Apache-2.0
// How well the effects of edits are predicted on any network. Usage: prediction_bench MODEL DATA
// CALIBRATION_DATA [PRESET [EDITS [SEED]]]. For the predictions that are shown, prints the rank correlation
// with the measured changes, how often the 80 % interval contained the change, and the errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/presets.h"
#include "support/demo.h"
#include "support/prediction_trial.h"

using namespace quantloupe;

namespace {

double median(std::vector<double> values) {
    if (values.empty()) return NAN;
    std::ranges::sort(values);
    return values[values.size() / 2];
}

void run(int argc, char** argv) {
    const auto session = test::openSession(argv[1], argv[2], argv[3]);
    const int edits = argc > 5 ? std::stoi(argv[5]) : 100;
    const unsigned seed = argc > 6 ? static_cast<unsigned>(std::stoul(argv[6])) : 1;
    const test::PredictionTrial trial =
        test::predictRandomEdits(*session, presetConfig(argc > 4 ? argv[4] : "w4a8"), edits, seed);
    std::vector<double> errors, changes;
    for (std::size_t i = 0; i < trial.predicted.size(); ++i) {
        errors.push_back(std::abs(trial.predicted[i] - trial.measured[i]));
        changes.push_back(std::abs(trial.measured[i]));
    }
    fmt::print(
        "{} edits, {} predictions shown, {} of them of the SQNR (dB), the others of the metric (0 to 1)\n",
        trial.edits, trial.predicted.size(), trial.ofSqnr);
    if (trial.predicted.empty()) return;
    fmt::print(
        "Spearman {:.2f}; the interval contained {:.0f} %; median error {:.4f} of a median change of "
        "{:.4f}\n",
        trial.rank(), 100 * trial.coverage(), median(errors), median(changes));
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        fmt::print(stderr, "usage: prediction_bench MODEL DATA CALIBRATION_DATA [PRESET [EDITS [SEED]]]\n");
        return 2;
    }
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
