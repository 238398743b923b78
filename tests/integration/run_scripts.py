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


def outputs(model, samples):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    return np.concatenate([session.run(None, sample)[0][:1] for sample in samples])


def run(folder):
    sys.argv = [str(folder / "net.py"), "--data", str(folder / "x.npz"), "-o", str(folder / "quantized.onnx")]
    script = runpy.run_path(sys.argv[0], run_name="__main__")
    samples = script["samples"](script["MODEL"], folder / "x.npz", 1000)
    np.savez(folder / "y.npz", y=outputs(folder / "quantized.onnx", samples))


for name in sys.argv[1:]:
    try:
        run(pathlib.Path(name))
    except (Exception, SystemExit):  # reported by the test
        pathlib.Path(name, "error.txt").write_text(traceback.format_exc())
