// SPDX-License-Identifier: Apache-2.0
#include "runtime/operators/window.h"

#include "base/error.h"

namespace quantloupe {

Window windowOf(const NodeContext& context, const Dims& spatialInput, const Dims& kernel) {
    const Attributes& attributes = context.node.attributes;
    const std::size_t rank = spatialInput.size();
    Window window;
    window.kernel = attributes.integers("kernel_shape", kernel);
    window.strides = attributes.integers("strides", Dims(rank, 1));
    window.dilations = attributes.integers("dilations", Dims(rank, 1));
    const Dims pads = attributes.integers("pads", Dims(2 * rank, 0));
    const std::string autoPad = attributes.text("auto_pad", "NOTSET");
    if (window.kernel.size() != rank || window.strides.size() != rank || window.dilations.size() != rank ||
        pads.size() != 2 * rank)
        failInput("kernel_shape, strides, dilations and pads do not fit an input with {} spatial dimensions",
                  rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t stride = window.strides[d];
        if (window.kernel[d] < 1 || stride < 1 || window.dilations[d] < 1)
            failInput("kernel_shape, strides and dilations must be positive");
        const std::int64_t extent = window.dilations[d] * (window.kernel[d] - 1) + 1;
        std::int64_t begin = pads[d], end = pads[rank + d];
        if (autoPad == "VALID") {
            begin = end = 0;
        } else if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
            const std::int64_t wanted = (spatialInput[d] + stride - 1) / stride;
            const std::int64_t total =
                std::max<std::int64_t>(0, (wanted - 1) * stride + extent - spatialInput[d]);
            begin = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
            end = total - begin;
        } else if (autoPad != "NOTSET") {
            failInput("auto_pad '{}' is unknown", autoPad);
        }
        const std::int64_t room = spatialInput[d] + begin + end - extent;
        const bool ceil = attributes.integer("ceil_mode", 0) != 0;
        if (room < 0 && !(ceil && room > -stride))
            failInput("a window of {} does not fit an input of {} with padding {} and {}", extent,
                      spatialInput[d], begin, end);
        std::int64_t output = room / stride + 1;  // 1 if a single window is larger than the input
        if (ceil && room > 0 && room % stride != 0) {
            ++output;
            // The last window must start inside the input.
            if ((output - 1) * stride >= spatialInput[d] + begin) --output;
        }
        window.padBegin.push_back(begin);
        window.declaredEnd.push_back(end);
        // The part of the last window beyond the input.
        window.padEnd.push_back((output - 1) * stride + extent - spatialInput[d] - begin);
        window.output.push_back(output);
    }
    return window;
}

}  // namespace quantloupe
