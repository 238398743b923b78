# SPDX-License-Identifier: Apache-2.0
"""Runs every model of a folder in ONNX Runtime, without graph optimizations and with all of them.

Usage: run_models.py FOLDER   (for each NAME.onnx, reads the array X of NAME.npz and writes `off` and `all` to NAME.out.npz)
"""
import pathlib
import sys

import numpy as np
import onnxruntime as ort

LEVELS = {"off": ort.GraphOptimizationLevel.ORT_DISABLE_ALL, "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL}


def main(folder):
    for model in sorted(pathlib.Path(folder).glob("*.onnx")):
        x = np.load(model.with_suffix(".npz"))["X"]
        results = {}
        for key, level in LEVELS.items():
            options = ort.SessionOptions()
            options.graph_optimization_level = level
            # Other tests run in parallel: spinning threads would slow all of them down.
            options.intra_op_num_threads = 1
            options.log_severity_level = 3
            session = ort.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
            results[key] = session.run(None, {session.get_inputs()[0].name: x})[0]
        np.savez(model.with_suffix(".out.npz"), **results)


main(*sys.argv[1:])
