# SPDX-License-Identifier: Apache-2.0
"""Runs exported ONNX Runtime scripts and the models that they write, in one process.

Usage: run_scripts.py FOLDER...    Each FOLDER has net.py and its samples x.npz. Writes the quantized model's outputs to
y.npz, or the error to error.txt.
"""
import pathlib
import runpy
import sys
import traceback

import numpy as np
import onnxruntime as ort
from onnxruntime.quantization import onnx_quantizer, qdq_quantizer, quant_utils


def with_float32_width(compute):
    """Subtracts the ends of a range in float32, as the preview, AIMET and ONNX Runtime up to 1.30 do. ONNX Runtime 1.31
    subtracts in float64: the last bit of a scale can differ, and with it every average that is a tie."""
    def computed(rmin, rmax, qmin, qmax, symmetric=False, min_real_range=None):
        zero_point, scale = compute(rmin, rmax, qmin, qmax, symmetric, min_real_range)
        if symmetric or scale == 1:  # the width is exact, or the range is empty
            return [zero_point, scale]
        low, high = np.minimum(rmin, np.float32(0)), np.maximum(rmax, np.float32(0))
        if min_real_range is not None:
            high = np.maximum(high, low + np.float32(min_real_range))
        unrounded = np.float64(high - low) / (np.float64(qmax) - np.float64(qmin))
        return [np.array(np.round(qmin - low / unrounded), zero_point.dtype), np.array(unrounded, scale.dtype)]
    return computed


for module in (onnx_quantizer, qdq_quantizer, quant_utils):
    module.compute_scale_zp = with_float32_width(module.compute_scale_zp)


def outputs(model, samples, batch):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, sample)[0][:batch] for sample in samples])


def run(folder):
    sys.argv = [str(folder / "net.py"), "--data", str(folder / "x.npz"), "-o", str(folder / "quantized.onnx")]
    script = runpy.run_path(sys.argv[0], run_name="__main__")
    samples = script["samples"](script["MODEL"], folder / "x.npz", 1000)
    np.savez(folder / "y.npz", y=outputs(folder / "quantized.onnx", samples, script["BATCH"]))


for name in sys.argv[1:]:
    try:
        run(pathlib.Path(name))
    except (Exception, SystemExit):  # reported by the test
        pathlib.Path(name, "error.txt").write_text(traceback.format_exc())
