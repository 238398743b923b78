#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the search for precisions with those of AIMET and NNCF, with ranked prefixes, and with all choices.

Usage: compare.py MODEL --data FOLDER --calibration-data FOLDER --work FOLDER [--aimet-python P] [--nncf-python P]

Every search gets the same float network (batch norms folded), the same samples and the same target. Every choice is then
evaluated by the same judge: in Quantloupe and in ONNX Runtime, on the samples of the search and on others. Images must have
the size of the network's input. README.md in the parent folder explains the table that this prints.
"""
import argparse
import itertools
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import onnxruntime as ort
import quantloupe as ql
from PIL import Image
from work import session_options

HERE = pathlib.Path(__file__).parent
WORKS = {  # precisions, the cheapest first, and the searches of other tools that choose between the same
    "weights": (["w4a8", "w8a8"], {"AIMET AMP": "run_aimet.py amp"}),
    "weights and activations": (["w4a8", "w8a16"], {"AIMET Lite-MP": "run_aimet.py lite-mp"}),
    "float": (["w8a8", "float32"], {"NNCF accuracy control": "run_nncf.py"}),
}


def images(folder, preprocess):
    """Returns images as inputs of the network, and labels: the index of the subfolder."""
    folder = pathlib.Path(folder)
    classes = sorted(p.name for p in folder.iterdir() if p.is_dir())
    files = [(p, classes.index(p.parent.name) if p.parent != folder else -1)
             for p in sorted(folder.rglob("*")) if p.suffix.lower() in (".jpg", ".jpeg", ".png")]
    mean, std = (np.array(preprocess.get(key, default), np.float32) for key, default in (("mean", [0] * 3), ("std", [1] * 3)))
    arrays = []
    for path, _ in files:
        pixels = np.asarray(Image.open(path).convert("RGB"), np.float32)
        if "resize" in preprocess and list(pixels.shape[:2]) != preprocess["resize"]:
            sys.exit(f"'{path}' does not have the size of the network's input: resize the images")
        scaled = (pixels * np.float32(preprocess.get("scale", 1)) - mean) / std
        arrays.append(scaled if preprocess.get("layout") == "NHWC" else scaled.transpose(2, 0, 1))
    return np.stack(arrays).astype(np.float32), np.array([label for _, label in files])


class Judge:
    """Evaluates choices of precisions in Quantloupe and exported models in ONNX Runtime."""

    def __init__(self, model, samples, threads):
        self.session = ql.Session(model, threads=threads, progress=False)
        self.samples, self.threads, self.kept = samples, threads, {}
        self.use("search")

    def use(self, part):
        inputs, labels = self.samples[part]
        self.session.set_data(inputs, labels=labels, calibration=self.samples["calibration"])

    def measure(self, config, cost="bops"):
        """Returns cost and drop of a configuration: a search that has nothing to choose measures both."""
        result = self.session.tune(config, 100, cost=cost, allow_float=False).result
        return result.start_cost, result.point.drop

    def top1(self, path, part):
        inputs, labels = self.samples[part]
        options = session_options(self.threads)
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name
        return float(np.mean([session.run(None, {name: x[None]})[0].argmax() == y for x, y in zip(inputs, labels)]))


def with_precisions(base, precisions):
    document = json.loads(base.to_json())
    for name, precision in precisions.items():
        document["layers"].setdefault(name, {})["precision"] = precision
    return ql.Config.from_json(document)


def ranked(judge, base, work, max_drop, per_cost):
    """Returns the shortest prefix of the layers by local sensitivity (QS) that reaches the target."""
    low, high = work
    layers = [layer for layer in judge.session.evaluate(base).layers if layer.state == "quantized" and layer.local]
    if high != "float32":
        layers = [layer for layer in layers if layer.weight or "a16" in high]

    def value(layer):
        return layer.local.qs / max(layer.macs or 0, 1) if per_cost else layer.local.qs

    layers.sort(key=value, reverse=True)
    for count in range(len(layers) + 1):
        chosen = {layer.name: high for layer in layers[:count]}
        cost, drop = judge.measure(with_precisions(base, chosen))
        if drop <= max_drop / 100 + 1e-9:
            break
    return {"precisions": chosen, "evaluations": count + 2}


def exhaustive(judge, base, work, max_drop):
    """Returns the cheapest of all choices for the layers with weights."""
    layers = [layer.name for layer in judge.session.evaluate(base).layers if layer.state == "quantized" and layer.weight]
    if len(layers) > 12:
        sys.exit(f"{len(layers)} layers have too many choices to try all of them")
    best = None
    for choice in itertools.product(work, repeat=len(layers)):
        precisions = dict(zip(layers, choice))
        cost, drop = judge.measure(with_precisions(base, precisions))
        if drop <= max_drop / 100 + 1e-9 and (best is None or cost < best[0]):
            best = cost, precisions
    return {"precisions": best[1] if best else {}, "evaluations": 2 ** len(layers)}


def run(command, python, folder):
    script, *arguments = command.split()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
    with open(folder / "log.txt", "w") as log:
        subprocess.run([python, str(HERE / script), str(folder), *arguments], check=True, env=environment, stdout=log, stderr=log)
    return json.loads((folder / "result.json").read_text())


def report(judge, base, name, result, folder):
    config = ql.Config.from_json(result["config"]) if "config" in result else with_precisions(base, result["precisions"])
    row = {"search": name, "version": result.get("version", ""), "evaluations": result["evaluations"],
           "cpu": result.get("cpu"), "wall": result.get("wall")}
    row["bops"], row["drop"] = judge.measure(config)
    row["bytes"] = judge.measure(config, "bytes")[0]
    layers = judge.session.evaluate(config, depth="states").layers
    row["float_macs"] = sum(layer.macs or 0 for layer in layers if layer.state == "skipped")
    starting = {layer.name: layer.precision for layer in judge.session.evaluate(base, depth="states").layers}
    row["changed"] = {layer.name: layer.precision for layer in layers if layer.precision != starting[layer.name]}
    judge.use("held_out")
    row["held_out_drop"] = judge.measure(config)[1]
    judge.use("search")
    ours = folder / "ours.onnx"
    judge.session.save_quantized(config, str(ours))
    for key, path in (("onnxruntime", ours), ("tool_onnxruntime", folder / "quantized.onnx")):
        if path.exists():
            row[key] = judge.float_top1 - judge.top1(path, "search")
    row["history"] = result.get("history")
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", required=True)
    parser.add_argument("--calibration-data", required=True)
    parser.add_argument("--work", required=True, help="folder for the results")
    parser.add_argument("--choose", choices=WORKS, default="weights")
    parser.add_argument("--max-drop", type=float, default=1.0, help="in points")
    parser.add_argument("--samples", type=int, help="images to use, half of them for the searches; default: all")
    parser.add_argument("--calibration-samples", type=int, default=256)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--aimet-python")
    parser.add_argument("--nncf-python")
    parser.add_argument("--exhaustive", action="store_true")
    parser.add_argument("--searches", nargs="*", help="only these, for example 'AIMET AMP'")
    args = parser.parse_args()
    root = pathlib.Path(args.work)
    root.mkdir(parents=True, exist_ok=True)
    model = pathlib.Path(args.model)
    preprocess = json.loads(model.with_suffix(".preprocess.json").read_text())
    inputs, labels = images(args.data, preprocess)
    if args.samples:
        chosen = np.linspace(0, len(inputs) - 1, args.samples).round().astype(int)
        inputs, labels = inputs[chosen], labels[chosen]
    calibration, _ = images(args.calibration_data, preprocess)
    calibration = calibration[:args.calibration_samples]
    samples = {"search": (inputs[::2], labels[::2]), "held_out": (inputs[1::2], labels[1::2]), "calibration": calibration}

    precisions, others = WORKS[args.choose]
    base = ql.Config.preset("aimet-default").set("quantization.weight.bits", int(precisions[0][1]))
    source = ql.Session(str(model), threads=args.threads, progress=False)
    source.set_data(samples["search"][0], labels=samples["search"][1], calibration=calibration)
    source.export(base, "aimet", str(root / "start.encodings"))
    floating = root / "start.float.onnx"
    judge = Judge(str(floating), samples, args.threads)
    judge.float_top1 = judge.top1(floating, "search")

    commands = {"Quantloupe": ("run_quantloupe.py", sys.executable)}
    for name, command in others.items():
        python = args.aimet_python if "AIMET" in name else args.nncf_python
        if python:
            commands[name] = (command, python)
    rows = [{"search": "start", **dict(zip(("bops", "drop"), judge.measure(base)))}]
    for name in ["Quantloupe", *[n for n in commands if n != "Quantloupe"], "prefix of QS", "prefix of QS per cost", "all choices"]:
        if args.searches and name not in args.searches or name == "all choices" and not args.exhaustive:
            continue
        folder = root / name.replace(" ", "_")
        folder.mkdir(exist_ok=True)
        if name in commands:
            np.savez(folder / "samples.npz", inputs=samples["search"][0], labels=samples["search"][1], calibration=calibration)
            (folder / "float.onnx").write_bytes(floating.read_bytes())
            (folder / "work.json").write_text(json.dumps({"precisions": precisions, "max_drop": args.max_drop,
                                                          "threads": args.threads, "config": base.to_json(),
                                                          "transformer": "vit" in model.stem}))
            result = run(*commands[name], folder)
        elif name == "all choices":
            result = exhaustive(judge, base, precisions, args.max_drop)
        else:
            result = ranked(judge, base, precisions, args.max_drop, "cost" in name)
        rows.append(report(judge, base, name, result, folder))
        print(json.dumps({k: v for k, v in rows[-1].items() if k not in ("changed", "history")}), flush=True)
    (root / "results.json").write_text(json.dumps(rows, indent=1))
    print(table(rows))


def table(rows):
    start = rows[0]["bops"]
    lines = ["| search | evaluations | processor time | bit operations | layers changed | drop | ONNX Runtime | other samples |",
             "|---|---|---|---|---|---|---|---|"]
    for row in rows[1:]:
        time = f"{row['cpu']:.0f} s" if row.get("cpu") is not None else ""
        lines.append(f"| {row['search']} {row['version']} | {row['evaluations']} | {time} | +{100 * (row['bops'] / start - 1):.1f} % | "
                     f"{len(row['changed'])} | {100 * row['drop']:.1f} | {100 * row['onnxruntime']:.1f} | {100 * row['held_out_drop']:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
