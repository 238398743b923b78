#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the rows of tfEnhanced_data() in calibration_methods_test.cpp: the encodings that the quantizers of the
released AIMET choose for given values. Needs packaging/foreign-tools/aimet.txt."""
import numpy as np
from aimet_onnx.common import libpymo


def bell(count):
    seed, values = 12345, []
    for _ in range(count):
        total = 0.0
        for _ in range(12):
            seed = (1664525 * seed + 1013904223) & 0xFFFFFFFF
            total += seed / 4294967296.0
        values.append(total - 6)
    return np.array(values, np.float32)


ramp = np.array([((i * 37) % 1001) / 1000 * 4 - 1 for i in range(1001)], np.float32)
samples = {"ramp": [ramp], "bell": [bell(20000)]}
samples["wide"] = [samples["bell"][0][:4000], samples["bell"][0][4000:8000] * np.float32(2.5)]
for name, parts in samples.items():
    for bits in (8, 4, 2):
        for symmetric in (False, True):
            quantizer = libpymo.BlockTensorQuantizer([], bits, libpymo.QuantizationMode.QUANTIZATION_TF_ENHANCED)
            for part in parts:
                quantizer.updateStats(part)
            encoding = quantizer.computeEncodings(symmetric)[0]
            print(f'row("{name}", {bits}, {str(symmetric).lower()}, {encoding.delta:.9g}, {int(encoding.offset)});')
