#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare forward passes with ONNX Runtime, on one thread each.

Usage: compare_throughput.py BUILD_DIR MODEL.onnx [--rounds 5] [--seconds 1] [--instructions AVX2 ...]

Exports the model with the preset onnxruntime-u8s8 and random calibration data, then alternates between ONNX Runtime (float
and QDQ model, all graph optimizations) and throughput_bench (float and integers). Prints medians in images per second and
medians of the ratios within a round. With --instructions, Quantloupe is measured with these values of ONEDNN_MAX_CPU_ISA as
well; ONNX Runtime always uses all instructions of the processor.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnxruntime as ort


def session(path):
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def feeds(sess, batch):
    rng = np.random.default_rng(1)
    types = {"tensor(float)": np.float32, "tensor(int64)": np.int64}
    result = {}
    for value in sess.get_inputs():
        dims = [batch if i == 0 else d if isinstance(d, int) else 1 for i, d in enumerate(value.shape)]
        data = rng.standard_normal(dims) if value.type == "tensor(float)" else np.zeros(dims)
        result[value.name] = data.astype(types[value.type])
    return result


def speed(sess, batch, seconds):
    data = feeds(sess, batch)
    sess.run(None, data)
    start, runs = time.perf_counter(), 0
    while runs == 0 or time.perf_counter() - start < seconds:
        sess.run(None, data)
        runs += 1
    return runs * batch / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--instructions", nargs="*", default=[])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        quantized = os.path.join(work, "int8.onnx")
        calibration = os.path.join(work, "calibration.npz")
        np.savez(calibration, **feeds(session(args.model), 8))
        subprocess.run([os.path.join(args.build, "bin", "quantloupe-cli"), "quantize", args.model, "--preset", "onnxruntime-u8s8",
                        "--calibration-data", calibration, "--threads", "1", "-o", quantized], check=True,
                       stdout=subprocess.DEVNULL)
        program = os.path.join(args.build, "tests", "throughput_bench")
        benches = {cap: subprocess.Popen([program, args.model], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         env={**os.environ, "ONEDNN_MAX_CPU_ISA": cap})
                   for cap in ["ALL", *args.instructions]}
        batch = max(int(bench.stdout.readline().split()[-1]) for bench in benches.values())

        def ours(cap, kind):
            benches[cap].stdin.write(f"{kind} {args.seconds}\n")
            benches[cap].stdin.flush()
            return float(benches[cap].stdout.readline())

        peers = {"float": session(args.model), "integer": session(quantized)}
        results = {(cap, kind): [] for cap in benches for kind in peers}
        for _ in range(args.rounds):
            for kind, peer in peers.items():
                # Batches of one are often faster in ONNX Runtime: the better of both counts.
                best = max(speed(peer, size, args.seconds) for size in {1, batch})
                for cap in benches:
                    results[cap, kind].append((ours(cap, kind), best))
        for bench in benches.values():
            bench.stdin.close()
    for (cap, kind), pairs in results.items():
        print(f"{kind}, {cap}: {statistics.median(a for a, _ in pairs):.4g} images/s, ONNX Runtime "
              f"{statistics.median(b for _, b in pairs):.4g}, ratio {statistics.median(a / b for a, b in pairs):.2f}")
    for cap in benches:
        ratios = [(a[0] / b[0], a[1] / b[1]) for a, b in zip(results[cap, "integer"], results[cap, "float"])]
        print(f"integer / float, {cap}: {statistics.median(r[0] for r in ratios):.2f}, ONNX Runtime "
              f"{statistics.median(r[1] for r in ratios):.2f}")


if __name__ == "__main__":
    main()
