// SPDX-License-Identifier: Apache-2.0
#pragma once
// ONNX files in and out.

#include <filesystem>
#include <string>
#include <vector>

#include "model/graph.h"

namespace quantloupe {

struct LoadedModel {
    GraphPtr graph;
    std::filesystem::path path;
    /// What was repaired or looked odd, in words: "3 nodes had no name and are called Conv_0, Relu_1, ...".
    std::vector<std::string> notices;
    /// Files beside it that hold its weights (ONNX external data), each once.
    std::vector<std::filesystem::path> dataFiles;
};

/// Reads an ONNX file. Nodes without a name get OpType_index, duplicates _1; operators that we do not know are
/// kept. Shapes are filled in as far as the file and ONNX's shape inference know them.
/// Throws Error for what is no ONNX model, truncated, cyclic, or refers to data outside its folder. Any thread.
LoadedModel loadModel(const std::filesystem::path& path);
/// The same from the bytes of a file; `folder` is where external data may lie.
LoadedModel parseModel(const void* data, std::size_t size, const std::filesystem::path& folder = {});

/// The bytes of an ONNX file. Throws Error(Unsupported) beyond the 2 GiB that one such file can have.
std::string modelBytes(const Graph& graph);
/// Writes through a temporary file and a rename. Throws Error.
void saveModel(const Graph& graph, const std::filesystem::path& path);

}  // namespace quantloupe
