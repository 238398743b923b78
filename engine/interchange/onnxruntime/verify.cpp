// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/verify.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interchange/onnxruntime/run_onnxruntime.h"
#include "model/load_model.h"
#include "session/evaluation_data.h"

namespace quantloupe {
namespace {

std::vector<int> classesOf(const Constant& values) {
    const std::size_t rows = values.dims().empty() ? 0 : static_cast<std::size_t>(values.dims()[0]);
    const auto all = values.floats();
    const std::size_t width = rows == 0 ? 0 : all.size() / rows;
    std::vector<int> classes;
    for (std::size_t r = 0; r < rows; ++r) {
        const auto row = all.subspan(r * width, width);
        classes.push_back(static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin()));
    }
    return classes;
}

double agreementOf(const std::vector<int>& a, const std::vector<int>& b) {
    std::size_t same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
    return static_cast<double>(same) / static_cast<double>(a.size());
}

double largestDifference(const Constant& a, const Constant& b) {
    double largest = 0;
    for (std::size_t i = 0; i < a.floats().size(); ++i)
        largest = std::max(largest,
                           std::abs(static_cast<double>(a.floats()[i]) - static_cast<double>(b.floats()[i])));
    return largest;
}

double rightOf(const std::vector<int>& classes, const Dataset& data) {
    std::size_t right = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) right += classes[i] == data.label(i);
    return static_cast<double>(right) / static_cast<double>(classes.size());
}

}  // namespace

VerifySource prepareVerification(Session& session, const QuantizationConfig& config,
                                 const std::filesystem::path& model, const CancelToken& cancel) {
    const std::vector<ConstantPtr> outputs = session.outputs(config, cancel);
    const auto ours = std::find_if(outputs.begin(), outputs.end(), [](const ConstantPtr& output) {
        return output && output->type() == DataType::Float32;
    });
    if (ours == outputs.end())
        fail(ErrorKind::Unsupported,
             "verification compares an output that is float32 and has a batch dimension, and this model has "
             "none");
    saveModel(*session.quantizedModel(config, cancel), model);
    return {model, static_cast<std::size_t>(ours - outputs.begin()), *ours, evaluationData(session),
            inputSpecsOf(session.graph())};
}

Verification verify(const VerifySource& source, const std::filesystem::path& python,
                    const CancelToken& cancel) {
    const RuntimeOutputs theirs =
        runOnnxRuntime(source.model, *source.data, source.inputs, cancel, python, source.output);
    if (theirs.values->dims() != source.ours->dims())
        failInput("{} returns outputs of a different shape than the preview", theirs.runtime);
    Verification result;
    result.runtime = theirs.runtime;
    const auto a = classesOf(*source.ours), b = classesOf(*theirs.values);
    result.samples = a.size();
    result.agreement = agreementOf(a, b);
    result.maxAbsDiff = largestDifference(*source.ours, *theirs.values);
    result.optimizedFailure = theirs.optimizedFailure;
    if (theirs.optimized && theirs.optimized->dims() == source.ours->dims()) {
        result.optimizedAgreement = agreementOf(a, classesOf(*theirs.optimized));
        result.optimizedMaxAbsDiff = largestDifference(*source.ours, *theirs.optimized);
    }
    if (source.data->hasLabels()) {
        result.here = rightOf(a, *source.data);
        result.there = rightOf(b, *source.data);
    }
    return result;
}

std::string whyVerificationFailed(const Verification& r) {
    const double one = 1.0 / static_cast<double>(std::max<std::size_t>(r.samples, 1)), rounding = 1e-9;
    if (r.here && std::abs(*r.here - *r.there) > std::max(0.005, one) + rounding)
        return fmt::format("the accuracies differ by {:.2f} points", 100 * std::abs(*r.here - *r.there));
    if (r.agreement < 0.99 - rounding && 1 - r.agreement > one + rounding)
        return fmt::format("{:.2f} % of the samples get a different class", 100 * (1 - r.agreement));
    if (!r.optimizedFailure.empty())
        return fmt::format("{} cannot run the model at its default optimization level: {}", r.runtime,
                           r.optimizedFailure);
    return {};
}

}  // namespace quantloupe
