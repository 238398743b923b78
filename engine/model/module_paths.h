// SPDX-License-Identifier: Apache-2.0
#pragma once
// Converts the module scopes that PyTorch's newer exporter (dynamo=True) stores in the metadata of each node.
// Its names of nodes ("node_Conv_511") contain no scopes, unlike those of the exporter based on TorchScript.

#include <string>
#include <string_view>

namespace quantloupe {

/// The key of the metadata.
inline constexpr std::string_view kModuleScopesKey = "pkg.torch.onnx.name_scopes";

/// Returns the path of a node (Node::modulePath) in the form of the older exporter:
/// "/features/features.3/conv/Conv" for the operator Conv and the value "['', 'features', 'features.3',
/// 'features.3.conv', 'conv2d_2']". Empty if the value has another form, names no module, or has more than 64
/// parts or 1,000 characters.
std::string pathFromScopes(std::string_view scopes, std::string_view op);

/// The reverse: returns the value for a path, with the name of the node as its last element.
std::string scopesFromPath(std::string_view path, std::string_view name);

}  // namespace quantloupe
