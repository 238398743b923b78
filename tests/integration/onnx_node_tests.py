# SPDX-License-Identifier: Apache-2.0
"""Writes all node tests of the installed ONNX, in the same form as Debian's libonnx-testdata.

Usage: onnx_node_tests.py FOLDER    writes NAME/model.onnx and NAME/test_data_set_0/{input,output}_N.pb; prints the version
"""
import pathlib
import sys
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases


def serialized(value, declared):
    if isinstance(value, onnx.TensorProto):
        return value
    if declared.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, declared.name)
    if declared.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, declared.name)
    return numpy_helper.from_array(np.asarray(value), declared.name)


def main():
    warnings.simplefilter("ignore")  # the tests divide by zero on purpose
    folder = pathlib.Path(sys.argv[1])
    for case in collect_testcases(None):
        data = folder / case.name / "test_data_set_0"
        data.mkdir(parents=True)
        (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString())
        inputs, outputs = case.data_sets[0]
        graph = case.model.graph
        for kind, values, declared in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            for i, value in enumerate(values):
                (data / f"{kind}_{i}.pb").write_bytes(serialized(value, declared[i]).SerializeToString())
    print(onnx.__version__)


main()
