// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes to the inputs of a model when it is loaded: other shapes, or fixed values. Exported models leave
// sizes open that a quantizer, a compiler or a branch of the network needs, and some choose a branch by an
// input, such as the sampling rate of a voice detector or use_cache_branch of a decoder.

#include <map>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace quantloupe {

struct InputChanges {
    /// Per input: its sizes, each a number, a name ("batch"), or "?" for a size without a name.
    std::map<std::string, std::vector<std::string>> shapes;
    /// Per name of a size: the number or the name that replaces it in all inputs and outputs.
    std::map<std::string, std::string> sizes;
    /// Per input: the number that all of its elements get. The input becomes a constant.
    std::map<std::string, std::string> values;

    bool empty() const { return shapes.empty() && sizes.empty() && values.empty(); }
};

/// Makes the changes; the shapes of all other tensors in the file are removed, because they may no longer be
/// right. Throws Error if the model has no such input or size, a shape has another number of dimensions, a
/// value does not fit the type, or an input that gets a value has an unknown size.
void setInputs(onnx::ModelProto& model, const InputChanges& changes);

}  // namespace quantloupe
