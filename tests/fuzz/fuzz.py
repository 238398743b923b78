#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs quantloupe on damaged inputs and reports every command that crashes, hangs, or refuses without a readable message.

    fuzz.py --cli build/release/bin/quantloupe-cli --seconds 60
    fuzz.py --cli build/asan/bin/quantloupe-cli --memory 0 --timeout 120 --seconds 3600 --seed 7
    fuzz.py --cli ... --case models:7:123          # one case again; its files stay in --keep

Each case depends only on the kind, the seed and its number. Exit codes: 0 no failures, 1 failures found, 77 numpy or onnx missing.
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time

try:
    import cases
    from run_case import run
except ImportError as error:
    print(f"fuzz: {error}")
    sys.exit(77)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cli", required=True, help="quantloupe-cli")
    parser.add_argument("--window", default="", help="quantloupe; without it, projects are not opened")
    parser.add_argument("--kinds", default=",".join(cases.KINDS), help="what to damage: %(default)s")
    parser.add_argument("--seconds", type=float, default=60, help="duration of the run in seconds")
    parser.add_argument("--seed", type=int, default=0, help="0: a new one every time")
    parser.add_argument("--case", default="", help="KIND:SEED:NUMBER, to run one case again")
    parser.add_argument("--timeout", type=float, default=30, help="seconds that one command may take")
    parser.add_argument("--memory", type=int, default=4096, help="MiB of address space for one command; 0, for sanitizers: no limit")
    parser.add_argument("--keep", default="fuzz-findings", help="folder for the files of failed cases")
    parser.add_argument("--models", default="", help="folder with more models to damage, in any depth")
    return parser.parse_args()


def run_one(options, seeds, kind: str, seed: int, number: int, always_keep: bool) -> str:
    """What is wrong with the case; empty: nothing."""
    rng = random.Random(f"{kind}:{seed}:{number}")
    folder = tempfile.mkdtemp(prefix="quantloupe-fuzz-")
    try:
        case = cases.KINDS[kind](rng, options, seeds)
        problem = run(case, folder, options.timeout, options.memory)
        if problem or always_keep:
            kept = os.path.join(options.keep, f"{kind}-{seed}-{number}")
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            with open(os.path.join(kept, "finding.json"), "w", encoding="utf-8") as file:
                json.dump({"command": case.command, "stdin": case.stdin.decode("utf-8", "replace")[:100000], "problem": problem}, file, indent=1)
        return problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    options = arguments()
    options.cli = os.path.abspath(options.cli)
    options.window = os.path.abspath(options.window) if options.window else ""
    seeds = cases.Seeds(options.models)
    if options.case:
        kind, seed, number = options.case.split(":")
        problem = run_one(options, seeds, kind, int(seed), int(number), True)
        print(problem or "nothing is wrong")
        return 1 if problem else 0
    seed = options.seed or random.SystemRandom().randrange(1, 2**31)
    kinds = [k for k in options.kinds.split(",") if k != "projects" or options.window]
    print(f"fuzz: seed {seed}, {options.seconds:g} seconds, {', '.join(kinds)}", flush=True)
    end = time.monotonic() + options.seconds
    runs, found = 0, 0
    while time.monotonic() < end:
        kind = kinds[runs % len(kinds)]
        problem = run_one(options, seeds, kind, seed, runs, False)
        runs += 1
        if problem:
            found += 1
            print(f"fuzz: --case {kind}:{seed}:{runs - 1}: {problem}\n", flush=True)
    print(f"fuzz: {runs} commands, {found} findings, seed {seed}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
