# SPDX-License-Identifier: Apache-2.0
"""Runs AIMET's mixed precision (AMP) or Lite-MP on a folder of compare.py.

Usage: run_aimet.py FOLDER amp|lite-mp
"""
import copy
import importlib.metadata
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from aimet_onnx import analyze_per_layer_sensitivity, int4, int8, int16
from aimet_onnx.common.defs import CallbackFunc, QuantizationDataType
from aimet_onnx.lite_mp import flip_layers_to_higher_precision
from aimet_onnx.mixed_precision import choose_mixed_precision
from aimet_onnx.quantsim import QuantizationSimModel
from work import Work

SENSITIVITY_SAMPLES = 64  # for the ranking by SQNR
STEP = 5  # percent of the layers: precision of Lite-MP's share, of which AIMET's user chooses one
TYPES = {"4": int4, "8": int8, "16": int16}


def parts(precision):
    """Returns the types of weights and activations of 'w4a8'."""
    weight, activation = precision[1:].split("a")
    return TYPES[weight], TYPES[activation]


def candidate(precision):
    weight, activation = precision[1:].split("a")
    integer = QuantizationDataType.int
    return (int(activation), integer), (int(weight), integer)


def precisions_of(sim, model):
    """Returns the bits of every layer with a weight; of its input for activations, as AMP groups them.

    AIMET fuses MatMul and Add under another name, so layers are found by their weight.
    """
    readers = {name: node.name for node in model.graph.node for name in node.input}
    found = {}
    for op in sim.connected_graph.get_all_ops().values():
        inputs, outputs, parameters = sim.get_op_quantizers(op)
        weight = parameters.get("weight")
        if weight is None or not weight.enabled:
            continue
        activations = [q.bitwidth for q in inputs + outputs if q.enabled]
        name = next((readers[key] for key, (_, kind) in op.parameters.items() if kind == "weight" and key in readers), op.name)
        found[name] = f"w{weight.bitwidth}a{max(activations, default=8)}"
    return found


def main(folder, method):
    work = Work(folder)
    low, high = work.options["precisions"]  # the cheapest first
    weights, activations = parts(low)
    model = onnx.load(work.model)
    floating = work.top1(ort.InferenceSession(work.model, providers=["CPUExecutionProvider"]))
    goal = floating - work.options["max_drop"] / 100

    def new_sim():
        return QuantizationSimModel(copy.deepcopy(model), param_type=weights, activation_type=activations,
                                    session_options_kwargs={"intra_op_num_threads": work.options["threads"]})

    def calibrate(session, _=None):
        for feed in work.feeds(session, work.calibration):
            session.run(None, feed)

    sim = new_sim()
    if method == "amp":
        with tempfile.TemporaryDirectory() as results:
            sim.compute_encodings(calibrate, None)
            evaluate = CallbackFunc(lambda session, _: work.top1(session), None)
            choose_mixed_precision(sim, [candidate(high), candidate(low)], evaluate, evaluate,
                                   work.options["max_drop"] / 100, results, True, CallbackFunc(calibrate, None),
                                   use_all_amp_candidates=True)
    else:
        sim.compute_encodings(calibrate, None)
        few = list(work.feeds(sim.session, work.inputs[:SENSITIVITY_SAMPLES]))
        plain = ort.InferenceSession(work.model, providers=["CPUExecutionProvider"])
        reference = np.concatenate([plain.run(None, feed)[0] for feed in few])

        def sqnr(session):
            work.evaluations += len(few) / len(work.inputs)
            noise = np.concatenate([session.run(None, feed)[0] for feed in few]) - reference
            return 10 * np.log10((reference ** 2).sum() / max((noise ** 2).sum(), 1e-30))

        sensitivity = analyze_per_layer_sensitivity(sim, sqnr)
        for percent in range(0, 101, STEP):
            sim = new_sim()
            if percent > 0:
                flip_layers_to_higher_precision(sim, sensitivity, percent, parts(high))
            sim.compute_encodings(calibrate, None)
            if work.top1(sim.session) >= goal - 1e-9:
                break
    own = work.top1(sim.session)
    work.evaluations -= 1  # the last one only checks
    work.write(version=importlib.metadata.version("aimet-onnx"), precisions=precisions_of(sim, model), top1=own, floating=floating)
    onnx.save(sim.to_onnx_qdq(), str(work.folder / "quantized.onnx"))


main(*sys.argv[1:])
