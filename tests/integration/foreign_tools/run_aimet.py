# SPDX-License-Identifier: Apache-2.0
"""Loads encodings into AIMET's simulation of the float model beside them, runs it on arrays, and writes its first output.

Usage: run_aimet.py MODEL.onnx FILE.encodings INPUTS.npz OUTPUT.npz   (the arrays are named after the inputs, the sample first)
Prints how many quantizers are on.
"""
import json
import sys

import numpy as np
import onnx
import onnxruntime as ort


class OneThread(ort.InferenceSession):
    """AIMET opens several sessions; their threads would wait for each other's."""

    def __init__(self, model, sess_options=None, **others):
        sess_options = sess_options or ort.SessionOptions()
        sess_options.intra_op_num_threads = 1
        super().__init__(model, sess_options, **others)


ort.InferenceSession = OneThread
from aimet_onnx.quantsim import QuantizationSimModel, load_encodings_to_sim  # noqa: E402 (after the line above)


def main(model, encodings, inputs, output):
    arrays = dict(np.load(inputs))
    sim = QuantizationSimModel(onnx.load(model), param_type="int8", activation_type="int8")
    mismatched = load_encodings_to_sim(sim, encodings, strict=False)
    print(json.dumps({"enabled": sorted(name for name, q in sim.qc_quantize_op_dict.items() if q.enabled),
                      "mismatched": [str(m) for m in mismatched or []]}))
    count = len(next(iter(arrays.values())))
    rows = [sim.session.run(None, {name: values[i:i + 1] for name, values in arrays.items()})[0] for i in range(count)]
    np.savez(output, outputs=np.concatenate(rows))


main(*sys.argv[1:])
