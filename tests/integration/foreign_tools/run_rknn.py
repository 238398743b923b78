# SPDX-License-Identifier: Apache-2.0
"""Converts an exported float model with RKNN-Toolkit2's hybrid quantization, for the RK3588.

Usage: run_rknn.py MODEL.onnx SCRIPT.py INPUTS.npz FOLDER   (the sample is the first dimension of the array)
Prints the type of each convolution (also of a Gemm), named after its weight: {"features.0.0.weight_folded": "FLOAT16"}.
"""
import json
import os
import re
import subprocess
import sys

import numpy as np

STEPS = """
import json
import sys
from rknn.api import RKNN
rknn = RKNN(verbose=True)
rknn.config(target_platform="rk3588", quantized_dtype="w8a8")
if sys.argv[1] == "1":
    rknn.load_onnx("net.onnx", inputs=[sys.argv[2]], input_size_list=[json.loads(sys.argv[3])])
    code = rknn.hybrid_quantization_step1(dataset="samples.txt", proposal=False)
else:
    code = rknn.hybrid_quantization_step2(model_input="net.model", data_input="net.data",
                                          model_quantization_cfg="net.quantization.cfg")
    code = code or rknn.export_rknn("net.rknn")
sys.exit(code)
"""


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{arguments} failed:\n{done.stdout[-5000:]}")
    return done.stdout


def main(model, script, inputs, folder):
    script = os.path.abspath(script)
    (name, values), = np.load(inputs).items()
    os.makedirs(folder)
    os.symlink(os.path.abspath(model), os.path.join(folder, "net.onnx"))
    os.chdir(folder)
    with open("samples.txt", "w") as samples:
        for i, sample in enumerate(values[:8]):
            np.save(f"{i}.npy", sample[None])
            samples.write(f"{i}.npy\n")
    with open("steps.py", "w") as steps:
        steps.write(STEPS)
    run("steps.py", "1", name, json.dumps([1, *values.shape[1:]]))
    run(script, "net.quantization.cfg")
    log = run("steps.py", "2")
    # The table of the compiler's log: number, operator, weight, type, shape.
    print(json.dumps(dict(re.findall(r"\d+\s+Conv\w*\s+(\S*weight\S*)\s+(FLOAT16|INT8)\s", log))))


main(*sys.argv[1:])
