# SPDX-License-Identifier: Apache-2.0
"""Small valid models to damage. Together they contain most kinds of operators, attributes and initializers."""

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper


def _model(nodes, inputs, outputs, weights=(), opset=13) -> ModelProto:
    def value(name, shape, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)

    graph = helper.make_graph(nodes, "seed", [value(*i) for i in inputs], [value(*o) for o in outputs],
                              [numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def _floats(*shape) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.sin(np.arange(count, dtype=np.float64) * 1.7) / 2).astype(np.float32).reshape(shape)


def _convolutions() -> ModelProto:
    node = helper.make_node
    return _model(
        [node("Conv", ["x", "w1", "b1"], ["c1"], name="/a/conv1", kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
         node("BatchNormalization", ["c1", "s", "o", "m", "v"], ["n1"], name="/a/bn1", epsilon=1e-5),
         node("Clip", ["n1", "lo", "hi"], ["r1"], name="/a/relu6"),
         node("Conv", ["r1", "w2"], ["c2"], name="/a/dw", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=4),
         node("Add", ["c2", "r1"], ["a1"], name="/b/add"),
         node("ConvTranspose", ["a1", "w3"], ["t1"], name="/b/up", kernel_shape=[2, 2], strides=[2, 2]),
         node("MaxPool", ["t1"], ["p1"], name="/b/max", kernel_shape=[2, 2], strides=[2, 2]),
         node("AveragePool", ["p1"], ["p2"], name="/b/avg", kernel_shape=[2, 2], ceil_mode=1),
         node("DepthToSpace", ["p2"], ["d1"], name="/b/d2s", blocksize=2),
         node("Resize", ["d1", "", "scales"], ["z1"], name="/b/resize", mode="linear"),
         node("GlobalAveragePool", ["z1"], ["g1"], name="/b/gap"),
         node("Flatten", ["g1"], ["f1"], name="/b/flat", axis=1),
         node("Gemm", ["f1", "w4", "b4"], ["y"], name="/b/fc", transB=1)],
        [("x", ["N", 3, 8, 8])], [("y", ["N", 5])],
        [("w1", _floats(4, 3, 3, 3)), ("b1", _floats(4)), ("s", _floats(4)), ("o", _floats(4)), ("m", _floats(4)),
         ("v", np.abs(_floats(4)) + np.float32(0.1)), ("lo", np.float32(0)), ("hi", np.float32(6)), ("w2", _floats(4, 1, 3, 3)),
         ("w3", _floats(4, 4, 2, 2)), ("scales", np.array([1, 1, 2, 2], np.float32)), ("w4", _floats(5, 1)), ("b4", _floats(5))])


def _attention() -> ModelProto:
    node = helper.make_node
    return _model(
        [node("Shape", ["x"], ["shape"], name="shape"),
         node("Gather", ["shape", "zero"], ["batch"], name="batch", axis=0),
         node("Unsqueeze", ["batch", "axes"], ["batch1"], name="unsqueeze"),
         node("Concat", ["batch1", "rest"], ["target"], name="target", axis=0),
         node("MatMul", ["x", "wq"], ["q"], name="q"),
         node("Reshape", ["q", "target"], ["qh"], name="heads"),
         node("Transpose", ["qh"], ["qt"], name="transpose", perm=[0, 2, 1, 3]),
         node("Transpose", ["qh"], ["kt"], name="keys", perm=[0, 2, 3, 1]),
         node("MatMul", ["qt", "kt"], ["scores"], name="scores"),
         node("Softmax", ["scores"], ["weights"], name="softmax", axis=-1),
         node("MatMul", ["weights", "qt"], ["mixed"], name="mix"),
         node("ReduceMean", ["mixed"], ["mean"], name="mean", axes=[1], keepdims=0),
         node("Slice", ["mean", "starts", "ends"], ["part"], name="slice"),
         node("Split", ["part"], ["s1", "s2"], name="split", axis=2),
         node("Mul", ["s1", "s2"], ["y"], name="mul")],
        [("x", ["N", 4, 8])], [("y", ["N", 4, 2])],
        [("wq", _floats(8, 8)), ("zero", np.array(0, np.int64)), ("axes", np.array([0], np.int64)),
         ("rest", np.array([4, 2, 4], np.int64)), ("starts", np.array([0], np.int64)), ("ends", np.array([9], np.int64))])


def _recurrent() -> ModelProto:
    node = helper.make_node
    return _model(
        [node("Gather", ["table", "ids"], ["e"], name="embedding"),
         node("Transpose", ["e"], ["t"], name="time", perm=[1, 0, 2]),
         node("LSTM", ["t", "w", "r", "b"], ["h", "last"], name="lstm", hidden_size=3, direction="bidirectional"),
         node("Squeeze", ["last"], ["l"], name="squeeze"),
         node("Pad", ["last", "pads"], ["p"], name="pad", mode="constant"),
         node("Cast", ["p"], ["c"], name="cast", to=TensorProto.FLOAT),
         node("Transpose", ["c"], ["y"], name="out", perm=[1, 0, 2])],
        [("ids", ["N", 5], TensorProto.INT64)], [("y", ["N", 2, 3])],
        [("table", _floats(7, 4)), ("w", _floats(2, 12, 4)), ("r", _floats(2, 12, 3)), ("b", _floats(2, 24)),
         ("pads", np.zeros(6, np.int64))])


def _quantized() -> ModelProto:
    node = helper.make_node
    return _model(
        [node("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
         node("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
         node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], name="wd", axis=0),
         node("Gemm", ["d", "wd"], ["g"], name="gemm", transB=1, alpha=0.5),
         node("LeakyRelu", ["g"], ["l"], name="leaky", alpha=0.1),
         node("Constant", [], ["k"], name="k", value_floats=[1.0, 2.0, 3.0]),
         node("Where", ["mask", "l", "k"], ["o"], name="where"),
         node("Identity", ["o"], ["y"], name="same")],
        [("x", ["N", 4])], [("y", ["N", 3])],
        [("s", np.float32(0.1)), ("z", np.array(3, np.uint8)), ("w", (np.arange(12).reshape(3, 4) - 6).astype(np.int8)),
         ("ws", np.array([0.1, 0.2, 0.3], np.float32)), ("wz", np.zeros(3, np.int8)), ("mask", np.array([True, False, True]))])


def _branches() -> ModelProto:
    node = helper.make_node

    def branch(op):
        return helper.make_graph([node(op, ["x"], ["r"])], op, [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, ["N", 4])])

    return _model(
        [node("ReduceSum", ["x"], ["s"], name="sum", keepdims=0),
         node("Greater", ["s", "zero"], ["c"], name="greater"),
         node("If", ["c"], ["i"], name="if", then_branch=branch("Relu"), else_branch=branch("Neg")),
         node("TopK", ["i", "k"], ["v", "n"], name="top", axis=1),
         node("Einsum", ["v", "v"], ["y"], name="einsum", equation="bi,bi->b")],
        [("x", ["N", 4])], [("y", ["N"])], [("zero", np.float32(0)), ("k", np.array([2], np.int64))])


def _fused() -> ModelProto:
    def fused(op, inputs, outputs, **attributes):
        return helper.make_node(op, inputs, outputs, name=f"/{op}", domain="com.microsoft", **attributes)

    model = _model(
        [fused("EmbedLayerNormalization", ["ids", "", "table", "places", "", "gamma", "gamma", "mask"], ["e", "count"]),
         fused("Attention", ["e", "qkv", "b", "count"], ["a"], num_heads=2),
         fused("MatMulNBits", ["a", "codes", "scales", "", "", "b8"], ["n"], K=32, N=32, bits=4, block_size=16),
         fused("SkipLayerNormalization", ["n", "e", "gamma", "", "b8"], ["s", "", "", "sum"]),
         helper.make_node("Sub", ["count", "one"], ["last"], name="/last"),
         fused("GroupQueryAttention", ["s", "s", "sum", "", "", "last", "total", "cos", "sin"], ["q"], num_heads=2, kv_num_heads=2,
               do_rotary=1),
         fused("FastGelu", ["q", "b8"], ["f"]),
         fused("FusedMatMul", ["f", "f"], ["y"], transB=1, alpha=0.5)],
        [("ids", ["N", 3], TensorProto.INT32), ("mask", ["N", 3], TensorProto.INT32)], [("y", ["N", 3, 3])],
        [("table", _floats(9, 32)), ("places", _floats(3, 32)), ("gamma", _floats(32)), ("qkv", _floats(32, 96)), ("b", _floats(96)),
         ("codes", np.arange(512, dtype=np.uint8).reshape(32, 2, 8)), ("scales", _floats(64)), ("b8", _floats(32)),
         ("total", np.array(3, np.int32)), ("one", np.array([1], np.int32)), ("cos", _floats(4, 8)), ("sin", _floats(4, 8))], opset=17)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def seed_models() -> list[ModelProto]:
    return [_convolutions(), _attention(), _recurrent(), _quantized(), _branches(), _fused()]
