# SPDX-License-Identifier: Apache-2.0
"""Writes small networks with the fused operators of ONNX Runtime, samples, and ONNX Runtime's outputs.

Usage: fused_operators.py FOLDER            writes NAME.onnx, NAME.npz (inputs) and NAME.expected.npz (outputs); prints the names
       fused_operators.py FOLDER --check    compares the outputs of NAME.saved.onnx with those of NAME.onnx
"""
import pathlib
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

MS, ML = "com.microsoft", "ai.onnx.ml"
FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
N, S, D = 6, 5, 12  # samples, words, values
random = np.random.RandomState(7)


def values(*dims):
    return random.normal(0, 0.7, dims).astype(np.float32)


def fused(op, inputs, outputs=("y",), domain=MS, name=None, **attributes):
    return helper.make_node(op, inputs, list(outputs), name=name or f"the_{op}", domain=domain, **attributes)


def run(model, outputs, inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    found = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(list(outputs), inputs)
    # A ZipMap returns one dictionary per sample.
    return [np.float32([list(scores.values()) for scores in value]) if isinstance(value, list) else value
            for value in found]


def check(folder):
    models = sorted(folder.glob("*.saved.onnx"))
    if not models:
        sys.exit("there are no saved models")
    for saved in models:
        name = saved.name.removesuffix(".saved.onnx")
        expected = dict(np.load(folder / f"{name}.expected.npz"))
        try:
            found = run(str(saved), expected, dict(np.load(folder / f"{name}.npz")))
        except Exception as error:
            sys.exit(f"{name}: {error}")
        for output, value in zip(expected, found):
            if value.shape != expected[output].shape:
                sys.exit(f"{name}: {output} has the shape {value.shape} instead of {expected[output].shape}")
            if not np.allclose(value, expected[output], atol=1e-3 if name.startswith("approximate_") else 5e-5):
                sys.exit(f"{name}: {output} differs by {np.abs(value - expected[output]).max()}")


def write(folder, name, nodes, inputs, constants, outputs=("y",), opset=17, types=None, reference=None):
    """inputs: arrays with the samples first. types: those of outputs that are not float tensors. reference: nodes that compute the
    same, for what ONNX Runtime's CPU provider lacks."""
    kinds = {"float32": FLOAT, "int32": INT32, "int64": INT64, "uint8": TensorProto.UINT8}
    described = [helper.make_tensor_value_info(key, kinds[str(array.dtype)], ["N", *array.shape[1:]])
                 for key, array in inputs.items()]

    tensor = helper.make_tensor_type_proto(FLOAT, None)

    def bytes_of(nodes):
        graph = helper.make_graph(nodes, "g", described,
                                  [helper.make_value_info(out, (types or {}).get(out, tensor)) for out in outputs],
                                  [array if isinstance(array, TensorProto) else numpy_helper.from_array(np.asarray(array), key)
                                   for key, array in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid(MS, 1),
                                                        helper.make_opsetid(ML, 3)])
        model.ir_version = 8
        return model.SerializeToString()

    expected = run(bytes_of(reference or nodes), outputs, inputs)
    (folder / (name + ".onnx")).write_bytes(bytes_of(nodes))
    np.savez(folder / (name + ".npz"), **inputs)
    np.savez(folder / (name + ".expected.npz"), **dict(zip(outputs, expected)))
    print(name)


def convolutions(folder):
    image = {"x": values(N, 4, 9, 7)}
    weights = {"w": values(6, 2, 3, 3), "b": values(6)}
    how = {"group": 2, "pads": [1, 0, 2, 1], "strides": [2, 1], "kernel_shape": [3, 3]}
    for activation, parameters in {"Relu": [], "Sigmoid": [], "Tanh": [], "LeakyRelu": [0.2], "Clip": [-0.5, 1.5],
                                   "HardSigmoid": [0.3, 0.4], "HardSwish": []}.items():
        given = {"activation_params": parameters} if parameters else {}
        for opset in (10, 17) if activation == "Clip" else (17,):
            write(folder, f"FusedConv_{activation}_{opset}",
                  [fused("FusedConv", ["x", "w", "b"], activation=activation, **how, **given)], image, weights, opset=opset)
    write(folder, "FusedConv_sum", [helper.make_node("Relu", ["x"], ["r"]),
                                    fused("FusedConv", ["x", "v", "", "r"], activation="Relu", pads=[1, 1, 1, 1])],
          image, {"v": values(4, 4, 3, 3)})


def products(folder):
    row = {"x": values(N, 8)}
    write(folder, "FusedGemm", [fused("FusedGemm", ["x", "w", "b"], alpha=0.5, beta=2.0, transB=1, activation="LeakyRelu",
                                      activation_alpha=0.1)], row, {"w": values(6, 8), "b": values(6)})
    pair = {"a": values(N, 3, S, 4), "b": values(N, 3, S, 4)}
    write(folder, "FusedMatMul_transB", [fused("FusedMatMul", ["a", "b"], transB=1, alpha=0.25)], pair, {})
    write(folder, "FusedMatMul_transA", [fused("FusedMatMul", ["a", "b"], transA=1)], pair, {})
    # The rank of the operands comes from the nodes before.
    write(folder, "FusedMatMul_computed", [helper.make_node("Softmax", ["a"], ["s"], axis=-1),
                                           helper.make_node("Add", ["b", "s"], ["t"]),
                                           fused("FusedMatMul", ["s", "t"], transB=1)], pair, {})
    # A vector has no column in the product.
    write(folder, "FusedMatMul_vector", [helper.make_node("MatMul", ["a", "v"], ["s"]),
                                         fused("FusedMatMul", ["s", "s"], transB=1)], {"a": pair["a"]}, {"v": values(4)})
    # Here it is unknown.
    unknown = [helper.make_node("Shape", ["a"], ["dims"]), helper.make_node("Compress", ["dims", "kept"], ["shape"]),
               helper.make_node("Reshape", ["a", "shape"], ["s"])]
    for name, right, how in (("unknown", "b", {"transA": 1}), ("unknown_row", "v", {"transB": 1, "transA": 1})):
        write(folder, f"FusedMatMul_{name}", unknown + [fused("FusedMatMul", ["s", right], **how)],
              pair if right == "b" else {"a": pair["a"]}, {"kept": np.ones(4, bool), "v": values(7, S)})
    # The batches of the product are the second dimension of the operand.
    write(folder, "FusedMatMul_batches", [fused("FusedMatMul", ["x", "w"], ["z"], transBatchA=1),
                                          helper.make_node("Transpose", ["z"], ["y"], perm=[1, 0, 2])],
          {"x": values(N, 3, 4)}, {"w": values(3, 4, S)})
    codes = {"x": random.randint(0, 256, (N, 8)).astype(np.uint8)}
    weight = {"w": random.randint(-60, 60, (8, 6)).astype(np.int8), "ws": np.float32(0.02) + np.zeros(1, np.float32),
              "b": values(6), "xs": np.float32(0.05), "xz": np.uint8(120)}
    write(folder, "MatMulIntegerToFloat", [fused("MatMulIntegerToFloat", ["x", "w", "xs", "ws", "xz", "", "b"])], codes, weight)
    # Scaled by each batch in ONNX Runtime and here, so that one sample at a time is the same.
    write(folder, "DynamicQuantizeMatMul", [fused("DynamicQuantizeMatMul", ["v", "w", "ws", "", "b"], ["z"]),
                                            helper.make_node("Add", ["x", "z"], ["y"])],
          {"x": values(N, 6)}, {"v": values(1, 8), **{key: weight[key] for key in ("w", "ws", "b")}})


def recurrent_networks(folder):
    """Each step quantizes the state in ONNX Runtime, but not here."""
    steps, hidden = 4, 5
    for name, directions, per_gate in (("", 1, False), ("_both", 2, False), ("_gates", 1, True), ("_gates_both", 2, True)):
        shape = (directions, 4 * hidden) if per_gate else (directions,)
        weights = {"w": random.randint(-60, 61, (directions, D, 4 * hidden)).astype(np.int8),  # larger ones saturate with AVX2
                   "r": random.randint(-60, 61, (directions, hidden, 4 * hidden)).astype(np.int8),
                   "ws": random.uniform(0.002, 0.006, shape).astype(np.float32), "rs": random.uniform(0.002, 0.006, shape).astype(np.float32),
                   "wz": np.full(shape, 0 if per_gate else 3, np.int8), "rz": np.zeros(shape, np.int8), "b": values(directions, 8 * hidden)}
        # The steps come first in the operator, the samples in the network.
        write(folder, f"approximate_DynamicQuantizeLSTM{name}",
              [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
               fused("DynamicQuantizeLSTM", ["t", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"], ["z", "h", "c"],
                     hidden_size=hidden, direction="bidirectional" if directions == 2 else "forward"),
               helper.make_node("Transpose", ["h"], ["y"], perm=[1, 0, 2]), helper.make_node("Transpose", ["c"], ["d"], perm=[1, 0, 2])],
              {"x": values(1, steps, D)}, weights, ("y", "d"))


def activations(folder):
    words = {"x": values(N, S, D)}
    write(folder, "BiasGelu", [fused("BiasGelu", ["x", "b"])], words, {"b": values(D)})
    for opset in (13, 20):
        write(folder, f"FastGelu_{opset}", [fused("FastGelu", ["x", "b"])], words, {"b": values(D)}, opset=opset)
    write(folder, "FastGelu_alone", [fused("FastGelu", ["x"])], words, {})


def normalizations(folder):
    two = {"x": values(N, S, D), "skip": values(N, S, D)}
    affine = {"gamma": values(D), "beta": values(D), "b": values(D)}
    write(folder, "SkipLayerNormalization", [fused("SkipLayerNormalization", ["x", "skip", "gamma", "beta", "b"],
                                                   ["y", "", "", "sum"], epsilon=1e-5)], two, affine, ("y", "sum"))
    write(folder, "SkipLayerNormalization_short", [fused("SkipLayerNormalization", ["x", "skip", "gamma"])], two, affine)
    write(folder, "SkipSimplifiedLayerNormalization",
          [fused("SkipSimplifiedLayerNormalization", ["x", "skip", "gamma", "b"], ["y", "", "", "sum"], epsilon=1e-6)],
          two, affine, ("y", "sum"))
    write(folder, "SimplifiedLayerNormalization",
          [helper.make_node("SimplifiedLayerNormalization", ["x", "gamma"], ["y"], epsilon=1e-6, axis=-1)],
          {"x": two["x"]}, affine)
    ids = {"ids": random.randint(0, 20, (N, S)).astype(np.int32), "segments": random.randint(0, 2, (N, S)).astype(np.int32),
           "mask": (np.arange(S) < random.randint(1, S + 1, (N, 1))).astype(np.int32)}
    tables = {"words": values(20, D), "places": values(S, D), "kinds": values(2, D), **affine}
    embed = ["ids", "segments", "words", "places", "kinds", "gamma", "beta", "mask"]
    for opset in (11, 17):
        write(folder, f"EmbedLayerNormalization_{opset}",
              [fused("EmbedLayerNormalization", embed, ["y", "count", "sum"])], ids, tables,
              ("y", "count", "sum"), opset, {"count": helper.make_tensor_type_proto(INT32, None)})
    write(folder, "EmbedLayerNormalization_unmasked",
          [fused("EmbedLayerNormalization", ["ids", "", "words", "places", "", "gamma", "beta"], ["y", "count"])],
          {"ids": ids["ids"]}, tables, ("y", "count"), types={"count": helper.make_tensor_type_proto(INT32, None)})
    # Only ones are counted.
    write(folder, "EmbedLayerNormalization_numbers", [fused("EmbedLayerNormalization", embed, ["y", "count"])],
          {**ids, "mask": ids["mask"] * random.randint(1, 4, (N, S)).astype(np.int32)}, tables, ("y", "count"), types={"count": helper.make_tensor_type_proto(INT32, None)})
    places = random.randint(0, S, (N, S)).astype(np.int32)
    write(folder, "EmbedLayerNormalization_positions",
          [fused("EmbedLayerNormalization", ["ids", "", "words", "places", "", "gamma", "beta", "mask", "at"],
                 ["y", "count"])],
          {"ids": ids["ids"], "mask": ids["mask"], "at": places}, tables)


def attentions(folder):
    words = {"x": values(N, S, D)}
    weights = {"w": values(D, 3 * D), "b": values(3 * D)}
    lengths = random.randint(1, S + 1, N).astype(np.int32)
    matrix = (np.arange(S) < lengths[:, None]).astype(np.int32)
    square = np.tril(np.ones((S, S), np.int32))[None] * matrix[:, None]
    masks = {"none": None, "lengths": lengths, "matrix": matrix, "square": square}
    for kind, mask in masks.items():
        for opset in (9, 11, 17) if mask is None else (11, 17):
            inputs = words if mask is None else {**words, "mask": mask}
            write(folder, f"Attention_{kind}_{opset}",
                  [fused("Attention", ["x", "w", "b"] + ["mask"] * (mask is not None), num_heads=3)], inputs, weights,
                  opset=opset)
    write(folder, "Attention_causal", [fused("Attention", ["x", "w", "b", "mask"], num_heads=3, unidirectional=1, scale=0.4)],
          {**words, "mask": matrix}, weights)
    write(folder, "Attention_widths", [fused("Attention", ["x", "v", "c", "", "", "bias"], num_heads=3,
                                             qkv_hidden_sizes=[6, 6, D])],
          {**words, "bias": values(N, 3, S, S)}, {"v": values(D, 12 + D), "c": values(12 + D)})
    write(folder, "Attention_past", [helper.make_node("Transpose", ["before"], ["past"], perm=[1, 0, 2, 3, 4]),
                                     fused("Attention", ["x", "w", "b", "", "past"], ["y", "present"], num_heads=3,
                                           unidirectional=1),
                                     helper.make_node("Transpose", ["present"], ["after"], perm=[1, 0, 2, 3, 4])],
          {**words, "before": values(N, 2, 3, 2, 4)}, weights, ("y", "after"))
    # As in optimized BERTs: the mask is the number of words that the embedding counts.
    write(folder, "Attention_embedded",
          [fused("EmbedLayerNormalization", ["ids", "", "words", "places", "", "g", "g", "mask"], ["e", "count"]),
           fused("Attention", ["e", "w", "b", "count"], num_heads=3)],
          {"ids": random.randint(0, 20, (N, S)).astype(np.int32), "mask": matrix},
          {**weights, "words": values(20, D), "places": values(S, D), "g": values(D)})
    # In one branch of an If, with constants of the graph around it.
    branches = {name: helper.make_graph(nodes, name, [], [helper.make_tensor_value_info(f"{name}_y", FLOAT, None)])
                for name, nodes in {"then": [fused("Attention", ["x", "w", "b"], ["then_y"], num_heads=3)],
                                    "otherwise": [helper.make_node("Identity", ["x"], ["otherwise_y"])]}.items()}
    write(folder, "Attention_branch",
          [helper.make_node("Shape", ["x"], ["shape"]), helper.make_node("Gather", ["shape", "one"], ["words"]),
           helper.make_node("Less", ["one", "words"], ["several"]),
           helper.make_node("If", ["several"], ["y"], then_branch=branches["then"], else_branch=branches["otherwise"])],
          words, {**weights, "one": np.array(1)})
    # The mask has a second value for each sample, its first valid key.
    write(folder, "refused_Attention_range", [helper.make_node("Concat", ["mask", "zero"], ["both"], axis=0),
                                              fused("Attention", ["x", "w", "b", "both"], num_heads=3)],
          {**words, "mask": lengths}, {**weights, "zero": np.zeros(N, np.int32)})
    three = {"q": values(N, S, D), "k": values(N, S + 2, D), "v": values(N, S + 2, D)}
    long_mask = (np.arange(S + 2) < random.randint(1, S + 3, (N, 1))).astype(np.int32)
    write(folder, "MultiHeadAttention", [fused("MultiHeadAttention", ["q", "k", "v"], num_heads=3)], three, {})
    write(folder, "MultiHeadAttention_masked",
          [fused("MultiHeadAttention", ["q", "k", "v", "b", "mask", "bias"], num_heads=3, mask_filter_value=-1e4)],
          {**three, "mask": long_mask, "bias": values(N, 3, S, S + 2)}, {"b": weights["b"]})
    wide = {**three, "v": values(N, S + 2, 6)}
    write(folder, "MultiHeadAttention_values", [fused("MultiHeadAttention", ["q", "k", "v", "b"], num_heads=3)], wide,
          {"b": values(2 * D + 6)})
    unknown = [helper.make_node("Shape", ["q"], ["dims"]), helper.make_node("Compress", ["dims", "kept"], ["shape"]),
               helper.make_node("Reshape", ["q", "shape"], ["u"])]
    write(folder, "MultiHeadAttention_unknown", unknown + [fused("MultiHeadAttention", ["u", "k", "v"], num_heads=3)], three,
          {"kept": np.ones(3, bool)})
    same = {"q": values(N, S, D), "k": values(N, S, D), "v": values(N, S, D)}
    write(folder, "MultiHeadAttention_past",
          [fused("MultiHeadAttention", ["q", "k", "v", "", "", "", "pk", "pv"], ["y", "keys", "values"], num_heads=3,
                 unidirectional=1)],
          {**same, "pk": values(N, 3, 2, 4), "pv": values(N, 3, 2, 4)}, {}, ("y", "keys", "values"))
    write(folder, "MultiHeadAttention_cross", [fused("MultiHeadAttention", ["q", "k", "v"], num_heads=3)],
          {"q": same["q"], "k": values(N, 3, 4, 4), "v": values(N, 3, 4, 4)}, {})


def language(folder):
    """Rotated and grouped attention, as in exports of language models."""

    def rotation(*frequencies):
        angles = np.arange(16)[:, None] * np.array(frequencies)
        return {"cos": np.cos(angles).astype(np.float32), "sin": np.sin(angles).astype(np.float32)}

    tables = rotation(1.0, 0.3)
    words = {"x": values(N, S, D), "at": random.randint(0, 16, (N, S)).astype(np.int64)}
    for interleaved in (0, 1):
        write(folder, f"RotaryEmbedding_{interleaved}",
              [fused("RotaryEmbedding", ["x", "at", "cos", "sin"], interleaved=interleaved)], words, tables)
    write(folder, "RotaryEmbedding_part", [fused("RotaryEmbedding", ["x", "at", "cos", "sin"], num_heads=2, rotary_embedding_dim=4)],
          words, tables)
    write(folder, "RotaryEmbedding_start", [fused("RotaryEmbedding", ["x", "at", "cos", "sin"])],
          {"x": values(N, 3, S, 4)}, {**tables, "at": np.array([2])})

    # The operators of ONNX itself.
    for interleaved, part in ((0, 0), (1, 0), (0, 2)):
        how = {"interleaved": interleaved, "rotary_embedding_dim": part, "num_heads": 3}
        half = {key: table[:, :part // 2 or 2] for key, table in tables.items()}
        write(folder, f"RotaryEmbedding23_{interleaved}_{part}",
              [helper.make_node("RotaryEmbedding", ["x", "cos", "sin", "at"], ["y"], **how)], words, half, opset=23)
    rows = {key: table[:S][None].repeat(N, 0) for key, table in tables.items()}
    write(folder, "RotaryEmbedding23_rows", [helper.make_node("RotaryEmbedding", ["x", "cos", "sin"], ["y"])],
          {"x": values(N, 3, S, 4), **rows}, {}, opset=23)
    write(folder, "Swish", [helper.make_node("Swish", ["x"], ["z"]), helper.make_node("Swish", ["z"], ["y"], alpha=0.5)],
          {"x": values(N, D)}, {}, opset=24)

    heads, shared, width = 6, 2, 16
    def attention(name, words, before, packed=False, padded=False, **how):
        """ONNX Runtime takes several words of several samples only without a past."""
        inputs = {"q": values(N, words, heads * width), "k": values(N, words, shared * width), "v": values(N, words, shared * width)}
        if packed:
            inputs = {"q": np.concatenate(list(inputs.values()), -1)}
        names = ["q", "", ""] if packed else ["q", "k", "v"]
        if before:
            inputs |= {"pk": values(N, shared, before, width), "pv": values(N, shared, before, width)}
        constants = {"total": np.array(words + before, np.int32), "zero": np.array([0]),
                     "last": np.array([words + before - 1], np.int32), **rotation(*(0.6 ** np.arange(8)))}
        if padded:
            inputs["mask"] = (np.arange(words) < random.randint(1, words + 1, (N, 1))).astype(np.int32)
            constants |= {"one": np.array([1], np.int32), "axis": np.array([1])}
        lengths = [helper.make_node("ReduceSum", ["mask", "axis"], ["count"], keepdims=0),
                   helper.make_node("Sub", ["count", "one"], ["lengths"])] if padded else [
                 helper.make_node("Shape", ["q"], ["shape"]),
                 helper.make_node("Gather", ["shape", "zero"], ["samples"], axis=0),
                 helper.make_node("Expand", ["last", "samples"], ["lengths"])]
        nodes = lengths + [
                 fused("GroupQueryAttention", names + (["pk", "pv"] if before else ["", ""]) + ["lengths", "total"] +
                       (["cos", "sin"] if how.get("do_rotary") else []),
                       ["y", "keys", "values"], num_heads=heads, kv_num_heads=shared, **how)]
        write(folder, f"GroupQueryAttention_{name}", nodes, inputs, constants, ("y", "keys", "values"))

    def buffers(name, words, before, lengths, total, unknown=False, **how):
        """Pasts of different lengths, in buffers with room for more."""
        inputs = {"q": values(N, words, heads * width), "k": values(N, words, shared * width), "v": values(N, words, shared * width),
                  "pk": values(N, shared, before, width), "pv": values(N, shared, before, width),
                  "lengths": np.array(lengths, np.int32) - 1}
        constants = {"total": np.array(total, np.int32), "kept": np.ones(3, bool), **rotation(*(0.6 ** np.arange(8)))}
        nodes = [helper.make_node("Shape", ["q"], ["dims"]), helper.make_node("Compress", ["dims", "kept"], ["shape"]),
                 helper.make_node("Reshape", ["q", "shape"], ["u"])] if unknown else []
        write(folder, f"GroupQueryAttention_{name}", nodes + [
            fused("GroupQueryAttention", ["u" if unknown else "q", "k", "v", "pk", "pv", "lengths", "total", "cos", "sin"],
                  ["y", "keys", "values"], num_heads=heads, kv_num_heads=shared, do_rotary=1, **how)],
              inputs, constants, ("y", "keys", "values"))

    buffers("ragged", 1, 4, [1, 5, 3, 2, 5, 4], 5)
    buffers("buffer", 1, 8, [1, 5, 3, 2, 5, 4], 5, local_window_size=2)
    buffers("buffer_start", S, 8, [S, S, 3, S, 2, S], S)
    buffers("unknown", 1, 4, [5] * N, 5, unknown=True)
    attention("past", 1, 3)
    attention("start", S, 0, scale=0.3)
    attention("rotary", S, 0, do_rotary=1)
    attention("rotary_past", 1, 3, do_rotary=1)
    attention("interleaved", S, 0, do_rotary=1, rotary_interleaved=1, softcap=2.0)
    attention("window", S, 0, local_window_size=3)
    attention("packed", S, 0, packed=True)
    attention("padded", S, 0, padded=True, do_rotary=1)
    attention("both", S, 0, causal=0)
    attention("both_padded", S, 0, padded=True, causal=0)
    attention("both_past", 1, 3, causal=0, do_rotary=1)

    # Heads of queries and keys are normalized, as in Qwen 3.
    inputs = {"q": values(N, S, heads * width), "k": values(N, S, shared * width), "v": values(N, S, shared * width),
              "lengths": np.full(N, S - 1, np.int32)}
    constants = {"total": np.array(S, np.int32), "qn": values(width), "kn": values(width), "qs": np.array([0, 0, heads, width]),
                 "ks": np.array([0, 0, shared, width]), "flat": np.array([0, 0, -1]), **rotation(*(0.6 ** np.arange(8)))}

    def grouped(query, key, *norms, **how):
        return fused("GroupQueryAttention", [query, key, "v", "", "", "lengths", "total", "cos", "sin", *norms],
                     ["y", "keys", "values"], num_heads=heads, kv_num_heads=shared, do_rotary=1, **how)

    separate = []
    for name in "qk":
        separate += [helper.make_node("Reshape", [name, name + "s"], [name + "1"]),
                     helper.make_node("SimplifiedLayerNormalization", [name + "1", name + "n"], [name + "2"], axis=-1, epsilon=0.01),
                     helper.make_node("Reshape", [name + "2", "flat"], [name + "3"])]
    write(folder, "GroupQueryAttention_normalized", [grouped("q", "k", *[""] * 5, "qn", "kn", qk_norm_epsilon=0.01)], inputs,
          constants, ("y", "keys", "values"), reference=separate + [grouped("q3", "k3")])


def blocks(folder):
    """Weights with one scale for each block."""
    for columns in (64, 80, 72):  # two whole blocks, and three with a shorter last one
        count = -(-columns // 32)
        for bits, zeros in ((4, False), (4, True), (8, False), (8, True)):
            constants = {"w": random.randint(0, 256, (12, count, 32 * bits // 8)).astype(np.uint8),
                         "scales": (0.01 + random.rand(12 * count)).astype(np.float32),
                         "z": random.randint(0, 256, 12 * -(-count * bits // 8)).astype(np.uint8), "b": values(12)}
            write(folder, f"MatMulNBits_{columns}_{bits}_{zeros}",
                  [fused("MatMulNBits", ["x", "w", "scales", "z" if zeros else "", "", "b"], K=columns, N=12, bits=bits,
                         block_size=32)], {"x": values(N, columns)}, constants)
    rows = {"x": values(N, 64)}
    for axis, block, shape in ((0, 24, (3, 12)), (1, 4, (64, 3))):  # the last block can be shorter
        write(folder, f"DequantizeLinear_{axis}",
              [helper.make_node("DequantizeLinear", ["w", "scales", "z"], ["f"], axis=axis, block_size=block),
               helper.make_node("MatMul", ["x", "f"], ["y"])], rows,
              {"w": random.randint(-128, 128, (64, 12)).astype(np.int8), "scales": (0.01 + random.rand(*shape)).astype(np.float32),
               "z": random.randint(-20, 20, shape).astype(np.int8)}, opset=21)
    ids = {"ids": random.randint(0, 20, (N, S)).astype(np.int64)}
    table = {"t": random.randint(0, 256, (20, 32)).astype(np.uint8), "scales": (0.01 + random.rand(20, 2)).astype(np.float32),
             "z": random.randint(0, 256, (20, 1)).astype(np.uint8)}
    for zeros in (False, True):
        write(folder, f"GatherBlockQuantized_{zeros}",
              [fused("GatherBlockQuantized", ["t", "ids", "scales"] + ["z"] * zeros, quantize_axis=1, block_size=32, bits=4)],
              ids, table)
    codes = random.randint(0, 256, 20 * 16).astype(np.uint8).tobytes()
    typed = helper.make_tensor("t", TensorProto.UINT4, (20, 32), codes, raw=True)  # without zero points, code 0 stands for 0
    write(folder, "GatherBlockQuantized_uint4",
          [fused("GatherBlockQuantized", ["t", "ids", "scales"], quantize_axis=1, block_size=32, bits=4)], ids,
          {"t": typed, "scales": (0.01 + random.rand(20, 1)).astype(np.float32)}, opset=21)
    table = {"t": random.randint(0, 256, (20, 20)).astype(np.uint8), "scales": (0.01 + random.rand(20, 2)).astype(np.float32)}
    readers = [fused("GatherBlockQuantized", ["t", "ids", "scales"], [out], quantize_axis=1, block_size=32, bits=4)
               for out in ("y", "y2")]
    readers[1].name = "another"
    write(folder, "GatherBlockQuantized_twice", readers, ids, table, ("y", "y2"))  # two nodes read one table
    # The table of the words is also the weight of the last product, whose codes are stored in blocks.
    tied = {"t": random.randint(0, 256, (20, 2, 16)).astype(np.uint8), "scales": (0.01 + random.rand(20, 2)).astype(np.float32),
            "rows": np.array([20, 32], np.int64)}
    write(folder, "GatherBlockQuantized_tied",
          [helper.make_node("Reshape", ["t", "rows"], ["r"]),
           fused("GatherBlockQuantized", ["r", "ids", "scales"], ["e"], quantize_axis=1, block_size=32, bits=4),
           helper.make_node("Relu", ["e"], ["h"]),
           fused("MatMulNBits", ["h", "t", "scales"], ["y"], name="head", K=64, N=20, bits=4, block_size=32)], ids, tied)
    # Nodes that stay as they are keep their constants.
    order = {"order": (np.arange(64) // 32).astype(np.int32)}
    write(folder, "kept_MatMulNBits",
          [helper.make_node("Reshape", ["t", "rows"], ["r"]),
           fused("GatherBlockQuantized", ["r", "ids", "scales"], ["e"], quantize_axis=1, block_size=32, bits=4),
           fused("MatMulNBits", ["e", "t", "scales", "", "order"], ["y"], name="head", K=64, N=20, bits=4, block_size=32)],
          ids, tied | order)
    cube = helper.make_tensor("t", TensorProto.UINT4, (20, 2, 32), random.randint(0, 256, 20 * 32).astype(np.uint8).tobytes(), raw=True)
    write(folder, "kept_GatherBlockQuantized",
          [fused("GatherBlockQuantized", ["t", "ids", "scales"], quantize_axis=2, block_size=32, bits=4)], ids,
          {"t": cube, "scales": (0.01 + random.rand(20, 2, 1)).astype(np.float32)}, opset=21)
    write(folder, "GatherBlockQuantized_part",  # 40 columns: the second block has eight
          [fused("GatherBlockQuantized", ["t", "ids", "scales"], quantize_axis=1, block_size=32, bits=4)], ids, table)


def features(folder):
    """Operators that converters of scikit-learn write before a network."""
    row, numbers = {"x": values(N, 5)}, {"x": random.randint(-9, 9, (N, 5)).astype(np.int64)}
    dense, weights = helper.make_node("MatMul", ["s", "w"], ["y"]), {"w": values(5, 3)}
    each = {"offset": values(5).tolist(), "scale": values(5).tolist()}
    for name, inputs in (("float", row), ("int64", numbers)):
        write(folder, f"Scaler_{name}", [fused("Scaler", ["x"], ["s"], ML, **each), dense], inputs, weights)
    write(folder, "Scaler_same", [fused("Scaler", ["x"], ["s"], ML, offset=[0.5], scale=[2.0]), dense], row, weights)
    holes = {"x": np.where(random.rand(N, 5) < 0.3, np.nan, row["x"]).astype(np.float32)}
    write(folder, "Imputer_nan", [fused("Imputer", ["x"], ["s"], ML, imputed_value_floats=each["offset"],
                                        replaced_value_float=float("nan")), dense], holes, weights)
    write(folder, "Imputer_zero", [helper.make_node("Relu", ["x"], ["r"]),
                                   fused("Imputer", ["r"], ["s"], ML, imputed_value_floats=[0.25]), dense], row, weights)
    write(folder, "Binarizer", [fused("Binarizer", ["x"], ["s"], ML, threshold=0.1), dense], row, weights)
    # A list of another length counts as its first value.
    write(folder, "Imputer_wide", [fused("Imputer", ["x"], ["y"], ML, imputed_value_floats=[0.5, 2.0, 3.0],
                                         replaced_value_float=float("nan"))], {"x": holes["x"][:, :1]}, {})
    # Several in a row: the shapes between them are not in the file.
    write(folder, "Scaler_Normalizer", [fused("Scaler", ["x"], ["s1"], ML, **each),
                                        fused("Normalizer", ["s1"], ["s2"], ML, norm="L2"),
                                        fused("ArrayFeatureExtractor", ["s2", "kept"], ["s3"], ML),
                                        fused("Scaler", ["s3"], ["s4"], ML, "again", offset=each["offset"][:3], scale=each["scale"][:3]),
                                        fused("ArrayFeatureExtractor", ["s4", "kept"], ["y"], ML, "last")],
          row, {"kept": np.array([2, 0, 1])})
    for opset in (9, 10):
        write(folder, f"Imputer_nan_{opset}", [fused("Imputer", ["x"], ["s"], ML, imputed_value_floats=each["offset"],
                                                     replaced_value_float=float("nan")),
                                               fused("Normalizer", ["s"], ["t"], ML, norm="L1"),
                                               fused("Scaler", ["t"], ["s2"], ML, **each),
                                               helper.make_node("MatMul", ["s2", "w"], ["y"])], holes, weights, opset=opset)
    zeros = {"x": np.concatenate([row["x"][1:], np.zeros((1, 5), np.float32)]) * np.float32([[1], [1], [1e-15], [1], [1], [1]])}
    for norm in ("L1", "L2"):
        write(folder, f"Normalizer_{norm}", [fused("Normalizer", ["x"], ["s"], ML, norm=norm), dense], zeros, weights)
    for kind, key, labels in (("int64s", INT64, [1, 3, 7, 8]), ("strings", TensorProto.STRING, ["a", "b", "c", "d"])):
        maps = helper.make_sequence_type_proto(helper.make_map_type_proto(key, helper.make_tensor_type_proto(FLOAT, [])))
        write(folder, f"ZipMap_{kind}", [helper.make_node("MatMul", ["x", "w"], ["s"]), helper.make_node("Softmax", ["s"], ["p"]),
                                         fused("ZipMap", ["p"], ["y"], ML, **{f"classlabels_{kind}": labels})],
              row, {"w": values(5, 4)}, types={"y": maps})
    write(folder, "ArrayFeatureExtractor", [fused("ArrayFeatureExtractor", ["x", "kept"], ["y"], ML)], row,
          {"kept": np.array([3, 0, 3])})


target = pathlib.Path(sys.argv[1])
if sys.argv[2:] == ["--check"]:
    sys.exit(check(target))
for part in (convolutions, products, recurrent_networks, activations, normalizations, attentions, language, blocks,
             features):
    part(target)
