#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows the effect of every option of equalization and related transforms on a model, as a Markdown table.

    transform_switches.py build/release/bin/quantloupe-cli MODEL DATA CALIBRATION [--bits 8,4] [--learned] [--samples N] [--vit]

No layer is skipped, activations have 8 bits, weights symmetric codes without the lowest. One session for all, so that the float network
runs once."""
import argparse
import json
import subprocess
import sys

RELU6, CLE = "transforms.replace_relu6", "transforms.equalization.profile"
HIGH_BIAS, CORRECTION, ROUNDING = "transforms.high_bias_fold", "refine.bias_correction", "refine.rounding"
AIMET = {RELU6: "between", CLE: "aimet"}
CNN = [
    ("no transforms, batch norms kept", {"transforms.fold_batch_norm": False}),
    ("batch norms folded", {}),
    ("Clip to Relu", {RELU6: "between"}),
    ("equalized: aimet", AIMET),
    ("equalized: quark", {RELU6: "between", CLE: "quark"}),
    ("equalized: quark, with biases", {RELU6: "between", CLE: "quark", "transforms.equalization.append_bias": True}),
    ("equalized: quantloupe", {RELU6: "all", CLE: "quantloupe"}),
    ("bias correction, analytic", {CORRECTION: "analytic"}),
    ("bias correction, empirical", {CORRECTION: "empirical"}),
    ("aimet, high-bias fold", {**AIMET, HIGH_BIAS: True}),
    ("aimet, high-bias fold, analytic correction", {**AIMET, HIGH_BIAS: True, CORRECTION: "analytic"}),
    ("aimet, high-bias fold, empirical correction", {**AIMET, HIGH_BIAS: True, CORRECTION: "empirical"}),
    ("migration 0.5", {"refine.migration": 0.5}),
]
LEARNED = [
    ("learned rounding", {ROUNDING: "adaround"}),
    ("aimet, learned rounding", {**AIMET, ROUNDING: "adaround"}),
]
VIT = [("no migration", {})] + [(f"migration {a}", {"refine.migration": a}) for a in (0.25, 0.5, 0.75, 1.0)] + [
    ("bias correction, empirical", {CORRECTION: "empirical"}),
    ("migration 0.5, empirical correction", {"refine.migration": 0.5, CORRECTION: "empirical"}),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("cli", "model", "data", "calibration"):
        parser.add_argument(name)
    parser.add_argument("--bits", default="8,4")
    parser.add_argument("--learned", action="store_true", help="also learned rounding, which takes a minute or more per configuration")
    parser.add_argument("--samples", help="number of samples to evaluate, spread evenly")
    parser.add_argument("--vit", action="store_true", help="the switches that matter for a transformer")
    options = parser.parse_args()
    session = subprocess.Popen([options.cli, "session", options.model, "--data", options.data, "--calibration-data", options.calibration,
                                "--no-skip-tail", *(["--samples", options.samples] if options.samples else [])], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(request):
        session.stdin.write(json.dumps(request) + "\n")
        session.stdin.flush()
        reply = json.loads(session.stdout.readline())
        if not reply["ok"]:
            sys.exit(reply["error"])
        return reply

    base = ask({"do": "config"})["value"]
    switches = VIT if options.vit else CNN + (LEARNED if options.learned else [])
    schemes = [(int(bits), channels) for bits in options.bits.split(",") for channels in (False, True)]
    table = {}
    for bits, channels in schemes:
        for name, keys in switches:
            config = json.loads(json.dumps(base))
            for key, value in {"quantization.weight.bits": bits, "quantization.weight.per_channel": channels, **keys}.items():
                *path, last = key.split(".")
                part = config
                for step in path:
                    part = part[step]
                part[last] = value
            reply = ask({"do": "config", "value": config})
            quantized = reply["quantized"]
            table[name, bits, channels] = f'{100 * quantized["top1"]:.1f} / {quantized["sqnr_db"]:.1f}'
            print(f'{name}, W{bits} {"per channel" if channels else "per tensor"}: {table[name, bits, channels]} ({reply["seconds"]:.1f} s)',
                  file=sys.stderr, flush=True)
    print("| | " + " | ".join(f'W{bits}A8 {"per channel" if channels else "per tensor"}' for bits, channels in schemes) + " |")
    print("|---" * (len(schemes) + 1) + "|")
    for name, _ in switches:
        print(f"| {name} | " + " | ".join(table[name, bits, channels] for bits, channels in schemes) + " |")
    session.stdin.close()
    session.wait()


main()
