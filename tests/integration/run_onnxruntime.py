# SPDX-License-Identifier: Apache-2.0
"""Runs a model on a folder of images with ONNX Runtime, graph optimizations off, and writes its outputs.

Usage: run_onnxruntime.py MODEL.onnx PREPROCESS.json IMAGES OUTPUT.npz   (images in the order of their relative paths)
"""
import json
import pathlib
import sys

import numpy as np
import onnxruntime as ort
from PIL import Image


def main(model, recipe, folder, output):
    recipe = json.loads(pathlib.Path(recipe).read_text())
    root = pathlib.Path(folder)
    paths = sorted((p for p in root.rglob("*.jpg")), key=lambda p: p.relative_to(root).as_posix())
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    # Other tests run in parallel: spinning threads would slow all of them down.
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    rows = []
    for path in paths:
        x = np.asarray(Image.open(path).convert("RGB")).astype(np.float32) * np.float32(recipe["scale"])
        x = (x - np.array(recipe["mean"], np.float32)) / np.array(recipe["std"], np.float32)
        if recipe["layout"] == "NCHW":
            x = x.transpose(2, 0, 1)
        rows.append(session.run(None, {name: np.ascontiguousarray(x)[None]})[0])
    np.savez(output, outputs=np.concatenate(rows))


main(*sys.argv[1:])
