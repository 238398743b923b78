# SPDX-License-Identifier: Apache-2.0
"""Runs Quantloupe's search on a folder of compare.py.

Usage: run_quantloupe.py FOLDER
"""
import sys

import quantloupe as ql
from work import Work


def main(folder):
    work = Work(folder)
    options = work.options
    session = ql.Session(work.model, threads=options["threads"], progress=False)
    session.set_data(work.inputs, labels=work.labels, calibration=work.calibration)
    search = session.tune(ql.Config.from_json(options["config"]), options["max_drop"], cost="bops",
                          precisions=[p for p in options["precisions"] if p != "float32"],
                          allow_float="float32" in options["precisions"])
    history = []
    for step in search:
        best = step.best
        if best and (not history or history[-1][1:] != [best["cost"], best["reached"]]):
            history.append([best["evaluations"], best["cost"], best["reached"]])
    result = search.result
    work.evaluations = result.evaluations
    layers = result.precisions
    work.write(version=ql.__version__, precisions=layers, config=result.config.to_json(), history=history,
               reached=result.reached, cost=result.cost, top1=result.point.quantized["top1"])
    session.save_quantized(result.config, str(work.folder / "quantized.onnx"))


main(*sys.argv[1:])
