// SPDX-License-Identifier: Apache-2.0
// Time of the transforms: every equalization profile on each given model. Usage: transform_bench MODEL...
// Prints wall and processor seconds, the minimum of three runs; on a busy machine use the processor time.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/error.h"
#include "model/load_model.h"
#include "transform/prepare.h"

using namespace quantloupe;

int main(int argc, char** argv) {
    for (int m = 1; m < argc; ++m) {
        try {
            const GraphPtr source = loadModel(argv[m]).graph;
            const auto time = [&](const char* what, EqualizationProfile profile, int steps) {
                TransformOptions options;
                options.replaceRelu6 = ReplaceRelu6::All;
                options.equalization.profile = profile;
                options.equalization.steps = steps;
                double wall = 1e9, processor = 1e9;
                std::size_t sets = 0;
                for (int run = 0; run < 3; ++run) {
                    const auto start = std::chrono::steady_clock::now();
                    const std::clock_t ticks = std::clock();
                    sets = prepare(source, options).sets.size();
                    wall = std::min(
                        wall,
                        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
                    processor =
                        std::min(processor, static_cast<double>(std::clock() - ticks) / CLOCKS_PER_SEC);
                }
                fmt::print("{}, {}: {} sets, {:.3f} s, processor {:.3f} s\n",
                           std::filesystem::path(argv[m]).stem().string(), what, sets, wall, processor);
                std::fflush(stdout);
            };
            time("batch norms only", EqualizationProfile::Off, 1);
            time("aimet", EqualizationProfile::Aimet, 1);
            time("quark", EqualizationProfile::Quark, 1);
            time("quark, to rest", EqualizationProfile::Quark, -1);
            time("quantloupe", EqualizationProfile::Quantloupe, 1);
            time("quantloupe, to rest", EqualizationProfile::Quantloupe, -1);
        } catch (const Error& error) {
            fmt::print(stderr, "{}\n", error.what());
            return 1;
        }
    }
}
