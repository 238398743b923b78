# SPDX-License-Identifier: Apache-2.0
"""The commands to run on damaged inputs, one function per kind of input."""

import json
import os
import random

import numpy as np
import onnx

from mutate_model import mutated_bytes, mutated_model
from mutate_text import PATTERNS, mutated_array, mutated_json, seed_array
from run_case import Case
from seed_models import seed_models

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LARGEST_SEED = 1 << 20  # bytes: larger models only make each run slower
KNOWN_TYPES = {1: np.float32, 6: np.int32, 7: np.int64}

CONFIG = {"quantloupe": 1, "preset": "default",
          "transforms": {"simplify": True, "fold_batch_norm": True, "equalization": {"profile": "quantloupe", "steps": 2}},
          "quantization": {"activation": {"bits": 8, "symmetric": True}, "weight": {"bits": 4, "per_channel": True}},
          "calibration": {"method": "percentile", "samples": 4, "parameters": {"percentile": 0.999}},
          "skip": {"tail": False, "rules": [{"kind": "pattern", "regex": "conv.*"}, {"kind": "type", "op": "Add"}]},
          "layers": {"/a/conv1": {"quantize": True, "weight": {"bits": 8}}}}
PREPROCESS = {"color": "RGB", "resize": [8, 8], "center_crop": [8, 8], "scale": 0.5, "mean": [0, 0, 0], "std": [1, 1, 1], "layout": "NCHW"}
FORMATS = ["amct", "quark", "clika", "aimet", "onnxruntime"]


class Seeds:
    """Valid models: the small ones here and those of a folder."""

    def __init__(self, folder: str):
        self.models = seed_models()
        for path, _, names in sorted(os.walk(folder)) if folder else []:
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(".onnx") and os.path.getsize(file) <= LARGEST_SEED:
                    self.models.append(onnx.load(file))


def _command(rng: random.Random, options, *words: str) -> list[str]:
    more = rng.choice([[], [], ["--simplify"], ["--cle", "quantloupe"], ["--cle", "aimet"], ["--per-channel"], ["--weight-bits", "4"],
                       ["--simulate"], ["--no-skip-tail"], ["--preset", "w4a8"], ["--bias-correction", "analytic"]])
    return [options.cli, *words, *more, "--threads", "2"]


def _inputs(model) -> dict[str, tuple]:
    initializers = {t.name for t in model.graph.initializer}
    return {i.name: (KNOWN_TYPES.get(i.type.tensor_type.elem_type, np.float32), [d.dim_value or 1 for d in i.type.tensor_type.shape.dim][1:])
            for i in model.graph.input if i.name not in initializers}


def models(rng, options, seeds) -> Case:
    words = rng.choice([["analyze", "--samples", "2"], ["analyze", "--samples", "3", "--json"], ["inspect"], ["inspect", "--json"],
                        ["transform", "-o", "out.onnx"], ["render", "-o", "out.svg"], ["render", "-o", "out.dot"],
                        ["export", "--to", rng.choice(FORMATS + ["html", "csv", "json", "model-explorer"]), "-o", "out.txt"]])
    content = mutated_model(rng, rng.choice(seeds.models))
    return Case(_command(rng, options, words[0], "model.onnx", *words[1:]), {"model.onnx": content},
                name="" if words[0] == "export" else "model.onnx")  # a format may refuse any model


def configurations(rng, options, seeds) -> Case:
    words = rng.choice([["analyze", "--samples", "2"], ["inspect"], ["transform", "-o", "out.onnx"]])
    return Case(_command(rng, options, words[0], "model.onnx", *words[1:], "--config", "c.json"),
                {"model.onnx": seeds.models[0].SerializeToString(), "c.json": mutated_json(rng, json.dumps(CONFIG).encode())})


def imports(rng, options, seeds) -> Case:
    """Files of other tools, as they are in the tests' data, and our own configuration."""
    files = {"quantloupe": json.dumps(CONFIG).encode()}
    folder = os.path.join(ROOT, "tests", "data")
    known = [os.path.join(path, name) for path, _, names in sorted(os.walk(folder)) for name in sorted(names)
             if name.endswith((".json", ".cfg", ".py", ".yaml", ".encodings"))]
    tool_format = rng.choice(FORMATS)
    fitting = [f for f in known if tool_format in f]
    if fitting:
        with open(rng.choice(fitting), "rb") as file:
            files[tool_format] = file.read()
    content = files.get(tool_format, files["quantloupe"])
    is_json = content.lstrip().startswith(b"{")
    damaged = mutated_json(rng, content) if is_json and rng.random() < 0.7 else mutated_bytes(rng, content)
    return Case([options.cli, "import", "file", "--from", tool_format, "--model", "model.onnx", "-o", "out.json"],
                {"model.onnx": seeds.models[0].SerializeToString(), "file": damaged})


def preprocessing(rng, options, seeds) -> Case:
    image = os.path.join(ROOT, "resources", "demo", "val")
    files = {"model.onnx": seeds.models[0].SerializeToString(), "model.preprocess.json": mutated_json(rng, json.dumps(PREPROCESS).encode())}
    chosen = sorted(os.path.join(path, name) for path, _, names in os.walk(image) for name in names)[:2]
    for number, path in enumerate(chosen):
        with open(path, "rb") as file:
            content = file.read()
        files[f"images/{number}{os.path.splitext(path)[1]}"] = content if rng.random() < 0.7 else mutated_bytes(rng, content)
    return Case(_command(rng, options, "analyze", "model.onnx", "--data", "images", "--samples", "2"), files)


def arrays(rng, options, seeds) -> Case:
    model = rng.choice(seeds.models)
    name, content = seed_array(rng, _inputs(model))
    words = rng.choice([["analyze"], ["run", "-o", "out.npz"], ["quantize", "-o", "out.onnx"]])
    return Case(_command(rng, options, words[0], "model.onnx", "--data", name, *words[1:]),
                {"model.onnx": model.SerializeToString(), name: mutated_array(rng, content)})


def requests(rng, options, seeds) -> Case:
    """Lines of the session protocol."""
    known = [{"do": "evaluate"}, {"do": "skip", "layers": ["/a/conv1"]}, {"do": "quantize", "layers": ["/a/conv1"]}, {"do": "undo"}, {"do": "redo"},
             {"do": "set", "key": "quantization.weight.bits", "value": 4}, {"do": "layers"}, {"do": "config"},
             {"do": "set", "key": "skip.rules", "value": [{"kind": "pattern", "regex": rng.choice(PATTERNS)}]}]
    lines = [mutated_json(rng, json.dumps(rng.choice(known)).encode()).replace(b"\n", b" ") for _ in range(6)]
    return Case(_command(rng, options, "session", "model.onnx", "--samples", "2"), {"model.onnx": seeds.models[0].SerializeToString()},
                stdin=b"\n".join(lines + [b'{"do":"quit"}']) + b"\n")


def projects(rng, options, seeds) -> Case:
    version = "0" * 31 + "1"
    project = {"quantloupe_project": 1, "model": {"path": "model.onnx", "hash": version, "layers": [["/a/conv1", "Conv", version, version]]},
               "data": {"evaluation": "", "calibration": "", "preprocess": PREPROCESS}, "config": CONFIG, "history": [], "baseline": "", "view": {}}
    return Case([options.window, "p.quantloupe", "--screenshot", "out.png"],
                {"model.onnx": seeds.models[0].SerializeToString(), "p.quantloupe": mutated_json(rng, json.dumps(project).encode())},
                environment={"QT_QPA_PLATFORM": "offscreen", "HOME": ".", "XDG_CONFIG_HOME": ".", "XDG_CACHE_HOME": ".", "XDG_DATA_HOME": "."})


KINDS = {f.__name__: f for f in [models, configurations, imports, preprocessing, arrays, requests, projects]}
