// SPDX-License-Identifier: Apache-2.0
#include "interchange/onnxruntime/onnxruntime_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "interchange/text/python_text.h"

namespace quantloupe {
namespace {

/// Returns the Python code that defines TENSOR_QUANT_OVERRIDES.
std::string overrideTable(const std::vector<std::string>& overrides) {
    std::string text = R"(

def tensor(quant_type, scale, zero_point):
    return [{"quant_type": quant_type, "scale": np.array(scale, np.float32), "zero_point": np.array(zero_point)}]


def channels(quant_type, axis, scales, zero_points):
    return [{**tensor(quant_type, scale, zero_point)[0], "axis": axis} for scale, zero_point in zip(scales, zero_points)]


# Scales found in Quantloupe, where ONNX Runtime would find different ones.
TENSOR_QUANT_OVERRIDES = {
)";
    for (const std::string& one : overrides) text += "    " + one + ",\n";
    return text + "}\n";
}

}  // namespace

std::string quantizeStaticScript(const ExportSource& source, const std::string& model,
                                 const QuantizeStaticCall& call) {
    std::string text = fmt::format(R"(#!/usr/bin/env python3
"""Quantizes {0} with ONNX Runtime as tuned in Quantloupe.

Usage: python {1} [--data DATA] [-o QUANTIZED.onnx]
DATA are calibration samples: a folder of images, .npy, .npz or ONNX test data. Needs onnxruntime 1.17 or newer, onnx, numpy, and
Pillow for images.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnx.numpy_helper
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

{2}
# Layers that stay in float.
NODES_TO_EXCLUDE = {3}
)",
                                   source.model.filename().string(), source.output.filename().string(),
                                   pythonPlaces(source, model), pythonNames(call.excluded));
    if (!call.overrides.empty()) text += overrideTable(call.overrides);
    text += '\n';
    text += pythonReader(source);
    text += pythonMain(source);
    text += fmt::format(
        R"(    names = {{node.name for node in onnx.load(MODEL, load_external_data=False).graph.node}}
    missing = [name for name in NODES_TO_EXCLUDE if name not in names]
    if missing:
        sys.exit(f"{{MODEL}} has no nodes of these names: {{missing}}; it is not the model that was exported with this script")
    quantize_static(
        MODEL, arguments.output, Reader(MODEL, arguments.data, SAMPLES),
        quant_format=QuantFormat.QDQ, calibrate_method=CalibrationMethod.{0},
        activation_type={1}, weight_type={2}, per_channel={3},
        nodes_to_exclude=NODES_TO_EXCLUDE,
        extra_options={{{4}}})
    print(f"{{arguments.output}}: {{len(NODES_TO_EXCLUDE)}} nodes excluded")


if __name__ == "__main__":
    main()
)",
        call.method, call.activationType, call.weightType, pythonBool(call.perChannel),
        fmt::join(call.options, ", "));
    return text;
}

}  // namespace quantloupe
