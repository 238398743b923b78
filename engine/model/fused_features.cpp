// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml that scale and select features, which converters of scikit-learn write before a
// network. Source: Operators-ml.md of ONNX, and the CPU kernels of ONNX Runtime.
#include <cmath>

#include "base/error.h"
#include "model/fused_body.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

/// Returns one value, or one for each feature of a matrix.
std::vector<float> featureValues(const FusedBody& body, const char* name) {
    const auto* given = body.attribute(name);
    if (given == nullptr || given->floats().empty()) failInput("the attribute '{}' is missing", name);
    refuse(given->floats_size() > 1 && body.rank(0) != std::size_t{2},
           "one value for each feature of a tensor that is not known to be a matrix");
    return {given->floats().begin(), given->floats().end()};
}

}  // namespace

/// (x - offset) * scale
void expandScaler(FusedBody& body) {
    Operand y = body.inFloat(body.in(0));
    if (body.attribute("offset") != nullptr)
        y = body.add("Sub", {y, body.floats(featureValues(body, "offset"))});
    if (body.attribute("scale") != nullptr)
        y = body.add("Mul", {y, body.floats(featureValues(body, "scale"))});
    body.setOutput(0, y);
}

/// Replaces one value, mostly NaN. A list that has not one value for each feature counts as its first value.
void expandImputer(FusedBody& body) {
    refuse(body.attribute("imputed_value_int64s") != nullptr, "an Imputer of integers");
    body.ignore({"replaced_value_int64"});
    std::vector<float> values = featureValues(body, "imputed_value_floats");
    const auto width = body.width(0);
    if (width && *width != static_cast<std::int64_t>(values.size())) values.resize(1);
    const float replaced = body.real("replaced_value_float", 0);
    refuse(!std::isnan(replaced) && body.opset() < 11, "an Imputer of a number before opset 11");
    const Operand missing = std::isnan(replaced) ? body.add("IsNaN", {body.in(0)})
                                                 : body.add("Equal", {body.in(0), body.number(replaced)});
    body.setOutput(0, body.add("Where", {missing, body.floats(std::move(values)), body.in(0)}));
}

void expandBinarizer(FusedBody& body) {
    const Operand above = body.add("Greater", {body.in(0), body.number(body.real("threshold", 0))});
    body.setOutput(0, body.inFloat(above));
}

/// Divides each sample by its norm.
void expandNormalizer(FusedBody& body) {
    const std::string norm = body.text("norm");
    refuse(norm != "L1" && norm != "L2", "the norm MAX");
    body.setOutput(0, body.add("LpNormalization", {body.inFloat(body.in(0))},
                               {{"axis", std::int64_t{-1}}, {"p", std::int64_t{norm == "L1" ? 1 : 2}}}));
}

/// Selects features by their indices. The result has at least two dimensions.
void expandFeatureExtractor(FusedBody& body) {
    const auto rank = body.rank(0);
    refuse(!rank, "selecting features of a tensor of unknown rank");
    const Operand indices =
        body.rank(1) == std::size_t{1} ? body.in(1) : body.add("Reshape", {body.in(1), body.numbers({-1})});
    const Operand y = body.add("Gather", {body.in(0), indices}, {{"axis", std::int64_t{-1}}});
    body.setOutput(0, *rank == 1 ? body.unsqueeze(y, 0) : y);
}

}  // namespace quantloupe
