# SPDX-License-Identifier: Apache-2.0
"""Damages models: their content (arity, attributes, shapes, initializers, connections) and their bytes."""

import random

from onnx import AttributeProto, ModelProto, TensorProto

INTEGERS = [0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**32, -(2**31), 2**62, -(2**63), 2**63 - 1]
FLOATS = [0.0, -1.0, 1e-45, 3.4e38, float("inf"), float("-inf"), float("nan")]
TEXTS = [b"", b"BOGUS", b"SAME_UPPER", b"linear", b"\xff\xfe", b"a" * 5000, b"%s%n", b"../../etc/passwd"]
OPERATORS = ["Conv", "Gemm", "MatMul", "Add", "Relu", "Reshape", "LSTM", "GRU", "Resize", "Pad", "Slice", "TopK", "Gather", "Concat", "Split",
             "Transpose", "Softmax", "ReduceMean", "Clip", "QuantizeLinear", "DequantizeLinear", "NonZero", "If", "Loop", "Scan", "Einsum",
             "GridSample", "BatchNormalization", "ConvInteger", "DepthToSpace", "RandomNormal", "SequenceEmpty", "Constant", "Expand", "Tile"]


def _node(rng, model):
    return rng.choice(model.graph.node) if model.graph.node else None


def _names(model) -> list[str]:
    names = [i.name for i in model.graph.input] + [t.name for t in model.graph.initializer]
    return names + [o for n in model.graph.node for o in n.output] + ["", "nowhere"]


def change_inputs(rng, model):
    node = _node(rng, model)
    inputs = list(node.input)
    for _ in range(rng.randint(1, 2)):
        action = rng.choice(["clear", "drop", "add", "replace", "swap"])
        if action == "clear":
            inputs = []
        elif action == "drop" and inputs:
            inputs.pop(rng.randrange(len(inputs)))
        elif action == "add":
            inputs.insert(rng.randint(0, len(inputs)), rng.choice(_names(model)))
        elif action == "replace" and inputs:
            inputs[rng.randrange(len(inputs))] = rng.choice(_names(model))
        else:
            rng.shuffle(inputs)
    del node.input[:]
    node.input.extend(inputs)


def change_outputs(rng, model):
    node = _node(rng, model)
    outputs = list(node.output)
    action = rng.choice(["clear", "drop", "add", "rename"])
    if action == "clear":
        outputs = []
    elif action == "drop" and outputs:
        outputs.pop()
    elif action == "add":
        outputs.append(rng.choice(["", "extra", rng.choice(_names(model))]))
    elif outputs:
        outputs[0] = rng.choice(_names(model))
    del node.output[:]
    node.output.extend(outputs)


def change_operator(rng, model):
    _node(rng, model).op_type = rng.choice(OPERATORS + ["", "Nonsense"])


def _set(rng, attribute):
    kind = rng.choice([AttributeProto.INT, AttributeProto.FLOAT, AttributeProto.STRING, AttributeProto.INTS, AttributeProto.FLOATS,
                       AttributeProto.STRINGS, AttributeProto.TENSOR, AttributeProto.GRAPH, 0, 99 if rng.random() < 0.1 else 1])
    name = attribute.name
    if rng.random() < 0.5:
        kind = attribute.type  # the right type, another value
    attribute.Clear()
    attribute.name = name
    if kind in AttributeProto.AttributeType.values():
        attribute.type = kind
    if kind == AttributeProto.INT:
        attribute.i = rng.choice(INTEGERS)
    elif kind == AttributeProto.FLOAT:
        attribute.f = rng.choice(FLOATS)
    elif kind == AttributeProto.STRING:
        attribute.s = rng.choice(TEXTS)
    elif kind == AttributeProto.INTS:
        attribute.ints.extend(rng.choice(INTEGERS) for _ in range(rng.choice([0, 1, 2, 3, 4, 9])))
    elif kind == AttributeProto.FLOATS:
        attribute.floats.extend(rng.choice(FLOATS) for _ in range(rng.randint(0, 4)))
    elif kind == AttributeProto.STRINGS:
        attribute.strings.extend(rng.choice(TEXTS) for _ in range(rng.randint(0, 3)))
    elif kind == AttributeProto.TENSOR:
        attribute.t.data_type = rng.randint(0, 25)
        attribute.t.dims.extend(rng.choice(INTEGERS) for _ in range(rng.randint(0, 3)))
        attribute.t.raw_data = bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 4, 8])))


def change_attribute(rng, model):
    nodes = [n for n in model.graph.node if n.attribute]
    if nodes:
        _set(rng, rng.choice(rng.choice(nodes).attribute))


def add_attribute(rng, model):
    names = [a.name for n in model.graph.node for a in n.attribute] + ["axis", "value", "value_float", "value_string", "auto_pad", "group",
                                                                       "kernel_shape", "dilations", "hidden_size", "blocksize", "to", "axes"]
    attribute = _node(rng, model).attribute.add()
    attribute.name = rng.choice(names)
    _set(rng, attribute)


def drop_attribute(rng, model):
    nodes = [n for n in model.graph.node if n.attribute]
    if nodes:
        node = rng.choice(nodes)
        del node.attribute[rng.randrange(len(node.attribute))]


def change_initializer(rng, model):
    if not model.graph.initializer:
        return
    tensor = rng.choice(model.graph.initializer)
    action = rng.choice(["dims", "type", "cut", "grow", "values", "external", "drop", "reshape"])
    if action == "dims" and tensor.dims:
        tensor.dims[rng.randrange(len(tensor.dims))] = rng.choice(INTEGERS)
    elif action == "reshape":
        dims = [d for d in tensor.dims if d != 1] or [1]
        rng.shuffle(dims)
        dims.insert(rng.randint(0, len(dims)), 1)
        del tensor.dims[:]
        tensor.dims.extend(dims)
    elif action == "type":
        tensor.data_type = rng.randint(0, 25)
    elif action == "cut":
        tensor.raw_data = tensor.raw_data[: rng.randint(0, len(tensor.raw_data))]
    elif action == "grow":
        tensor.raw_data += bytes(rng.randint(1, 64))
    elif action == "values":
        tensor.raw_data = bytes(rng.randrange(256) for _ in tensor.raw_data)
    elif action == "external":
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in [("location", rng.choice(["model.onnx", "../x", "/dev/zero", ".", "", "missing.bin"])),
                           ("offset", str(rng.choice(INTEGERS))), ("length", rng.choice(["0", "-1", "x", "9" * 30]))]:
            entry = tensor.external_data.add()
            entry.key, entry.value = key, value
    else:
        model.graph.initializer.remove(tensor)


def change_shape(rng, model):
    values = list(model.graph.input) + list(model.graph.output)
    value = rng.choice(values)
    shape = value.type.tensor_type.shape
    action = rng.choice(["value", "symbol", "rank", "none", "type"])
    if action == "none":
        value.type.tensor_type.ClearField("shape")
    elif action == "type":
        value.type.tensor_type.elem_type = rng.randint(0, 25)
    elif action == "rank":
        shape.dim.add().dim_value = rng.choice([0, 1, 2, 5])
    elif shape.dim:
        dim = rng.choice(shape.dim)
        if action == "value":
            dim.dim_value = rng.choice(INTEGERS)
        else:
            dim.dim_param = rng.choice(["N", "", "n" * 5000, "batch_size"])


def change_structure(rng, model):
    graph = model.graph
    action = rng.choice(["duplicate", "drop", "shuffle", "output", "input", "opset", "name", "input is output"])
    nodes = list(graph.node)
    if action == "duplicate":
        nodes.append(rng.choice(nodes))
    elif action == "drop":
        nodes.pop(rng.randrange(len(nodes)))
    elif action == "shuffle":
        rng.shuffle(nodes)
    elif action == "output":
        graph.output.add().name = rng.choice(_names(model))
    elif action == "input":
        graph.input.add().name = rng.choice(_names(model) + ["fresh"])
    elif action == "opset":
        model.opset_import[0].version = rng.choice(INTEGERS + [5, 9, 11, 17, 21])
    elif action == "name":
        rng.choice(nodes).name = rng.choice(["", "x" * 30000, "/a" * 3000, "=cmd()", "<svg onload=x>", "\x1b[31m", nodes[0].name])
    else:
        graph.output.add().CopyFrom(graph.input[0])
        for dim in graph.output[-1].type.tensor_type.shape.dim[:1]:  # none if it is a scalar
            dim.dim_value = rng.choice([1, 4, 7])
    copies = [type(n).FromString(n.SerializeToString()) for n in nodes]
    del graph.node[:]
    graph.node.extend(copies)


CHANGES = [change_inputs, change_inputs, change_outputs, change_operator, change_attribute, change_attribute, change_attribute, add_attribute,
           drop_attribute, change_initializer, change_initializer, change_shape, change_structure]


def mutated_bytes(rng: random.Random, content: bytes) -> bytes:
    """Flips, cuts, repeats and replaces bytes; for any format."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 4, 16])):
        if not data:
            break
        at = rng.randrange(len(data))
        action = rng.randrange(5)
        if action == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif action == 1:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif action == 2:
            del data[at : None if rng.random() < 0.3 else at + rng.randint(1, 8)]
        elif action == 3:
            data[at:at] = data[at : at + rng.randint(1, 64)]
        else:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
    return bytes(data)


def mutated_model(rng: random.Random, seed: ModelProto) -> bytes:
    model = ModelProto.FromString(seed.SerializeToString())
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if model.graph.node and model.graph.input:
            rng.choice(CHANGES)(rng, model)
    content = model.SerializeToString()
    return mutated_bytes(rng, content) if rng.random() < 0.1 else content
