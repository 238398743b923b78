// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml that scale and select features, which converters of scikit-learn write before a
// network. Source: Operators-ml.md of ONNX.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/fused_body.h"
#include "model/fused_operators.h"

namespace quantloupe {
namespace {

using Operand = FusedBody::Operand;

Operand inFloat(FusedBody& body, const Operand& x) {
    return body.add("Cast", {x}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
}

/// One value, or one for each feature.
Operand featureValues(FusedBody& body, const char* name) {
    const auto* given = body.attribute(name);
    refuse(given == nullptr || given->floats().empty(), name);
    return body.floats({given->floats().begin(), given->floats().end()});
}

}  // namespace

/// (x - offset) * scale
void expandScaler(FusedBody& body) {
    Operand y = inFloat(body, body.in(0));
    if (body.attribute("offset") != nullptr) y = body.add("Sub", {y, featureValues(body, "offset")});
    if (body.attribute("scale") != nullptr) y = body.add("Mul", {y, featureValues(body, "scale")});
    body.setOutput(0, y);
}

/// Replaces one value, mostly NaN.
void expandImputer(FusedBody& body) {
    refuse(body.attribute("imputed_value_int64s") != nullptr, "an Imputer of integers");
    const float replaced = body.real("replaced_value_float", 0);
    const Operand missing = std::isnan(replaced) ? body.add("IsNaN", {body.in(0)})
                                                 : body.add("Equal", {body.in(0), body.number(replaced)});
    body.setOutput(0, body.add("Where", {missing, featureValues(body, "imputed_value_floats"), body.in(0)}));
}

void expandBinarizer(FusedBody& body) {
    const Operand above = body.add("Greater", {body.in(0), body.number(body.real("threshold", 0))});
    body.setOutput(0, inFloat(body, above));
}

/// Divides each sample by its norm. A sample of zeros stays as it is.
void expandNormalizer(FusedBody& body) {
    const std::string norm = body.attribute("norm") == nullptr ? "MAX" : body.text("norm");
    refuse(norm != "L1" && norm != "L2", "this norm");
    refuse(body.rank(0) != std::size_t{2}, "features that are not a matrix");
    const Operand x = inFloat(body, body.in(0));
    const Operand sum = body.sum(norm == "L1" ? body.add("Abs", {x}) : body.add("Mul", {x, x}), 1);
    const Operand length = body.unsqueeze(norm == "L1" ? sum : body.add("Sqrt", {sum}), 1);
    const Operand positive = body.add("Max", {length, body.number(std::numeric_limits<float>::min())});
    body.setOutput(0, body.add("Div", {x, positive}));
}

/// Selects features by their indices. The result has at least two dimensions.
void expandFeatureExtractor(FusedBody& body) {
    const auto rank = body.rank(0);
    refuse(!rank, "features of unknown rank");
    const Operand indices =
        body.rank(1) == std::size_t{1} ? body.in(1) : body.add("Reshape", {body.in(1), body.numbers({-1})});
    const Operand y = body.add("Gather", {body.in(0), indices}, {{"axis", std::int64_t{-1}}});
    body.setOutput(0, *rank == 1 ? body.unsqueeze(y, 0) : y);
}

}  // namespace quantloupe
