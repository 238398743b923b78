#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes data/collages, images of many sizes, and lets ONNX Runtime compute float_mlperf_tiny_vww_mobilenet.npz.

    python3 tests/assets/make_collages.py

The collages consist of images of data/cifar10, so that photographs of unclear origin are not needed. Decoding, resizing
(Pillow, BILINEAR with antialiasing) and the network's outputs (ONNX Runtime without optimizations) are the tools' own.
Needs onnxruntime, numpy and Pillow.
"""
import json
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image

TARGET = Path(__file__).resolve().parent
MODEL = "mlperf_tiny_vww_mobilenet"
# columns, rows, scale, gray
COLLAGES = [(7, 5, 1.0, False), (2, 2, 1.0, False), (10, 10, 1.0, False), (4, 3, 1.0, True), (1, 5, 1.0, False),
            (5, 4, 1.37, False), (3, 1, 2.9, False), (3, 3, 1.0, False)]


def main():
    tiles = sorted((TARGET / "data/cifar10/val").rglob("*.jpg"))[::7]
    folder = TARGET / "data/collages"
    folder.mkdir(exist_ok=True)
    used = 0
    for number, (columns, rows, scale, gray) in enumerate(COLLAGES):
        collage = Image.new("RGB", (32 * columns, 32 * rows))
        for i in range(columns * rows):
            collage.paste(Image.open(tiles[(used + 11 * i) % len(tiles)]), (32 * (i % columns), 32 * (i // columns)))
        used += columns * rows
        if scale != 1:
            collage = collage.resize((int(collage.width * scale), int(collage.height * scale)), Image.BICUBIC)
        if gray:
            collage = collage.convert("L")
        collage.save(folder / f"{number}.jpg", quality=90)

    recipe = json.loads((TARGET / "models" / (MODEL + ".preprocess.json")).read_text())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(TARGET / "models" / (MODEL + ".onnx")), options)
    height, width = recipe["resize"]
    pixels, logits = [], []
    for path in sorted(folder.iterdir()):
        image = Image.open(path).convert("RGB")
        if image.size != (width, height):
            image = image.resize((width, height), Image.BILINEAR)
        pixels.append(np.asarray(image))
        x = pixels[-1].astype(np.float32) * np.float32(recipe["scale"])
        x = (x - np.array(recipe["mean"], np.float32)) / np.array(recipe["std"], np.float32)
        x = np.ascontiguousarray(x.transpose(2, 0, 1) if recipe["layout"] == "NCHW" else x)[None]
        logits.append(session.run(None, {session.get_inputs()[0].name: x})[0])
    np.savez_compressed(TARGET / "oracles" / f"float_{MODEL}.npz", logits=np.concatenate(logits),
                        input_pixels=np.stack(pixels))
    print(np.concatenate(logits))


if __name__ == "__main__":
    main()
