// SPDX-License-Identifier: Apache-2.0
#pragma once
// Changes to the inputs of a model when it is loaded: other shapes, or fixed values. Some models select a
// branch by a dynamic dimension, or by an input such as the sampling rate of a voice detector.

#include <map>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
}

namespace quantloupe {

struct InputChanges {
    /// The new shape of each input. A dimension is a number, a name such as "batch", or "?" if it is dynamic
    /// and has no name.
    std::map<std::string, std::vector<std::string>> shapes;
    /// The number or the name that replaces each named dimension in all inputs and outputs.
    std::map<std::string, std::string> sizes;
    /// Inputs that become constants, each with the value of all its elements.
    std::map<std::string, std::string> values;

    bool empty() const { return shapes.empty() && sizes.empty() && values.empty(); }
};

/// Makes the changes. If shapes or dimensions change, the shapes of other tensors in the file are removed,
/// because they may no longer be right. Throws Error if the model has no such input or size, a shape has
/// another number of dimensions, a value does not fit the type, or an input that gets a value has an unknown
/// size.
void setInputs(onnx::ModelProto& model, const InputChanges& changes);

}  // namespace quantloupe
