# SPDX-License-Identifier: Apache-2.0
"""Random graphs that mix sample-dependent tensors with constants through operators with computed shapes.

Usage: sample_graphs.py FOLDER SEED COUNT   writes FOLDER/K.onnx, K.npz and K.inputs.npz for K below COUNT.

Every tensor is a graph output. K.npz has the inputs of five samples, x and ids, what ONNX Runtime computes for the first
1, 2, 3 and 5 of them at once (b<count>/<output>), and what it computes for each alone (s<index>/<output>).
"""
import sys

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

BATCHES = (1, 2, 3, 5)


class RandomGraph:
    def __init__(self, rng):
        self.rng = rng
        self.x = rng.standard_normal((5, 3, 4)).astype(np.float32)
        self.ids = rng.integers(0, 6, (5, 3)).astype(np.int64)
        self.nodes, self.initializers, self.counter = [], [], 0
        self.values = {n: {"x": self.x[:n], "ids": self.ids[:n]} for n in BATCHES}  # by batch size
        self.pool = ["x"]  # float tensors to choose from

    def name(self, stem):
        self.counter += 1
        return f"{stem}_{self.counter}"

    def constant(self, value):
        name = self.name("c")
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        for n in BATCHES:
            self.values[n][name] = np.asarray(value)
        return name

    def floats(self, *shape):
        return self.constant(self.rng.standard_normal(shape).astype(np.float32))

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def model(self, nodes, outputs, shapes=False):
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3, 4]),
                  helper.make_tensor_value_info("ids", TensorProto.INT64, ["N", 3])]
        graph = helper.make_graph(nodes, "random", inputs, [onnx.ValueInfoProto(name=o) for o in outputs], self.initializers)
        if shapes:
            for output in graph.output:
                kind = TensorProto.FLOAT if self.values[1][output.name].dtype == np.float32 else TensorProto.INT64
                output.type.tensor_type.elem_type = kind
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def add(self, op, inputs, outputs=1, **attributes):
        """The outputs' names, or None if ONNX Runtime refuses the node for some batch size."""
        names = [self.name(op.lower()) for _ in range(outputs)]
        node = helper.make_node(op, inputs, names, name=names[0], **attributes)
        graph = helper.make_graph([node], "one", [], [onnx.ValueInfoProto(name=n) for n in names])
        used = [i for i in dict.fromkeys(inputs) if i]
        for i in used:
            value = self.values[1][i]
            graph.input.append(helper.make_tensor_value_info(i, helper.np_dtype_to_tensor_dtype(value.dtype), [None] * value.ndim))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        results = {}
        try:
            session = ort.InferenceSession(model.SerializeToString(), self.options(), providers=["CPUExecutionProvider"])
            for n in BATCHES:
                results[n] = session.run(None, {i: self.values[n][i] for i in used})
                if any(r.size == 0 or r.size > 4000 for r in results[n]):
                    return None
        except Exception:
            return None
        for n in BATCHES:
            self.values[n].update(zip(names, results[n]))
        self.nodes.append(node)
        return names

    @staticmethod
    def options():
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        return options

    def dim(self, tensor, axis):
        """A computed extent, as a list of one."""
        shape = self.add("Shape", [tensor])[0]
        return self.add("Gather", [shape, self.integers(axis)], axis=0)[0]

    def pick(self):
        return self.pool[self.rng.integers(max(0, len(self.pool) - 6), len(self.pool))]

    def step(self):
        rng, t = self.rng, self.pick()
        rank = self.values[1][t].ndim
        axis = int(rng.integers(rank)) if rank else 0
        last = self.values[1][t].shape[-1] if rank else 1
        kind = rng.integers(19)
        made = None
        if kind == 0:
            made = self.add(str(rng.choice(["Add", "Mul", "Sub"])), [t, self.pick()])
        elif kind == 1 and rank > 1:
            made = self.add("Transpose", [t], perm=[int(p) for p in rng.permutation(rank)])
        elif kind == 2 and rank > 1:
            first = self.add("Mul", [self.dim(t, 0), self.dim(t, 1)])[0]
            made = self.add("Reshape", [t, self.add("Concat", [first, self.integers(-1)], axis=0)[0]])
        elif kind == 3:
            made = self.add("Reshape", [t, self.add("Concat", [self.dim("x", 0), self.integers(-1)], axis=0)[0]])
        elif kind == 4:
            made = self.add("Reshape", [t, self.add("Concat", [self.dim("x", 0), self.integers(-1, 2)], axis=0)[0]])
        elif kind == 5:
            made = self.add("Concat", [t, self.pick()], axis=axis)
        elif kind == 6:
            shape = self.add("Concat", [self.dim("x", 0), self.integers(3, last)], axis=0)[0]
            made = self.add("Expand", [self.floats(1, 1, last), shape])
        elif kind == 7:
            made = self.add("Tile", [self.floats(1, 3, last), self.add("Concat", [self.dim("x", 0), self.integers(1, 1)], axis=0)[0]])
        elif kind == 8 and rank:
            repeats = [1] * rank
            repeats[axis] = 2
            made = self.add("Tile", [t, self.integers(*repeats)])
        elif kind == 9 and rank:
            made = self.add("Gather", [t, self.integers(0, -1)], axis=axis)
        elif kind == 10:
            made = self.add("Gather", [self.floats(6, last), "ids"], axis=0)
        elif kind == 11 and rank:
            made = self.add("Slice", [t, self.integers(0), self.integers(2), self.integers(axis)])
        elif kind == 12 and rank:
            made = self.add("ReduceMean", [t], axes=[axis], keepdims=int(rng.integers(2)))
        elif kind == 13 and rank:
            made = self.add("Softmax", [t], axis=axis)
        elif kind == 14 and rank > 1:
            made = self.add("MatMul", [t, self.floats(last, int(rng.integers(2, 5)))])
        elif kind == 15 and rank > 1:
            turned = self.add("Transpose", [t], perm=[*range(rank - 2), rank - 1, rank - 2])
            made = self.add("MatMul", [t, turned[0]]) if turned else None
        elif kind == 16 and rank:
            made = self.add("CumSum", [t, self.integers(axis)])
        elif kind == 17:
            steps = self.add("Range", [self.constant(np.int64(0)), self.add("Squeeze", [self.dim("x", 0)])[0], self.constant(np.int64(1))])[0]
            places = self.add("Cast", [steps], to=TensorProto.FLOAT)[0]
            made = self.add("Unsqueeze", [places, self.integers(1, 2)])
        elif kind == 18 and rank:
            made = self.add("Split", [t], outputs=2, axis=axis)
        for name in made or []:
            if all(np.isfinite(self.values[n][name]).all() and np.abs(self.values[n][name]).max() < 1e4 for n in BATCHES):
                self.pool.append(name)

    def finish(self, path):
        outputs = [o for node in self.nodes for o in node.output]
        model = self.model(self.nodes, outputs, shapes=True)
        onnx.save(model, f"{path}.onnx")
        session = ort.InferenceSession(model.SerializeToString(), self.options(), providers=["CPUExecutionProvider"])
        arrays = {"x": self.x, "ids": self.ids}
        names = {i.name for i in session.get_inputs()}
        for n in BATCHES:
            feeds = {k: v for k, v in {"x": self.x[:n], "ids": self.ids[:n]}.items() if k in names}
            arrays.update({f"b{n}/{o}": v for o, v in zip(outputs, session.run(outputs, feeds))})
        for s in range(5):
            feeds = {k: v for k, v in {"x": self.x[s:s + 1], "ids": self.ids[s:s + 1]}.items() if k in names}
            arrays.update({f"s{s}/{o}": v for o, v in zip(outputs, session.run(outputs, feeds))})
        np.savez(f"{path}.npz", **arrays)
        np.savez(f"{path}.inputs.npz", **{name: arrays[name] for name in names})


def main(folder, seed, count):
    for k in range(int(count)):
        graph = RandomGraph(np.random.default_rng([int(seed), k]))
        while len(graph.pool) < 9:
            graph.step()
        graph.finish(f"{folder}/{k}")
    print(count)


main(*sys.argv[1:])
