// SPDX-License-Identifier: Apache-2.0
// Evaluates a model with the w4a8 preset and writes the quantized model: embed MODEL DATA CALIBRATION OUTPUT
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "config/presets.h"
#include "data/dataset.h"
#include "model/load_model.h"
#include "session/session.h"

using namespace quantloupe;

int main(int argc, char** argv) try {
    if (argc != 5) failInput("usage: embed MODEL DATA CALIBRATION OUTPUT");
    Session session(loadModel(argv[1]));
    const auto beside = preprocessBeside(argv[1]);
    const Preprocess preprocess = beside ? loadPreprocess(*beside) : Preprocess{};
    const auto inputs = inputSpecsOf(session.graph());
    session.setData(openDataset(argv[2], inputs, preprocess), openDataset(argv[3], inputs, preprocess));

    const QuantizationConfig config = presetConfig("w4a8");
    const EvaluationPtr result = session.evaluate(config);
    std::printf("float %.1f %%, quantized %.1f %%\n", 100 * result->floating->top1.value_or(0),
                100 * result->quantized->top1.value_or(0));
    const auto sensitivity = [](const LayerResult& layer) { return layer.local ? layer.local->qs : -1; };
    const LayerResult& worst = *std::ranges::max_element(result->layers, {}, sensitivity);
    std::printf("most sensitive layer: %s, QS %.4f\n", worst.name.c_str(), sensitivity(worst));

    saveModel(*session.quantizedModel(config), argv[4]);
    return 0;
} catch (const Error& error) {
    std::fprintf(stderr, "embed: %s\n", error.what());
    return 1;
}
