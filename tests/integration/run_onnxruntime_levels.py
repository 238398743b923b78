# SPDX-License-Identifier: Apache-2.0
"""Runs a model in ONNX Runtime without graph optimizations, with the basic ones and with all of them.

Usage: run_onnxruntime_levels.py MODEL.onnx INPUTS.npz OUTPUT.npz   (the first array of INPUTS; writes `off`, `basic`, `all`)
"""
import sys

import numpy as np
import onnxruntime as ort

LEVELS = {"off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
          "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}


def main(model, inputs, output):
    arrays = np.load(inputs)
    x = arrays[arrays.files[0]]
    results = {}
    for key, level in LEVELS.items():
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        # Other tests run in parallel: spinning threads would slow all of them down.
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        name, batch = session.get_inputs()[0].name, session.get_inputs()[0].shape[0]
        step = batch if isinstance(batch, int) else 16
        results[key] = np.concatenate([session.run(None, {name: x[i:i + step]})[0] for i in range(0, len(x), step)])
    np.savez(output, **results)


main(*sys.argv[1:])
