#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes vit_2_blocks.onnx and vit_2_blocks_opset20.onnx, and lets ONNX Runtime compute their oracles.

    python3 tests/assets/cut_transformer.py ../shared

They are the first two of the six blocks of vit_cifar10 and vit_cifar10_opset20, followed by the trained head. Their
weights are in one file. Needs onnxruntime, onnx, numpy, scipy, Pillow and sympy, like ../shared/tools/make_ort_oracles.py,
which does the computing.
"""
import json
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, numpy_helper

TARGET = Path(__file__).resolve().parent
BLOCKS = 2
WEIGHTS = "vit_2_blocks.weights"
# name -> (source, input of block 3, input of the last normalization)
CUTS = {"vit_2_blocks": ("vit_cifar10", "/b/b.1/Add_1_output_0", "/b/b.5/Add_1_output_0"),
        "vit_2_blocks_opset20": ("vit_cifar10_opset20", "add_223", "add_635")}
PRESETS = {"vit_2_blocks": ("s8s8_pt", "s8s8_pc", "s8s8_pt_symact"), "vit_2_blocks_opset20": ("s8s8_pt",)}


def cut(model, last_kept, replaced):
    graph = model.graph
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name == replaced:
                node.input[i] = last_kept
    needed, kept = {o.name for o in graph.output}, []
    for node in reversed(graph.node):
        if needed.intersection(node.output):
            needed.update(node.input)
            kept.append(node)
    initializers = [t for t in graph.initializer if t.name in needed]
    kept.reverse()
    for field, values in ((graph.node, kept), (graph.initializer, initializers)):
        copies = [type(v).FromString(v.SerializeToString()) for v in values]
        del field[:]
        field.extend(copies)
    del graph.value_info[:]


def store_weights(model, weights, places):
    """Moves large initializers into `weights`, each content once."""
    for tensor in model.graph.initializer:
        content = numpy_helper.to_array(tensor).tobytes()
        if len(content) < 1024:
            continue
        if content not in places:
            places[content] = len(weights)
            weights += content
        tensor.ClearField("raw_data")
        tensor.ClearField("float_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", WEIGHTS), ("offset", places[content]), ("length", len(content))):
            entry = tensor.external_data.add()
            entry.key, entry.value = key, str(value)


def main():
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "models").is_dir():
        sys.exit(__doc__)
    source = Path(sys.argv[1]).resolve()
    weights, places = bytearray(), {}
    temporary = tempfile.TemporaryDirectory()
    whole = Path(temporary.name)
    recipe = (source / "models/vit_cifar10.preprocess.json").read_text()
    for name, (model_name, last_kept, replaced) in CUTS.items():
        model = onnx.load(source / "models" / (model_name + ".onnx"))
        cut(model, last_kept, replaced)
        for folder in (whole, TARGET / "models"):  # ONNX Runtime's tools do not find shared weights everywhere
            if folder != whole:
                store_weights(model, weights, places)
            (folder / (name + ".onnx")).write_bytes(model.SerializeToString())
            (folder / (name + ".preprocess.json")).write_text(recipe)
    (TARGET / "models" / WEIGHTS).write_bytes(weights)

    sys.path.insert(0, str(source / "tools"))
    import make_ort_oracles as oracles
    import collect
    oracles.MODELS, oracles.CIFAR = str(whole), list(CUTS)
    oracles.QUANT = {n: {p: oracles.COMMON[p] for p in PRESETS[n]} for n in CUTS}
    out = TARGET / "oracles"
    oracles.make_float(list(CUTS), str(out))
    oracles.make_quant(list(CUTS), None, str(out))
    for name in CUTS:
        for preset in PRESETS[name]:
            path = out / f"ort_quant_{name}_{preset}.json"
            collect.write_json(collect.reduced_run(json.loads(path.read_text())), path)
        (out / f"ort_ranges_{name}_MinMax.json").unlink()
    for summary in ("ort_quant_summary.json", "ort_float_accuracy.json"):
        (out / summary).unlink()


if __name__ == "__main__":
    main()
