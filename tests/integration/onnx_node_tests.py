# SPDX-License-Identifier: Apache-2.0
"""Writes all node tests of the installed ONNX, in the same form as Debian's libonnx-testdata.

Usage: onnx_node_tests.py FOLDER                writes NAME/model.onnx and NAME/test_data_set_0/{input,output}_N.pb; prints
                                                the version of ONNX
       onnx_node_tests.py FOLDER --versions     writes tests with other opsets, whose outputs ONNX Runtime computes: up to
                                                four for each version of an operator; prints their number
"""
import collections
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import defs, numpy_helper
from onnx.backend.test.case.node import collect_testcases

OLDEST, LATEST = 7, 25  # opsets that ONNX Runtime 1.31 runs
MOST = 4  # tests of one version of an operator
# ONNX Runtime writes the lowest finite number instead of minus infinity into the scores of masked keys.
OTHER_VALUES = ("qk_matmul_bias",)


def serialized(value, declared):
    if isinstance(value, onnx.TensorProto):
        return value
    if declared.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, declared.name)
    if declared.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, declared.name)
    return numpy_helper.from_array(np.asarray(value), declared.name)


def write(folder, model, inputs, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for kind, values, declared in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for i, value in enumerate(values):
            (data / f"{kind}_{i}.pb").write_bytes(serialized(value, declared[i]).SerializeToString())


def versions_of(model, opset):
    """The operators of the model with the opsets that define them, or None if one of them does not exist in this opset."""
    try:
        return tuple((node.op_type, defs.get_schema(node.op_type, opset, node.domain).since_version) for node in model.graph.node)
    except defs.SchemaError:
        return None


def run(model, inputs):
    """ONNX Runtime's outputs, or None if it does not run the model."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for output in copy.graph.output:  # another version can have another shape
        output.type.tensor_type.ClearField("shape")
    try:
        onnx.checker.check_model(model)
        session = onnxruntime.InferenceSession(copy.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return copy, session.run(None, {declared.name: np.asarray(value) for declared, value in zip(copy.graph.input, inputs)})
    except Exception:
        return None


def write_versions(folder, cases):
    written = collections.Counter()
    for case in cases:
        model = case.model
        inputs = case.data_sets[0][0]
        own = {opset.domain: opset.version for opset in model.opset_import}.get("", 0)
        if own == 0 or any(part in case.name for part in OTHER_VALUES) or any(isinstance(x, (list, type(None))) for x in inputs):
            continue
        seen = {versions_of(model, own)}
        for opset in range(OLDEST, LATEST + 1):
            versions = versions_of(model, opset)
            if not versions or versions in seen or all(written[version] >= MOST for version in versions):
                continue
            seen.add(versions)
            changed = onnx.ModelProto()
            changed.CopyFrom(model)
            changed.ir_version = min(model.ir_version, 10)
            for entry in changed.opset_import:
                if entry.domain == "":
                    entry.version = opset
            if found := run(changed, inputs):
                written.update(set(versions))
                write(folder / f"{case.name}_{opset}", found[0], inputs, found[1])


def main():
    warnings.simplefilter("ignore")  # the tests divide by zero on purpose
    folder = pathlib.Path(sys.argv[1])
    cases = collect_testcases(None)
    if "--versions" in sys.argv:
        write_versions(folder, cases)
        print(len(list(folder.iterdir())))
        return
    for case in cases:
        write(folder / case.name, case.model, *case.data_sets[0])
    print(onnx.__version__)


main()
