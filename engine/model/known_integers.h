// SPDX-License-Identifier: Apache-2.0
#pragma once
// Integers and conditions that follow from the constants of a file and from the shapes of its inputs: the
// arithmetic by which scripted PyTorch code decides which branch of an If runs.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace quantloupe {

/// Keeps pointers to the nodes of the graph, which must not change meanwhile. One thread.
class KnownIntegers {
  public:
    /// `shapes`: the shapes of tensors, as shapesFromInputs() returns them (model/infer_shapes.h).
    KnownIntegers(const onnx::GraphProto& graph, const onnx::GraphProto& shapes);

    /// Returns the value of a tensor with one integer or condition (1 or 0); empty if it is not known.
    std::optional<std::int64_t> scalar(const std::string& tensor);

  private:
    using Elements = std::vector<std::optional<std::int64_t>>;
    /// A scalar or a list, some elements of which may be unknown.
    struct Value {
        bool isList = false;
        Elements elements;
    };
    using Known = std::optional<Value>;

    Known valueOf(const std::string& tensor, int depth);
    Known computed(const onnx::NodeProto& node, int depth);
    Known dimensionsOf(const onnx::NodeProto& node) const;
    Known sliced(const onnx::NodeProto& node, const Value& list, int depth);
    Known joined(const onnx::NodeProto& node, int depth);
    static Known gathered(const Value& list, const Value& indices);

    std::map<std::string, const onnx::NodeProto*> m_producers;
    std::map<std::string, Elements> m_dims;
    std::map<std::string, Known> m_values;
};

}  // namespace quantloupe
