# SPDX-License-Identifier: Apache-2.0
"""Runs a model on arrays with ONNX Runtime, without graph optimizations, one sample per run, and writes its first output.

Usage: run_model.py MODEL.onnx INPUTS.npz OUTPUT.npz   (the arrays are named after the inputs, the sample first)
"""
import sys

import numpy as np
import onnxruntime as ort


def main(model, inputs, output):
    arrays = dict(np.load(inputs))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    count = len(next(iter(arrays.values())))
    rows = [session.run(None, {name: values[i:i + 1] for name, values in arrays.items()})[0] for i in range(count)]
    np.savez(output, outputs=np.concatenate(rows))


main(*sys.argv[1:])
