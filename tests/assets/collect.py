#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recreates tests/assets from the full test material.

    python3 tests/assets/collect.py ../shared

Needs numpy. Files are copied, or shortened as described in README.md: the values that remain are the tools' own.
"""
import json
import shutil
import sys
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parent
MODELS = ["mlperf_tiny_resnet8", "mlperf_tiny_vww_mobilenet", "vww_mobilenet_unequalized",
          "mlperf_tiny_ad01_autoencoder"]
DEMO = ["mobilenetv2_cifar10.onnx", "mobilenetv2_cifar10.preprocess.json"]  # links to resources/demo
# Tools' equalization: (MODEL, STAGE) and (MODEL, steps, bias, relu6)
AIMET_STAGES = [("mobilenetv2_cifar10", s) for s in ("folded", "cls", "final")] + [
    (m, s) for m in ("mlperf_tiny_vww_mobilenet", "vww_mobilenet_unequalized") for s in ("cls", "final")] + [
    ("mlperf_tiny_resnet8", s) for s in ("folded", "relu", "cls", "final")]
QUARK_RUNS = [("mobilenetv2_cifar10", 1, 0, 0), ("mobilenetv2_cifar10", -1, 1, 1),
              ("mlperf_tiny_vww_mobilenet", 3, 1, 0), ("mlperf_tiny_vww_mobilenet", -1, 0, 0),
              ("vww_mobilenet_unequalized", 1, 0, 0), ("vww_mobilenet_unequalized", -1, 1, 0)] + [
    ("mlperf_tiny_resnet8", steps, bias, 0) for steps in (1, 3, -1) for bias in (0, 1)]
MOBILE, RESNET = "mobilenetv2_cifar10", "mlperf_tiny_resnet8"
ORT_RUNS = [f"{MOBILE}_{r}" for r in ("s8s8_pt", "s8s8_pc", "u8s8_pt", "s8s8_pt_symact", "s8s8_pt_nopre",
                                      "s8s8_pt_entropy2048", "s8s8_pt_percentile", "w4s8_pt", "w4s8_sym7_pt",
                                      "w4s8_sym7_pc")] + [
    f"{RESNET}_{r}" for r in ("s8s8_pt", "s8s8_pc", "u8s8_pt", "u8s8_pc", "s8s8_pt_symact")]
QUARK_PRESETS = [f"{m}_{p}" for m in (MOBILE, RESNET) for p in ("XINT8", "SEED", "A8W8")]
AIMET_RUNS = [f"{MOBILE}_W8A8_minmax", f"{RESNET}_W8A8_minmax", f"{MOBILE}_W8A8_minmax_pertensor",
              f"{MOBILE}_W8A8_tfenhanced_pertensor",
              f"{MOBILE}_W8A8_tfenhanced"]
FIRST_CHANNELS = 4  # of each weight in the encodings of the formats 0.6.1 and 2.0.0


def write_json(value, path):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n")


def without(value, *keys):
    return {k: v for k, v in value.items() if k not in keys}


def copy(source, names):
    for name in names:
        shutil.copyfile(source / name, TARGET / "oracles" / name)


def collect_data(source):
    for image in (source / "data/cifar10").rglob("*.jpg"):
        copied = TARGET / image.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(image, copied)


def collect_models(source):
    folder = TARGET / "models"
    folder.mkdir()
    for name in MODELS:
        for file in (source / "models").glob(name + ".*"):
            shutil.copyfile(file, folder / file.name)
    for name in DEMO:
        (folder / name).symlink_to(Path("../../../resources/demo") / name)


def collect_float(source):
    copy(source, [f"float_{MOBILE}.npz", f"float_{RESNET}.npz"])
    name = "float_mlperf_tiny_ad01_autoencoder.npz"
    arrays = np.load(source / name)
    np.savez_compressed(TARGET / "oracles" / name, **{k: arrays[k][:16] for k in arrays.files})


def collect_equalization(source):
    copy(source, [f"cle_aimet_{m}_{s}.npz" for m, s in AIMET_STAGES])
    copy(source, [f"cle_quark_{m}_steps{s}_appendbias{b}_relu6{r}.npz" for m, s, b, r in QUARK_RUNS])
    copy(source, [p.name for p in source.glob("cle_corner_*.onnx")])
    copy(source, ["cle_aimet_corner_cases.json", "cle_quark_corner_cases.json"])


def reduced_run(value):
    value = without(value, "biases", "nodes_quantized", "nodes_not_quantized", "nodes_removed", "node_tensors")
    value["weights"] = {k: without(v, "zero_point") for k, v in value["weights"].items()}
    return value


def collect_onnxruntime(source):
    for run in ORT_RUNS:
        value = json.loads((source / f"ort_quant_{run}.json").read_text())
        write_json(reduced_run(value), TARGET / "oracles" / f"ort_quant_{run}.json")
        copy(source, [f"ort_quant_{run}_predictions.npy"])
    copy(source, [f"ort_ranges_{MOBILE}_{m}.json" for m in ("MinMax", "Percentile", "Entropy", "Entropy2048")])


def collect_quark(source):
    for run in QUARK_PRESETS + [f"{MOBILE}_XINT8_nocle"]:
        value = without(json.loads((source / f"quark_{run}.json").read_text()), "nodes")
        value["weights"] = {k: {n: v[n] for n in v if n in ("scale", "zero_point", "integer_sum", "integer_abs_sum")}
                            for k, v in value["weights"].items()}
        write_json(value, TARGET / "oracles" / f"quark_{run}.json")
    copy(source, [f"quark_{run}_{what}.npy" for run in QUARK_PRESETS for what in ("predictions", "logits")])


def shortened(entry):
    """An encoding of a weight with its first channels only."""
    if isinstance(entry, list):
        return entry[:FIRST_CHANNELS]
    return {k: v[:FIRST_CHANNELS] if isinstance(v, list) else v for k, v in entry.items()}


def collect_aimet(source):
    for run in AIMET_RUNS + [f"{MOBILE}_W4A8_minmax_pertensor"]:
        encodings = json.loads((source / f"aimet_{run}.encodings").read_text())
        write_json(encodings, TARGET / "oracles" / f"aimet_{run}.encodings")
    for run in AIMET_RUNS:
        value = json.loads((source / f"aimet_{run}.json").read_text())
        write_json(without(value, "quantized_parameters", "quantized_activations", "disabled", "symmetric"),
                   TARGET / "oracles" / f"aimet_{run}.json")
        copy(source, [f"aimet_{run}_{what}.npy" for what in ("predictions", "logits")])
    for version in ("0.6.1", "2.0.0"):
        name = f"aimet_{MOBILE}_W8A8_minmax_{version}.encodings"
        value = json.loads((source / name).read_text())
        for key, entries in value.items():
            if key == "param_encodings":
                value[key] = {k: shortened(v) for k, v in entries.items()}
            elif key == "encodings":
                value[key] = [shortened(v) for v in entries]
        write_json(value, TARGET / "oracles" / name)


def main():
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "oracles").is_dir():
        sys.exit(__doc__)
    source = Path(sys.argv[1]).resolve()
    for folder in ("data", "models", "oracles"):
        shutil.rmtree(TARGET / folder, ignore_errors=True)
    (TARGET / "oracles").mkdir()
    collect_data(source)
    collect_models(source)
    collect_float(source / "oracles")
    collect_equalization(source / "oracles")
    collect_onnxruntime(source / "oracles")
    collect_quark(source / "oracles")
    collect_aimet(source / "oracles")
    size = sum(f.stat().st_size for f in TARGET.rglob("*") if f.is_file() and not f.is_symlink())
    print(f"{size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
