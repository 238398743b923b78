# SPDX-License-Identifier: Apache-2.0
"""Runs NNCF's quantization with accuracy control on a folder of compare.py.

Usage: run_nncf.py FOLDER
"""
import importlib.metadata
import sys

import nncf
import onnx
import onnxruntime as ort
from work import Work, session_options


def layers_in_float(model):
    """Returns the layers whose weight, or second operand, is not quantized."""
    producers = {name: node for node in model.graph.node for name in node.output}
    layers = [node for node in model.graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]
    sources = [producers.get(node.input[1]) for node in layers]
    return [node.name for node, source in zip(layers, sources) if source is None or source.op_type != "DequantizeLinear"]


def main(folder):
    work = Work(folder)
    model = onnx.load(work.model)
    name = model.graph.input[0].name
    indices = list(range(len(work.inputs)))

    def validate(proto, samples):
        """Returns the accuracy and, for the ranking, whether each sample is right."""
        session = ort.InferenceSession(proto.SerializeToString(), session_options(work.options["threads"]),
                                       providers=["CPUExecutionProvider"])
        right = []
        for i in samples:
            output = session.run(None, {name: work.inputs[i:i + 1]})[0]
            right.append(float(output.reshape(-1).argmax() == work.labels[i]))
        work.evaluations += len(right) / len(work.inputs)
        return sum(right) / len(right), right

    quantized = nncf.quantize_with_accuracy_control(
        model,
        nncf.Dataset([{name: work.calibration[i:i + 1]} for i in range(len(work.calibration))]),
        nncf.Dataset(indices),
        validate,
        max_drop=work.options["max_drop"] / 100,
        subset_size=len(work.calibration),
        model_type=nncf.ModelType.TRANSFORMER if work.options.get("transformer") else None,
        advanced_accuracy_restorer_parameters=nncf.AdvancedAccuracyRestorerParameters(num_ranking_workers=1))
    floating = layers_in_float(quantized)
    work.write(version=importlib.metadata.version("nncf"), precisions={n: "float32" for n in floating})
    result = work.folder / "quantized.onnx"
    onnx.save(quantized, str(result))


main(*sys.argv[1:])
