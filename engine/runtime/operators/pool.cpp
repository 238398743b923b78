// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool.
#include "base/error.h"
#include "runtime/dnnl_adapter.h"
#include "runtime/operators/operators.h"
#include "runtime/ordered/ordered_rows.h"

namespace quantloupe {
namespace {

CompiledNode compilePool(const NodeContext& context, bool average, bool global) {
    requireFloat(context, 0);
    const TensorDesc& input = context.input(0);
    if (input.dims.size() < 3)
        failInput("pooling needs a batch, channels and at least one spatial dimension");
    if (input.dims.size() > 5) fail(ErrorKind::Unsupported, "pooling needs 1 to 3 spatial dimensions");
    if (context.node.outputs.size() > 1 && context.node.outputs[1].valid())
        fail(ErrorKind::Unsupported, "the indices output of MaxPool is not supported");
    const Dims spatial(input.dims.begin() + 2, input.dims.end());
    Window window;
    if (global) {
        const std::size_t rank = spatial.size();
        window = {spatial, Dims(rank, 1), Dims(rank, 1), Dims(rank, 0), Dims(rank, 0), Dims(rank, 1)};
    } else {
        window = windowOf(context, spatial, {});
    }
    TensorDesc output{DataType::Float32, {input.dims[0], input.dims[1]}, Layout::ChannelsLast};
    output.dims.insert(output.dims.end(), window.output.begin(), window.output.end());
    if (!average) return {{output}, makeMaxPool(input, output, window)};
    const bool withPadding = context.node.attributes.integer("count_include_pad", 0) != 0;
    const bool oneAfterAnother = !global && std::max(context.opset(), context.exportOpset) >= 19;
    return {{output}, makeOrderedAverage(input, window, withPadding, oneAfterAnother)};
}

}  // namespace

void addPools(OperatorTable& table) {
    const auto add = [&](const char* name, bool average, bool global) {
        table[name] = {[=](const NodeContext& context) { return compilePool(context, average, global); },
                       LayoutPolicy::ChannelsLast, false};
    };
    add("MaxPool", false, false);
    add("AveragePool", true, false);
    add("GlobalMaxPool", false, true);
    add("GlobalAveragePool", true, true);
}

}  // namespace quantloupe
