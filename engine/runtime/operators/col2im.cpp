// SPDX-License-Identifier: Apache-2.0
// Col2Im: adds up the columns of patches where they overlap in the image (torch.nn.Fold).
#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "runtime/operators/operators.h"
#include "runtime/operators/positions.h"

namespace quantloupe {
namespace {

CompiledNode compileCol2Im(const NodeContext& context) {
    requireFloat(context, 0);
    const Dims& columns = context.input(0).dims;
    const Dims image = context.needConstant(1, "the image size of Col2Im").toInt64s();
    const Dims block = context.needConstant(2, "the block size of Col2Im").toInt64s();
    const std::size_t rank = image.size();
    const Attributes& attributes = context.node.attributes;
    const Dims dilations = attributes.integers("dilations", Dims(rank, 1));
    const Dims strides = attributes.integers("strides", Dims(rank, 1));
    const Dims pads = attributes.integers("pads", Dims(2 * rank, 0));
    if (columns.size() != 3 || rank == 0 || block.size() != rank || dilations.size() != rank ||
        strides.size() != rank || pads.size() != 2 * rank)
        failInput("the sizes of Col2Im do not fit {}", toString(columns));
    Dims windows;
    for (std::size_t d = 0; d < rank; ++d) {
        constexpr std::int64_t kMost = 1 << 30;
        for (const std::int64_t size : {image[d], block[d], dilations[d], strides[d]})
            if (size < 1 || size > kMost) failInput("the sizes of Col2Im must be within 1 and {}", kMost);
        if (std::abs(pads[d]) > kMost || std::abs(pads[rank + d]) > kMost)
            failInput("the pads of Col2Im are too large");
        const std::int64_t room = image[d] + pads[d] + pads[rank + d] - (dilations[d] * (block[d] - 1) + 1);
        windows.push_back(room < 0 ? 0 : room / strides[d] + 1);
    }
    const std::int64_t perBlock = elementCount(block), perImage = elementCount(image);
    const std::int64_t count = elementCount(windows);
    if (columns[1] == 0 || columns[1] % perBlock != 0 || columns[2] != count)
        failInput("Col2Im with blocks of {} in {} windows does not fit {}", toString(block), count,
                  toString(columns));
    const std::int64_t channels = columns[1] / perBlock, planes = columns[0] * channels;

    // Where each element of a plane's columns is added: the same for all planes; -1 in the padding.
    std::vector<std::int64_t> targets;
    forEachPosition(block, [&](const Dims& inBlock) {
        forEachPosition(windows, [&](const Dims& window) {
            std::int64_t target = 0;
            for (std::size_t d = 0; d < rank; ++d) {
                const std::int64_t at = window[d] * strides[d] - pads[d] + inBlock[d] * dilations[d];
                target = target < 0 || at < 0 || at >= image[d] ? -1 : target * image[d] + at;
            }
            targets.push_back(target);
        });
    });
    TensorDesc output{DataType::Float32, {columns[0], channels}, Layout::Plain};
    output.dims.insert(output.dims.end(), image.begin(), image.end());
    return {{output}, makeKernel([=, targets = std::move(targets)](const KernelArguments& a) {
                const auto* in = static_cast<const float*>(a.inputs[0]);
                auto* out = static_cast<float*>(a.outputs[0]);
                std::fill_n(out, planes * perImage, 0.0f);
                for (std::int64_t plane = 0; plane < planes; ++plane, out += perImage)
                    for (const std::int64_t target : targets) {
                        if (target >= 0) out[target] += *in;
                        ++in;
                    }
            })};
}

}  // namespace

void addCol2Im(OperatorTable& table) { table["Col2Im"] = {compileCol2Im}; }

}  // namespace quantloupe
