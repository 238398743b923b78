#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares each node of a network with ONNX Runtime, given the inputs that Quantloupe computed.

The outputs of a detector can differ although every operator is right: where scores are equal or lie on a threshold, a
difference in the last bit decides which boxes are kept. This program tells such networks from wrong operators.

Usage: compare_nodes.py MODEL.onnx DATA.npz [--program quantloupe-cli]
Requires numpy, onnx and onnxruntime. Uses the first sample of the data. Exits with 1 if a node differs by more than
1e-4 of the largest value of its output.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

LIMIT = 1e-4


def with_all_outputs(model):
    """Returns a copy of the model in which every tensor of a known type is an output."""
    model = onnx.shape_inference.infer_shapes(model)
    known = {info.name: info.type.tensor_type.elem_type for info in model.graph.value_info}
    outputs = {info.name for info in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if known.get(name, 0) and name not in outputs:
                model.graph.output.append(helper.make_tensor_value_info(name, known[name], None))
    return model


def session_of(model):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def constants_of(graph):
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant":
            values.update({node.output[0]: numpy_helper.to_array(attribute.t) for attribute in node.attribute
                           if attribute.name == "value"})
    return values


def outputs_of_node(model, node, values, names):
    """Computes one node in ONNX Runtime."""
    element = helper.np_dtype_to_tensor_dtype
    used = [name for name in dict.fromkeys(node.input) if name]
    inputs = [helper.make_tensor_value_info(name, element(values[name].dtype), values[name].shape) for name in used]
    outputs = [helper.make_tensor_value_info(name, element(values[name].dtype), None) for name in names]
    alone = helper.make_model(helper.make_graph([node], "node", inputs, outputs), opset_imports=model.opset_import,
                              ir_version=min(model.ir_version, 10))
    return session_of(alone.SerializeToString()).run(None, {name: values[name] for name in used})


def difference(expected, actual):
    """Returns the largest difference, relative to the largest value, or the share of integers that differ."""
    if expected.shape != actual.shape:
        return np.inf
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind != "f":
        return float((expected != actual).mean())
    same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
    finite = np.abs(expected[np.isfinite(expected)])
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0, np.abs(expected.astype(np.float64) - actual))
    return float(np.nan_to_num(apart, nan=np.inf).max() / (finite.max(initial=0) + 1e-12))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--program", default="quantloupe-cli")
    arguments = parser.parse_args()

    model = with_all_outputs(onnx.load(arguments.model))
    data = np.load(arguments.data)
    sample = {info.name: data[info.name][:1] for info in model.graph.input if info.name in data}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        onnx.save(model, folder / "all.onnx")
        np.savez(folder / "sample.npz", **sample)
        subprocess.run([arguments.program, "run", folder / "all.onnx", "--data", folder / "sample.npz", "-o",
                        folder / "computed.npz"], check=True)
        computed = dict(np.load(folder / "computed.npz"))
        session = session_of(str(folder / "all.onnx"))
        reference = dict(zip([output.name for output in session.get_outputs()], session.run(None, sample)))
    for name, value in computed.items():  # Quantloupe may write the dimension of the samples in another place.
        if value.shape != reference[name].shape and value.size == reference[name].size:
            computed[name] = value.reshape(reference[name].shape)

    values = {**constants_of(model.graph), **sample, **computed}
    compared, omitted = collections.Counter(), collections.Counter()
    worst = {}
    first = None
    for node in model.graph.node:
        names = [name for name in node.output if name in computed]
        if first is None and any(difference(reference[name], computed[name]) > LIMIT for name in names):
            first = node
        has_graph = any(attribute.type == onnx.AttributeProto.GRAPH for attribute in node.attribute)
        if node.op_type == "Constant":
            continue
        if not names or has_graph or any(name and name not in values for name in node.input):
            omitted[node.op_type] += 1
            continue
        expected = outputs_of_node(model, node, values, names)
        compared[node.op_type] += 1
        largest = max(difference(one, computed[name]) for one, name in zip(expected, names))
        worst[node.op_type] = max(worst.get(node.op_type, (0.0, "")), (largest, node.name))

    print(f"{arguments.model.name}: {sum(compared.values())} nodes compared; not compared: {dict(omitted) or 'none'}")
    if first is not None:
        print(f"the first tensor that differs in the whole network is an output of {first.op_type} '{first.name}'")
    for op, (largest, name) in sorted(worst.items(), key=lambda entry: -entry[1][0]):
        if largest > 0:
            print(f"{op:24} {largest:8.1e}  {name}")
    wrong = [op for op, (largest, _) in worst.items() if not largest <= LIMIT]
    print(f"different: {', '.join(wrong)}" if wrong else f"all nodes agree within {LIMIT:g}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
