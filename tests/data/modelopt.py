#!/usr/bin/env python3
"""Quantizes net.onnx with NVIDIA's ModelOpt as tuned in Quantloupe.

Usage: python net.py [--data DATA] [-o QUANTIZED.onnx]
Needs nvidia-modelopt[onnx], onnx, numpy, and Pillow for images.
"""
import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnx.numpy_helper
from modelopt.onnx.quantization import quantize
from onnxruntime.quantization import CalibrationDataReader

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE / "net.float.onnx"
DATA = None  # not given: use --data
SAMPLES = 256

# Layers that stay in float, as regular expressions.
NODES_TO_EXCLUDE = [
    "^/stem/Conv$",
    "^/dw/Conv$",
    "^/out/Add$",
    "^/head/Gemm$",
]

# How an image becomes an input: (pixel * scale - mean) / std, all in float32. Sizes are (height, width).
COLOR, LAYOUT = "RGB", "NCHW"
RESIZE, INTERPOLATION, CENTER_CROP = None, "BILINEAR", None
LETTERBOX = False  # keep the aspect ratio, and pad with gray
SCALE, MEAN, STD = 0.003921569, [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]

# The dimension of the samples in each input, and how many the model takes at once. None: all samples share the value,
# or a sample is one set of inputs if all are None.
SAMPLE_AXES = {"X": (0, 1)}
# How many consecutive samples form a batch. Above 1 if the model mixes the samples of a batch.
BATCH = 1


def image_input(path, dtype):
    from PIL import Image
    image = Image.open(path).convert("L" if COLOR == "GRAY" else "RGB")
    if RESIZE:
        size = filled = RESIZE[1], RESIZE[0]
        if LETTERBOX:
            ratio = min(most / side for most, side in zip(size, image.size))
            filled = tuple(min(max(round(side * ratio), 1), most) for most, side in zip(size, image.size))
        if image.size != filled:
            image = image.resize(filled, getattr(Image, INTERPOLATION))
        if filled != size:
            inner, image = image, Image.new(image.mode, size, "#727272")
            image.paste(inner, ((size[0] - filled[0]) // 2, (size[1] - filled[1]) // 2))
    x = np.asarray(image)
    x = x.reshape(x.shape[0], x.shape[1], -1)
    if CENTER_CROP:
        top, left = (round((have - wanted) / 2) for have, wanted in zip(x.shape, CENTER_CROP))
        x = x[top:top + CENTER_CROP[0], left:left + CENTER_CROP[1]]
    if COLOR == "BGR":
        x = x[:, :, ::-1]
    if dtype != np.uint8:
        x = (x.astype(np.float32) * np.float32(SCALE) - np.array(MEAN, np.float32)) / np.array(STD, np.float32)
    return np.ascontiguousarray(x.transpose(2, 0, 1) if LAYOUT == "NCHW" else x)


def samples(model, data, most):
    """Yields the inputs of each run: a sample, or BATCH samples. About `most` samples, evenly spread."""
    graph = onnx.load(model, load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    inputs = {value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
              for value in graph.input if value.name not in constants}
    ranks = {value.name: len(value.type.tensor_type.shape.dim) for value in graph.input}
    first = next((name for name in inputs if SAMPLE_AXES[name]), next(iter(inputs)))
    data = pathlib.Path(data)

    def array(path):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        return onnx.numpy_helper.to_array(tensor)

    def joined(name, parts):
        return np.concatenate(parts, SAMPLE_AXES[name][0]) if SAMPLE_AXES[name] else parts[0]

    def chosen(total):
        batches = total // BATCH
        if not batches:
            sys.exit(f"{data}: {total} samples, but the model needs {BATCH} at a time")
        count = min(-(-most // BATCH), batches)
        return [i * batches // count * BATCH for i in range(count)]

    def part(name, values, index):
        if not SAMPLE_AXES[name]:
            return values[index] if values.ndim > ranks[name] else values
        axis, together = SAMPLE_AXES[name]
        if BATCH > 1:
            return np.take(values, range(index, index + BATCH), axis)
        return np.repeat(np.take(values, [index], axis), together, axis)

    if data.suffix == ".npy":
        arrays = {first: np.load(data)}
    elif data.suffix == ".npz":
        arrays = dict(np.load(data))
        if len(inputs) == 1 and first not in arrays and "arr_0" in arrays:
            arrays[first] = arrays["arr_0"]  # the name that np.savez gives to an array without one
    elif (data / "input_0.pb").exists() or any(data.glob("test_data_set_*")):
        sets = sorted((p for p in data.glob("test_data_set_*") if p.is_dir()), key=lambda p: p.name) or [data]
        values = [{name: array(s / f"input_{i}.pb").astype(dtype) for i, (name, dtype) in enumerate(inputs.items())}
                  for s in sets]
        if not any(SAMPLE_AXES.values()):
            yield from (values[i] for i in chosen(len(sets)))
            return
        arrays = {name: joined(name, [v[name] for v in values]) for name in inputs}
    elif not data.is_dir():
        sys.exit(f"{data}: there is no such file or folder; give calibration data with --data")
    else:
        images = sorted((p for p in data.rglob("*") if p.suffix.lower() in (".jpg", ".jpeg", ".png")
                         and not any(part.startswith(".") for part in p.relative_to(data).parts)),
                        key=lambda p: p.relative_to(data).as_posix().encode())
        if not images:
            sys.exit(f"{data}: no .jpg, .jpeg or .png in it; give calibration data with --data")
        for i in chosen(len(images)):
            yield {first: part(first, np.stack([image_input(p, inputs[first]) for p in images[i:i + BATCH]]), 0)}
        return
    total = 1
    if SAMPLE_AXES[first]:
        total = arrays[first].shape[SAMPLE_AXES[first][0]]
    elif arrays[first].ndim > ranks[first]:
        total = len(arrays[first])
    for i in chosen(total):
        yield {name: part(name, arrays[name], i).astype(dtype) for name, dtype in inputs.items()}


class Reader(CalibrationDataReader):
    def __init__(self, model, data, most):
        self.arguments = model, data, most
        self.rewind()

    def rewind(self):
        self.samples = samples(*self.arguments)

    def get_next(self):
        return next(self.samples, None)


def main():
    parser = argparse.ArgumentParser(description="Quantizes the model as tuned in Quantloupe.")
    parser.add_argument("--data", default=DATA, required=DATA is None, help="calibration samples")
    parser.add_argument("-o", "--output", default=str(HERE / "net.quantized.onnx"), help="the quantized model")
    arguments = parser.parse_args()

    rows = list(samples(MODEL, arguments.data, SAMPLES))
    data = {name: np.concatenate([row[name] for row in rows]) for name in rows[0]}
    quantize(onnx_path=str(MODEL), quantize_mode="int8", calibration_data=data, calibration_method="max",
             nodes_to_exclude=NODES_TO_EXCLUDE, high_precision_dtype="fp32", output_path=arguments.output)


if __name__ == "__main__":
    main()
