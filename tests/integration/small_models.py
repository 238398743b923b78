# SPDX-License-Identifier: Apache-2.0
"""Writes small networks of typical kinds, random data for them, and ONNX Runtime's float outputs.

Usage: small_models.py FOLDER        writes NAME/NAME.onnx, NAME/data.npz, NAME/expected.npz for each; prints the names
"""
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 5


class Net:
    """Collects nodes and initializers; every method returns the name of the tensor that it creates."""

    def __init__(self, inputs, opset=17):
        self.rng, self.nodes, self.inits, self.opset = np.random.RandomState(0), [], [], opset
        self.inputs = [helper.make_tensor_value_info(n, t, s if isinstance(s, list) else ["N", *s]) for n, t, s in inputs]

    def const(self, value, dtype=None):
        name = f"c{len(self.inits)}"
        array = np.asarray(value, dtype or (np.int64 if np.asarray(value).dtype.kind == "i" else np.float32))
        self.inits.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape):
        return self.const(self.rng.randn(*shape) / np.sqrt(max(1, np.prod(shape[1:]))))

    def op(self, kind, *inputs, outputs=1, **attributes):
        names = [f"{kind}_{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=names[0], **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, cin, cout, k, stride=1, group=1):
        y = self.op("Conv", x, self.weight(cout, cin // group, k, k), self.weight(cout), kernel_shape=[k, k],
                    strides=[stride] * 2, pads=[k // 2] * 4, group=group)
        return self.op("Relu", y)

    def linear(self, x, cin, cout):
        w = self.const(self.rng.randn(cin, cout) / np.sqrt(cin))
        return self.op("Add", self.op("MatMul", x, w), self.weight(cout))

    def layer_norm(self, x, d, written_out=False):
        gamma, beta = self.const(self.rng.uniform(0.5, 1.5, d)), self.weight(d)
        if not written_out:
            return self.op("LayerNormalization", x, gamma, beta, axis=-1, epsilon=1e-5)
        distance = self.op("Sub", x, self.op("ReduceMean", x, axes=[-1]))
        variance = self.op("ReduceMean", self.op("Pow", distance, self.const(2.0)), axes=[-1])
        root = self.op("Sqrt", self.op("Add", variance, self.const(1e-5)))
        return self.op("Add", self.op("Mul", self.op("Div", distance, root), gamma), beta)

    def gelu(self, x):
        one = self.op("Add", self.op("Erf", self.op("Div", x, self.const(np.sqrt(2.0)))), self.const(1.0))
        return self.op("Mul", self.op("Mul", x, one), self.const(0.5))

    def dim(self, x, axis):
        return self.op("Gather", self.op("Shape", x), self.const(axis), axis=0)

    def shape(self, *parts):
        """A shape computed at run time, as exporters write it."""
        axes = self.const([0])
        return self.op("Concat", *[self.op("Unsqueeze", p, axes) if isinstance(p, str) else self.const([p]) for p in parts], axis=0)

    def attention(self, x, d, heads, mask=None):
        """Query, key and value from one product, shapes by subgraph."""
        n, t, c = (self.dim(x, i) for i in range(3))
        size = self.op("Cast", self.op("Cast", self.op("Div", c, self.const(heads)), to=TensorProto.INT64), to=TensorProto.INT64)
        y = self.op("Reshape", self.linear(x, d, 3 * d), self.shape(n, t, 3, heads, size))
        y = self.op("Split", self.op("Transpose", y, perm=[2, 0, 3, 1, 4]), self.const([1, 1, 1]), outputs=3, axis=0)
        q, k, v = (self.op("Squeeze", part, self.const([0])) for part in y)
        scale = self.op("Pow", self.op("Cast", size, to=TensorProto.FLOAT), self.const(-0.5))
        a = self.op("Mul", self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2])), scale)
        a = self.op("Softmax", self.op("Add", a, mask) if mask else a, axis=-1)
        y = self.op("Transpose", self.op("MatMul", a, v), perm=[0, 2, 1, 3])
        return self.linear(self.op("Reshape", y, self.shape(n, t, c)), d, d)

    def block(self, x, d, heads, mask=None, written_out=False):
        x = self.op("Add", x, self.attention(self.layer_norm(x, d, written_out), d, heads, mask))
        return self.op("Add", x, self.linear(self.gelu(self.linear(self.layer_norm(x, d, written_out), d, 4 * d)), 4 * d, d))

    def model(self, *outputs):
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
        graph = helper.make_graph(self.nodes, "small", self.inputs, infos, self.inits)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def vit(written_out=False):
    n = Net([("input", TensorProto.FLOAT, (3, 16, 16))])
    x = n.op("Conv", "input", n.weight(24, 3, 4, 4), n.weight(24), kernel_shape=[4, 4], strides=[4, 4])
    x = n.op("Transpose", n.op("Reshape", x, n.shape(n.dim(x, 0), n.dim(x, 1), -1)), perm=[0, 2, 1])
    wanted = n.shape(n.dim(x, 0), -1, -1)
    ones = n.op("ConstantOfShape", n.op("Shape", wanted), value=helper.make_tensor("v", TensorProto.INT64, [1], [1]))
    minus = n.op("Equal", wanted, n.op("Mul", ones, n.const(-1)))
    token = n.op("Expand", n.weight(1, 1, 24), n.op("Where", minus, ones, wanted))
    x = n.op("Add", n.op("Concat", token, x, axis=1), n.weight(1, 17, 24))
    for _ in range(2):
        x = n.block(x, 24, 3, written_out=written_out)
    x = n.op("Gather", n.layer_norm(x, 24), n.const(0), axis=1)
    return n.model(n.op("Gemm", x, n.weight(10, 24), n.weight(10), transB=1))


def masked_bert():
    n = Net([("input_ids", TensorProto.INT64, (12,)), ("attention_mask", TensorProto.INT64, (12,))])
    x = n.op("Add", n.op("Gather", n.weight(40, 32), "input_ids"), n.weight(1, 12, 32))
    mask = n.op("Cast", n.op("Unsqueeze", "attention_mask", n.const([1, 2])), to=TensorProto.FLOAT)
    mask = n.op("Mul", n.op("Sub", n.const(1.0), mask), n.const(-1e4))
    for _ in range(2):
        x = n.block(x, 32, 4, mask)
    return n.model(n.linear(x, 32, 2))


def nhwc_resnet():
    """As converters from TensorFlow write it: channels last outside, a Transpose before and after every convolution."""
    n = Net([("input", TensorProto.FLOAT, (16, 16, 3))])

    def conv(x, cin, cout, stride=1):
        y = n.conv(n.op("Transpose", x, perm=[0, 3, 1, 2]), cin, cout, 3, stride)
        return n.op("Transpose", y, perm=[0, 2, 3, 1])

    x = conv("input", 3, 8)
    x = n.op("Add", x, conv(conv(x, 8, 8), 8, 8))
    x = n.op("Mul", x, n.weight(8))
    x = n.op("ReduceMean", conv(x, 8, 16, 2), axes=[1, 2], keepdims=0)
    return n.model(n.op("Softmax", n.linear(x, 16, 10), axis=-1))


def unet():
    n = Net([("input", TensorProto.FLOAT, (3, 16, 16)), ("time", TensorProto.FLOAT, (8, 1, 1))])
    t = n.op("Mul", "time", n.op("Sigmoid", "time"))
    a = n.op("Add", n.conv("input", 3, 8, 3), t)
    b = n.conv(n.op("MaxPool", a, kernel_shape=[2, 2], strides=[2, 2]), 8, 16, 3)
    c = n.conv(n.op("AveragePool", b, kernel_shape=[2, 2], strides=[2, 2]), 16, 16, 3)
    c = n.op("InstanceNormalization", c, n.weight(16), n.weight(16))
    up = n.op("ConvTranspose", c, n.weight(16, 16, 2, 2), n.weight(16), kernel_shape=[2, 2], strides=[2, 2])
    d = n.conv(n.op("Concat", up, b, axis=1), 32, 8, 3)
    up = n.op("Resize", d, "", n.const(np.array([1, 1, 2, 2], np.float32)), mode="linear")
    e = n.op("LeakyRelu", n.op("Concat", n.op("Pad", up, n.const([0] * 8)), a, axis=1), alpha=0.1)
    return n.model(n.op("Tanh", n.op("Conv", e, n.weight(3, 16, 1, 1))))


def densenet():
    n = Net([("input", TensorProto.FLOAT, (3, 16, 16))])
    features, c = [n.conv("input", 3, 8, 3)], 8
    for _ in range(3):
        x = n.op("Concat", *features, axis=1) if len(features) > 1 else features[0]
        p = [n.const(n.rng.uniform(0.5, 1.5, c)), n.weight(c), n.weight(c), n.const(n.rng.uniform(0.5, 2, c))]
        x = n.conv(n.op("Relu", n.op("BatchNormalization", x, *p)), c, 8, 1)
        features.append(n.conv(x, 8, 4, 3))
        c += 4
    x = n.op("Flatten", n.op("GlobalAveragePool", n.op("Concat", *features, axis=1)))
    return n.model(n.op("Gemm", x, n.weight(10, c), n.weight(10), transB=1))


def shuffle():
    """Split and shuffled channels, squeeze and excitation, two outputs."""
    n = Net([("input", TensorProto.FLOAT, (3, 12, 12))])
    x = n.conv("input", 3, 16, 3, 2)
    left, right = n.op("Split", x, n.const([8, 8]), outputs=2, axis=1)
    x = n.op("Concat", left, n.conv(n.conv(right, 8, 8, 1), 8, 8, 3, group=8), axis=1)
    x = n.op("Reshape", x, n.const([0, 2, 8, 6, 6]))
    x = n.op("Reshape", n.op("Transpose", x, perm=[0, 2, 1, 3, 4]), n.const([0, 16, 6, 6]))
    gate = n.op("HardSigmoid", n.conv(n.op("GlobalAveragePool", x), 16, 16, 1))
    x = n.op("Mul", x, gate)
    detail = n.op("Slice", x, n.const([1, 1]), n.const([5, 6]), n.const([2, 3]))
    return n.model(n.op("ReduceMax", x, axes=[2, 3], keepdims=0), detail)


def recurrent():
    """Sequences first, states as inputs and outputs, and a number that all samples share."""
    n = Net([("input", TensorProto.FLOAT, [7, "batch", 6]), ("h", TensorProto.FLOAT, [2, "batch", 5]),
             ("c", TensorProto.FLOAT, [2, "batch", 5]), ("gain", TensorProto.FLOAT, [])])
    x = n.op("Mul", "input", "gain")
    y, h, c = n.op("LSTM", x, n.weight(2, 20, 6), n.weight(2, 20, 5), n.weight(2, 40), "", "h", "c", outputs=3,
                   direction="bidirectional", hidden_size=5)
    y = n.op("Reshape", n.op("Transpose", y, perm=[0, 2, 1, 3]), n.const([0, 0, 10]))
    return n.model(n.linear(y, 10, 4), h, c)


def state_beside_samples():
    n = Net([("input", TensorProto.FLOAT, ["N", 6]), ("h", TensorProto.FLOAT, [1, "N", 5])])
    x = n.op("Unsqueeze", n.linear("input", 6, 6), n.const([0]))
    y, h = n.op("GRU", x, n.weight(1, 15, 6), n.weight(1, 15, 5), n.weight(1, 30), "", "h", outputs=2, hidden_size=5)
    return n.model(n.linear(n.op("Squeeze", y, n.const([0, 1])), 5, 3), h)


def spectrogram():
    """Mel features of audio, as in speech networks, and Fourier transforms of other lengths."""
    n = Net([("input", TensorProto.FLOAT, (160,))])
    frames = n.op("STFT", "input", n.const(16), n.op("HannWindow", n.const(32)), n.const(32))
    power = n.op("ReduceSumSquare", frames, axes=[3], keepdims=0)
    mel = n.op("MelWeightMatrix", n.const(8), n.const(32), n.const(16000), n.const(np.float32(0)), n.const(np.float32(8000)))
    features = n.op("Log", n.op("Add", n.op("MatMul", power, mel), n.const(1e-3)))
    y = n.op("DFT", n.op("Unsqueeze", features, n.const([3])), n.const(12), axis=2)  # padded from 8
    y = n.op("DFT", y, axis=1, inverse=1)
    y = n.op("Reshape", y, n.const([0, 9, 24]))
    return n.model(n.linear(n.op("Concat", features, y, axis=2), 32, 5))


def segnet():
    """Positions of maxima, and a product that is added to another."""
    n = Net([("input", TensorProto.FLOAT, (2, 7, 6)), ("added", TensorProto.FLOAT, (5,))])
    x = n.conv("input", 2, 4, 3)
    y, where = n.op("MaxPool", x, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    y = n.op("MaxUnpool", n.conv(y, 4, 4, 3), where, n.op("Shape", x), kernel_shape=[2, 2], strides=[2, 2])
    y = n.op("MeanVarianceNormalization", y, axes=[1, 2, 3])
    y = n.op("Flatten", n.op("Conv", y, n.weight(1, 4, 1, 1)))
    return n.model(n.op("Gemm", y, n.weight(42, 5), "added", alpha=0.5, beta=2.0), y)


def spatial_transformer():
    n = Net([("input", TensorProto.FLOAT, (3, 9, 8))], opset=20)
    theta = n.op("GlobalAveragePool", n.conv("input", 3, 6, 3, 2))
    theta = n.op("Reshape", theta, n.const([-1, 2, 3]))
    theta = n.op("Add", theta, n.const(np.array([[1, 0.1, 0], [-0.2, 0.9, 0.1]], np.float32)))
    grid = n.op("AffineGrid", theta, n.op("Shape", "input"))
    y = n.op("GridSample", "input", grid)
    other = n.op("AffineGrid", theta, n.shape(n.dim(theta, 0), 3, 4, 5), align_corners=1)
    square = n.op("Slice", theta, n.const([0]), n.const([2]), n.const([2]))
    return n.model(n.conv(y, 3, 4, 3), other, n.op("Det", square))


def cropped_pads():
    """Pads that crop one side and extend the other."""
    n = Net([("input", TensorProto.FLOAT, (3, 7, 6))], opset=21)
    outputs = []
    for mode in ("constant", "edge", "reflect", "wrap"):
        for pads in ([-2, 2], [3, -1], [-1, -1]):
            x = n.op("Pad", "input", n.const([pads[0], pads[1]]), "", n.const([2]), mode=mode)
            outputs.append(n.op("Pad", x, n.const([pads[1], pads[0]]), "", n.const([-1]), mode=mode))
    return n.model(n.conv("input", 3, 4, 3), *outputs)


def reflected_neighbors():
    """Positions halfway between pixels, inside and outside the image."""
    n = Net([("input", TensorProto.FLOAT, (3, 4, 4))], opset=20)
    steps = np.arange(-12, 16, dtype=np.float32) / 4  # 4 * x is a position plus a half
    grid = n.const(np.stack([steps, -steps], -1)[None, None])
    grid = n.op("Expand", grid, n.shape(n.dim("input", 0), 1, len(steps), 2))
    return n.model(*[n.op("GridSample", "input", grid, mode="nearest", padding_mode=m, align_corners=a)
                     for m in ("zeros", "border", "reflection") for a in (0, 1)], n.conv("input", 3, 4, 3))


def chosen_columns():
    """As PyTorch writes x[:, mask] with a constant mask."""
    n = Net([("input", TensorProto.FLOAT, (5, 6))])
    x = n.op("Compress", "input", n.const([0, 1, 1, 0, 1], np.bool_), axis=1)
    x = n.op("Compress", n.linear(x, 6, 8), n.const([1, 0, 1], np.bool_), axis=-1)
    return n.model(n.linear(x, 2, 4))


def flat_groups():
    """A group normalization between linear layers, without spatial dimensions."""
    n = Net([("input", TensorProto.FLOAT, (6,))], opset=21)
    x = n.op("GroupNormalization", n.linear("input", 6, 12), n.weight(12), n.weight(12), num_groups=3)
    return n.model(n.linear(x, 12, 4))


MODELS = {"vit": vit, "vit_written_out": lambda: vit(True), "masked_bert": masked_bert, "nhwc_resnet": nhwc_resnet,
          "unet": unet, "densenet": densenet, "shuffle": shuffle, "recurrent": recurrent, "state_beside_samples": state_beside_samples,
          "spectrogram": spectrogram, "segnet": segnet, "spatial_transformer": spatial_transformer,
          "cropped_pads": cropped_pads, "reflected_neighbors": reflected_neighbors, "chosen_columns": chosen_columns, "flat_groups": flat_groups,
          "external_data": densenet}


def main(folder):
    rng = np.random.RandomState(1)
    for name, make in MODELS.items():
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True)
        path = str(place / (name + ".onnx"))
        model = make()
        external = dict(save_as_external_data=True, location="weights.data", size_threshold=0)
        onnx.save(model, path, **(external if name == "external_data" else {}))
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level = 3
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = {}
        for i in session.get_inputs():
            shape = [size if isinstance(size, int) else SAMPLES for size in i.shape]
            if "int64" in i.type:
                feed[i.name] = rng.randint(0, 2 if "mask" in i.name else 40, shape).astype(np.int64)
            else:
                feed[i.name] = rng.standard_normal(shape).astype(np.float32)
        np.savez(place / "data.npz", **feed)
        np.savez(place / "expected.npz", **dict(zip([o.name for o in session.get_outputs()], session.run(None, feed))))
        print(name)


main(*sys.argv[1:])
