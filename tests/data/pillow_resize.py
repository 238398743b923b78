#!/usr/bin/env python3
"""Writes pillow_resize.json: patterns resized by Pillow 13, as 64-bit FNV-1a hashes of the pixels.

Pillow 11 and 12 give the same hashes except where "columns_first" is true: there they resize rows first.
"""
import json
import pathlib

import numpy as np
import PIL
from PIL import Image

SIZES = [  # width, height, new width, new height
    (7, 5, 3, 2), (7, 5, 9, 8), (32, 32, 224, 224), (224, 224, 32, 32), (224, 224, 256, 256), (256, 256, 224, 224),
    (640, 480, 224, 224), (480, 640, 224, 224), (500, 375, 256, 256), (427, 640, 224, 224), (333, 500, 341, 256), (333, 500, 256, 256),
    (224, 224, 100, 224), (224, 224, 224, 100), (224, 300, 224, 200), (47, 61, 31, 29), (3, 5, 96, 96), (260, 200, 7, 3), (200, 260, 3, 7),
]


def pattern(width, height):
    y, x = np.mgrid[0:height, 0:width]
    gray = (x * 37 + y * 91 + x * y * 13) % 256
    return np.stack([gray, 255 - gray, np.roll(gray, 1, axis=1)], axis=-1).astype(np.uint8)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"


if __name__ == "__main__":
    rows = []
    for width, height, new_width, new_height in SIZES:
        image = Image.fromarray(pattern(width, height))
        row = {"from": [width, height], "to": [new_width, new_height],
               "columns_first": height > new_height and height - new_height > 2 * (width - new_width)}
        for name in ("bilinear", "bicubic"):
            row[name] = fnv(image.resize((new_width, new_height), getattr(Image, name.upper())).tobytes())
            row[name + "_gray"] = fnv(image.getchannel(0).resize((new_width, new_height), getattr(Image, name.upper())).tobytes())
        rows.append(row)
    text = ",\n".join("  " + json.dumps(row) for row in rows)
    pathlib.Path(__file__).with_suffix(".json").write_text(f'{{"pillow": "{PIL.__version__}", "images": [\n{text}\n]}}\n')
