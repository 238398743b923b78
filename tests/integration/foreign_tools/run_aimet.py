# SPDX-License-Identifier: Apache-2.0
"""Creates AIMET's simulation with the exported module, runs it on arrays, and writes its first output.

Usage: run_aimet.py NAME.load.py FILE.encodings INPUTS.npz OUTPUT.npz   (the arrays are named after the inputs, the sample first)
Prints the enabled quantizers, each with the tensors that share it.
"""
import json
import runpy
import sys

import numpy as np


def main(module, encodings, inputs, output):
    arrays = dict(np.load(inputs))
    sim = runpy.run_path(module)["simulation"](encodings)
    quantizers = sim.qc_quantize_op_dict
    print(json.dumps({"enabled": {name: [other for other, o in quantizers.items() if o is q] for name, q in quantizers.items() if q.enabled}}))
    count = len(next(iter(arrays.values())))
    rows = [sim.session.run(None, {name: values[i:i + 1] for name, values in arrays.items()})[0] for i in range(count)]
    np.savez(output, outputs=np.concatenate(rows))


main(*sys.argv[1:])
