# SPDX-License-Identifier: Apache-2.0
"""Writes one small network for each integer operator, random codes for it, and ONNX Runtime's outputs.

Usage: quantized_operators.py FOLDER        writes NAME.onnx and NAME.npz (inputs by name, `expected`); prints the names
"""
import pathlib
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

MS = "com.microsoft"


def main(folder):
    rng = np.random.RandomState(3)
    for kind in ("uint8", "int8"):
        low, high = (0, 256) if kind == "uint8" else (-128, 128)
        tensor_type = TensorProto.UINT8 if kind == "uint8" else TensorProto.INT8
        quantizer = lambda name, scale, zero: [numpy_helper.from_array(np.array(scale, np.float32), name + "_scale"),
                                               numpy_helper.from_array(np.array(zero + (0 if kind == "uint8" else -128), kind), name + "_zero")]
        x, y = quantizer("x", 0.03, 120), quantizer("y", 0.02, 100)
        one = ["x", "x_scale", "x_zero", "y_scale", "y_zero"]
        shape = (2, 6, 7, 9)
        cases = {
            "LeakyRelu": (helper.make_node("QLinearLeakyRelu", one, ["o"], domain=MS, alpha=0.13), shape, x + y),
            "Sigmoid": (helper.make_node("QLinearSigmoid", one, ["o"], domain=MS), shape, x + quantizer("y", 1 / 256, 0)),
            "Softmax": (helper.make_node("QLinearSoftmax", one, ["o"], domain=MS, axis=-1, opset=13), (3, 5, 40), x + quantizer("y", 1 / 256, 0)),
            "SoftmaxOfRows": (helper.make_node("QLinearSoftmax", one, ["o"], domain=MS, axis=1, opset=11), (3, 5, 8), x + quantizer("y", 1 / 256, 0)),
            "AveragePool": (helper.make_node("QLinearAveragePool", one, ["o"], domain=MS, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]), shape, x + y),
            "AveragePoolWithPadding": (helper.make_node("QLinearAveragePool", one, ["o"], domain=MS, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1), shape, x + y),
            "Concat": (helper.make_node("QLinearConcat", ["y_scale", "y_zero", "x", "x_scale", "x_zero", "x", "y_scale", "y_zero"], ["o"], domain=MS, axis=1), shape, x + y),
        }
        codes = lambda *dims: [numpy_helper.from_array(rng.randint(low, high, dims).astype(kind), "c")]
        two = ["x", "x_scale", "x_zero", "c", "y_scale", "y_zero", "y_scale", "y_zero"]
        cases["AddOfRows"] = (helper.make_node("QLinearAdd", two, ["o"], domain=MS), shape, x + y + codes(9))
        cases["AddOfColumns"] = (helper.make_node("QLinearAdd", two, ["o"], domain=MS), (2, 6, 1, 9), x + y + codes(7, 1))
        cases["MulOfChannels"] = (helper.make_node("QLinearMul", two, ["o"], domain=MS), shape, x + y + codes(1, 6, 1, 1))
        cases["MaxPool"] = (helper.make_node("MaxPool", ["x"], ["o"], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1]), shape, [])
        nan = [helper.make_node("DequantizeLinear", ["x", "x_scale", "x_zero"], ["f"]), helper.make_node("Div", ["f", "f"], ["d"])]
        cases["QuantizeNan"] = (nan + [helper.make_node("QuantizeLinear", ["d", "y_scale", "y_zero"], ["o"])], shape, x + y)
        if kind == "uint8":
            # Dynamic quantization: the zero point is computed.
            dynamic = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
                       helper.make_node("Neg", ["f"], ["n"]),
                       helper.make_node("DynamicQuantizeLinear", ["n"], ["q", "q_scale", "q_zero"])]
            weight = lambda *dims: [numpy_helper.from_array(rng.randint(-63, 64, dims).astype(np.int8), "w")]
            cases["ConvInteger"] = (dynamic + [helper.make_node("ConvInteger", ["q", "w", "q_zero"], ["o"], pads=[1, 1, 1, 1])],
                                    shape, weight(4, 6, 3, 3))
            cases["ConvIntegerOneDimension"] = (dynamic + [helper.make_node("ConvInteger", ["q", "w", "q_zero"], ["o"], pads=[2, 1], dilations=[2])],
                                                (2, 6, 9), weight(4, 6, 3))
            cases["MatMulInteger"] = (dynamic + [helper.make_node("MatMulInteger", ["q", "w", "q_zero"], ["o"])], shape, weight(9, 5))
            columns = [numpy_helper.from_array(rng.randint(0, 128, (9, 5)).astype(np.uint8), "w"),
                       numpy_helper.from_array(rng.randint(30, 90, 5).astype(np.uint8), "w_zero")]
            cases["MatMulIntegerOfColumns"] = (dynamic + [helper.make_node("MatMulInteger", ["q", "w", "q_zero", "w_zero"], ["o"])],
                                               shape, columns)
            # 7 bits: without VNNI, ONNX Runtime's sums of two products of 8 bits saturate.
            w, w1 = (numpy_helper.from_array(rng.randint(-63, 64, dims).astype(np.int8), "w") for dims in [(8, 3, 3, 3), (8, 3, 3)])
            scales = numpy_helper.from_array(rng.uniform(0.001, 0.01, 8).astype(np.float32), "w_scale")
            zeros = numpy_helper.from_array(np.zeros(8, np.int8), "w_zero")
            for name, how in {"Conv": {"pads": [1, 1, 1, 1]}, "ConvStrided": {"strides": [2, 3], "pads": [2, 0, 1, 2]},
                              "ConvDilated": {"dilations": [2, 2], "pads": [2, 3, 2, 1]}}.items():
                cases[name] = (helper.make_node("QLinearConv", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["o"],
                                                group=2, **how), shape, x + y + [w, scales, zeros])
            cases["ConvOneDimension"] = (helper.make_node("QLinearConv", ["x", "x_scale", "x_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"], ["o"],
                                                          group=2, strides=[3], pads=[2, 0]), (2, 6, 31), x + y + [w1, scales, zeros])
        for name, (nodes, dims, inits) in cases.items():
            name = f"{name}_{kind}"
            nodes = nodes if isinstance(nodes, list) else [nodes]
            output_type = TensorProto.INT32 if nodes[-1].op_type.endswith("Integer") else tensor_type
            graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", tensor_type, dims)],
                                      [helper.make_tensor_value_info("o", output_type, None)], inits)
            model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid(MS, 1)])
            model.ir_version = 8
            data = rng.randint(low, high, dims).astype(kind)
            options = ort.SessionOptions()
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
            session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
            expected = session.run(None, {"x": data})[0]
            (folder / (name + ".onnx")).write_bytes(model.SerializeToString())
            np.savez(folder / (name + ".npz"), x=data, expected=expected)
            print(name)


main(pathlib.Path(sys.argv[1]))
