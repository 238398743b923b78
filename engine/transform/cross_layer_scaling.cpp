// SPDX-License-Identifier: Apache-2.0
// Cross-layer scaling, AIMET's profile.
//
// Terms: r1, r2, r3 are the largest |w| of a shared channel in the layers of a set (outputs of the first,
// inputs of the last; biases are not included). A pair gets s = r1 / sqrt(r1 r2); a triple, with p the cube
// root of r1 r2 r3, gets s12 = r1 / p and s23 = p / r3. This makes all ranges of the channel equal. A factor
// that is 0, infinite or undefined (dead channels) becomes 1. Source: Nagel et al. 2019, section 4.1; the
// float32 operations are in AIMET's order, so the results are bit-identical to AIMET's. Cost: O(weights of
// the set). Limitation: no clamp, as in AIMET; a nearly dead channel gets an extreme factor, which inflates
// its bias.
#include "transform/cross_layer_scaling.h"

#include <cmath>

namespace quantloupe {
namespace {

/// Returns 1 instead of an invalid factor; the reciprocal must be valid, too.
float usable(float factor) {
    return std::isfinite(factor) && factor > 0 && std::isfinite(1.0f / factor) ? factor : 1.0f;
}

/// Multiplication by the reciprocal rounds differently from division.
std::vector<float> reciprocals(const std::vector<float>& factors) {
    std::vector<float> result(factors.size());
    for (std::size_t i = 0; i < factors.size(); ++i) result[i] = 1.0f / factors[i];
    return result;
}

void divideOutputs(EditedLayer& layer, const std::vector<float>& factors) {
    const std::vector<float> inverse = reciprocals(factors);
    scaleAlong(layer.weight, layer.layout.dims, layer.layout.outputAxis, inverse);
    for (std::size_t i = 0; i < layer.bias.size(); ++i) layer.bias[i] *= inverse[i];
}

void multiplyInputs(EditedLayer& layer, const std::vector<float>& factors) {
    scaleAlong(layer.weight, layer.layout.dims, layer.layout.inputAxis, factors);
}

std::vector<float> outputRanges(const EditedLayer& layer) {
    return maxAbsAlong(layer.weight, layer.layout.dims, layer.layout.outputAxis);
}

std::vector<float> inputRanges(const EditedLayer& layer) {
    return maxAbsAlong(layer.weight, layer.layout.dims, layer.layout.inputAxis);
}

std::vector<std::vector<float>> scalePair(EditedLayer& first, EditedLayer& last) {
    const std::vector<float> r1 = outputRanges(first), r2 = inputRanges(last);
    std::vector<float> s(r1.size());
    for (std::size_t c = 0; c < s.size(); ++c) s[c] = usable(r1[c] / std::sqrt(r1[c] * r2[c]));
    divideOutputs(first, s);
    multiplyInputs(last, s);
    return {s};
}

std::vector<std::vector<float>> scaleTriple(EditedLayer& first, EditedLayer& depthwise, EditedLayer& last) {
    const std::vector<float> r1 = outputRanges(first), r2 = outputRanges(depthwise), r3 = inputRanges(last);
    std::vector<float> s12(r1.size()), s23(r1.size());
    for (std::size_t c = 0; c < s12.size(); ++c) {
        // Not std::cbrt: AIMET's power function rounds its exponent to float32.
        const float p = std::pow(r1[c] * r2[c] * r3[c], 1.0f / 3.0f);
        s12[c] = usable(r1[c] / p);
        s23[c] = usable(p / r3[c]);
    }
    divideOutputs(first, s12);
    multiplyInputs(depthwise, s12);
    divideOutputs(depthwise, s23);
    multiplyInputs(last, s23);
    return {s12, s23};
}

}  // namespace

std::vector<std::vector<float>> scaleSet(WeightEditor& weights, const LayerSet& set) {
    EditedLayer& first = weights.layer(set.layers.front());
    EditedLayer& last = weights.layer(set.layers.back());
    if (set.layers.size() == 2) return scalePair(first, last);
    return scaleTriple(first, weights.layer(set.layers[1]), last);
}

}  // namespace quantloupe
