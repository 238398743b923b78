// SPDX-License-Identifier: Apache-2.0
// verify: the quantized model, run by ONNX Runtime on the evaluated samples, beside what was computed here.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "commands.h"
#include "interchange/run_onnxruntime.h"
#include "json_output.h"
#include "model/load_model.h"
#include "open_session.h"
#include "output_file.h"
#include "progress_line.h"

namespace quantloupe::cli {
namespace {

std::vector<std::size_t> classesOf(const Constant& values) {
    const std::size_t rows = values.dims().empty() ? 0 : static_cast<std::size_t>(values.dims()[0]);
    const auto all = values.floats();
    const std::size_t width = rows == 0 ? 0 : all.size() / rows;
    std::vector<std::size_t> classes;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = all.subspan(r * width, width);
        classes.push_back(static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    return classes;
}

/// The samples that the session evaluates, in the order of Session::outputs.
DatasetPtr evaluated(const Options& options, const OpenedSession& opened) {
    DatasetPtr data = options.calibrationData.empty() ? splitForCalibration(opened.data).second : opened.data;
    if (options.samples > 0 && options.samples < data->size()) data = subset(data, spreadEvenly(data->size(), options.samples));
    return data;
}

double rightOf(const std::vector<std::size_t>& classes, const Dataset& data) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) right += static_cast<int>(classes[i]) == data.label(i);
    return static_cast<double>(right) / static_cast<double>(classes.size());
}

}  // namespace

void runVerify(const Options& options) {
    requireWritable(options.output);
    OpenedSession opened = openSession(options);
    ProgressLine progress;
    const GraphPtr quantized = opened.session->quantizedModel(options.config);
    saveModel(*quantized, options.output);
    progress.show({.stage = "quantized network"});
    const ConstantPtr ours = opened.session->outputs(options.config).at(0);
    progress.show({.stage = "ONNX Runtime"});
    const DatasetPtr data = evaluated(options, opened);
    const RuntimeOutputs theirs = runOnnxRuntime(options.output, *data, inputSpecsOf(opened.session->graph()));
    progress.clear();
    if (theirs.values->dims() != ours->dims())
        failInput("{} gives outputs of another shape than the preview", theirs.runtime);

    const auto a = classesOf(*ours), b = classesOf(*theirs.values);
    std::size_t same = 0;
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
    for (std::size_t i = 0; i < ours->floats().size(); ++i)
        worst = std::max(worst, std::abs(static_cast<double>(ours->floats()[i]) - static_cast<double>(theirs.values->floats()[i])));
    const double agreement = static_cast<double>(same) / static_cast<double>(a.size());
    if (options.json) {
        Json json = {{"output", options.output.string()}, {"runtime", theirs.runtime}, {"samples", a.size()},
                     {"agreement", agreement}, {"max_abs_diff", worst}, {"here", nullptr}, {"there", nullptr}};
        if (data->hasLabels()) {
            json["here"] = {{"top1", rightOf(a, *data)}};
            json["there"] = {{"top1", rightOf(b, *data)}};
        }
        printJson(json);
        return;
    }
    if (data->hasLabels())
        fmt::print("top-1 on {} samples: {:.2f} % here, {:.2f} % in {}\n", a.size(), 100 * rightOf(a, *data), 100 * rightOf(b, *data),
                   theirs.runtime);
    fmt::print("same class: {:.2f} % of {} samples; largest difference of an output: {:.3g}\n", 100 * agreement, a.size(), worst);
}

}  // namespace quantloupe::cli
