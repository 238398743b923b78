# SPDX-License-Identifier: Apache-2.0
"""Loads encodings into AIMET's simulation of the exported float model, runs it on arrays, and writes its first output.

Usage: run_aimet.py MODEL.onnx FILE.encodings INPUTS.npz OUTPUT.npz   (the arrays are named after the inputs, the sample first)
Prints the enabled quantizers, each with the tensors that share it: AIMET ties the tensors before and after a Relu.
"""
import json
import sys

import numpy as np
import onnx
from aimet_onnx.quantsim import QuantizationSimModel, load_encodings_to_sim


def main(model, encodings, inputs, output):
    arrays = dict(np.load(inputs))
    sim = QuantizationSimModel(onnx.load(model), param_type="int8", activation_type="int8")
    load_encodings_to_sim(sim, encodings, strict=False)
    quantizers = sim.qc_quantize_op_dict
    print(json.dumps({"enabled": {name: [other for other, o in quantizers.items() if o is q] for name, q in quantizers.items() if q.enabled}}))
    count = len(next(iter(arrays.values())))
    rows = [sim.session.run(None, {name: values[i:i + 1] for name, values in arrays.items()})[0] for i in range(count)]
    np.savez(output, outputs=np.concatenate(rows))


main(*sys.argv[1:])
