// SPDX-License-Identifier: Apache-2.0
#include <onnx/onnx_pb.h>

#include "base/atomic_file.h"
#include "base/error.h"
#include "model/load_model.h"
#include "model/onnx_proto.h"

namespace quantloupe {

std::string modelBytes(const Graph& graph) {
    onnx::ModelProto model;
    graphToProto(graph, model);
    if (model.ByteSizeLong() > 0x7fffffff)
        fail(ErrorKind::Unsupported,
             "the model would be larger than the 2 GiB that one ONNX file can contain");
    return model.SerializeAsString();
}

void saveModel(const Graph& graph, const std::filesystem::path& path) {
    try {
        writeFileAtomically(path, modelBytes(graph));
    } catch (Error& error) {
        error.addContext(fmt::format("model '{}'", path.filename().string()));
        throw;
    }
}

}  // namespace quantloupe
