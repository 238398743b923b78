# SPDX-License-Identifier: Apache-2.0
"""Damages configurations, preprocessing files, projects, files of other tools and arrays."""

import io
import json
import random

import numpy as np

from mutate_model import FLOATS, INTEGERS, mutated_bytes

PATTERNS = ["(.*)*(.*)*(.*)*(.*)*z", "(" * 16000 + ")" * 16000, "(a)\\1", "(?=x)", "[", "((x{1000}){1000}){1000}", "", "\\", "(?i)conv"]
TEXTS = ["", "x", "a" * 20000, "/a" * 20000, "\u0000", "\ud7ff", "=cmd()", "../../x", "/dev/zero", "1e999", "\x1b[31m"] + PATTERNS


def _value(rng: random.Random):
    return rng.choice([None, True, rng.choice(INTEGERS), rng.choice([f for f in FLOATS if f == f]), rng.choice(TEXTS), [], {}, [1, 2], {"x": 1},
                       [rng.choice(TEXTS)], 10**30])


def _places(json_value, place=()):
    """Every place in the document, as the keys that lead there."""
    yield place
    if isinstance(json_value, dict):
        for key, value in json_value.items():
            yield from _places(value, (*place, key))
    elif isinstance(json_value, list):
        for index, value in enumerate(json_value):
            yield from _places(value, (*place, index))


def mutated_json(rng: random.Random, text: bytes) -> bytes:
    action = rng.randrange(10)
    if action == 0:
        return mutated_bytes(rng, text)
    if action == 1:
        depth = rng.choice([30, 40, 1000, 200000])
        deep = b"[" * depth + b"]" * depth if rng.random() < 0.5 else b'{"a":' * depth + b"1" + b"}" * depth
        return text.rstrip()[:-1] + b', "deep": ' + deep + b"}"
    try:
        document = json.loads(text)
    except ValueError:  # it only looks like JSON
        return mutated_bytes(rng, text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        place = rng.choice([p for p in _places(document) if p] or [()])
        if not place:
            break
        parent = document
        for key in place[:-1]:
            parent = parent[key]
        kind = rng.randrange(4)
        if kind == 0:
            del parent[place[-1]]
        elif kind == 1 and isinstance(parent, dict):
            parent[rng.choice(["", "x", "k" * 5000, str(place[-1]) + "x"])] = _value(rng)
        elif kind == 2 and isinstance(parent, list):
            parent.extend([_value(rng)] * rng.choice([1, 1000]))
        else:
            parent[place[-1]] = _value(rng)
    content = json.dumps(document).encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:  # a key twice
        content = content.replace(b"{", b'{"quantloupe": 1, ', 1)
    return content


def seed_array(rng: random.Random, names: dict[str, tuple]) -> tuple[str, bytes]:
    """A valid .npy or .npz for inputs of these shapes, the batch first."""
    arrays = {name: rng_array(kind, (rng.choice([1, 2, 3]) * 2, *shape)) for name, (kind, shape) in names.items()}
    buffer = io.BytesIO()
    if len(arrays) == 1 and rng.random() < 0.5:
        np.save(buffer, next(iter(arrays.values())))
        return "data.npy", buffer.getvalue()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(buffer, **arrays)
    return "data.npz", buffer.getvalue()


def rng_array(kind, shape) -> np.ndarray:
    count = int(np.prod(shape))
    if np.issubdtype(kind, np.integer):
        return (np.arange(count) % 5).astype(kind).reshape(shape)
    return np.cos(np.arange(count)).astype(kind).reshape(shape)


def mutated_array(rng: random.Random, content: bytes) -> bytes:
    """The header's shape and type too: what follows does not fit then."""
    if rng.random() < 0.5:
        return mutated_bytes(rng, content)
    swaps = [(b"'<f4'", rng.choice([b"'<f8'", b"'|O'", b"'<c8'", b"'|V9'", b"'>f4'", b"'<i8'"])),
             (b"False", b"True "), (b"'shape': (", b"'shape': (" + rng.choice([b"-1, ", b"4294967296, ", b"99999999999999999999, ", b"0, ", b"(2,), "]))]
    before, after = rng.choice(swaps)
    return content.replace(before, after, 1)
