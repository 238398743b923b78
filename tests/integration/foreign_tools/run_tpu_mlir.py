# SPDX-License-Identifier: Apache-2.0
"""Compiles an exported float model with its quantization table in TPU-MLIR, for the BM1684X.

Usage: run_tpu_mlir.py MODEL.onnx TABLE.qtable INPUTS.npz FOLDER   (the sample is the first dimension of the array)
Prints the type of the output of each operator: {"name_Conv": "f32", "other_Clip": "u8", ...}.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np


def run(program, *arguments):
    """Runs a program of the environment, which is next to the Python interpreter."""
    folder = pathlib.Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run([sys.executable, folder / program, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")


def types(text):
    names = dict(re.findall(r'^(#loc\d*) = loc\("([^"]*)"\)', text, re.M))
    aliases = dict(re.findall(r"^(#loc\d*) = loc\(fused\[(#loc\d*)\]\)", text, re.M))
    found = {}
    operator = r'"tpu\.(\w+)".* -> tensor<[\dx]*(?:!quant\.\w+<)?([a-z]+\d+).* loc\((#loc\d*)\)$'
    for operation, kind, location in re.findall(operator, text, re.M):
        name = names.get(aliases.get(location, location))
        if name is not None and operation != "Cast":  # between precisions
            found[name] = kind
    return found


def main(model, table, inputs, folder):
    model, table = os.path.abspath(model), os.path.abspath(table)
    (name, values), = np.load(inputs).items()
    os.makedirs(os.path.join(folder, "calibration"))
    os.chdir(folder)
    for i, sample in enumerate(values[:8]):
        np.savez(f"calibration/{i}.npz", **{name: sample[None]})
    shape = [1, *values.shape[1:]]
    run("model_transform.py", "--model_name", "net", "--model_def", model, "--input_shapes", str([shape]).replace(" ", ""),
        "--mlir", "net.mlir")
    run("run_calibration.py", "net.mlir", "--dataset", "calibration", "--input_num", "8", "-o", "net.calibration")
    run("model_deploy.py", "--mlir", "net.mlir", "--quantize", "INT8", "--quantize_table", table, "--calibration_table",
        "net.calibration", "--processor", "bm1684x", "--model", "net.bmodel")
    quantized, = pathlib.Path().glob("*_tpu.mlir")
    print(json.dumps(types(quantized.read_text())))


main(*sys.argv[1:])
