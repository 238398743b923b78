# SPDX-License-Identifier: Apache-2.0
"""Shared by all tests of the Python package: the demo, a session on a few samples, and the command line."""
import json
import os
import pathlib
import subprocess

import numpy
import pytest

import quantloupe as ql

BUILD = pathlib.Path(os.environ["QUANTLOUPE_BUILD"])
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
DEMO = SOURCE / "resources" / "demo"
MODEL = DEMO / "mobilenetv2_cifar10.onnx"


def run_cli(*arguments, code=0):
    """Runs quantloupe-cli and returns what it prints."""
    done = subprocess.run([BUILD / "bin" / "quantloupe-cli", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def cli_json(*arguments):
    """Returns the JSON that a command prints with --json."""
    return json.loads(run_cli(*arguments, "--json"))


@pytest.fixture(scope="session")
def few():
    """Samples for quick tests: colored squares, labeled with the predictions of the float network (several classes)."""
    colors = numpy.random.default_rng(1).standard_normal((24, 3, 4, 4), dtype=numpy.float32) * 1.2
    images = colors.repeat(8, axis=2).repeat(8, axis=3)
    session = ql.Session(MODEL, progress=False)
    session.set_data(images, calibration=images[:8])
    labels = session.evaluate(ql.Config(), depth="accuracy").float_outputs()["logits"].argmax(1)
    return {"images": images, "labels": labels, "calibration": images[:8] * 0.9}


@pytest.fixture(scope="session")
def files(few, tmp_path_factory):
    """The same samples as files for the command line."""
    folder = tmp_path_factory.mktemp("data")
    numpy.savez(folder / "data.npz", arr_0=few["images"], labels=few["labels"])
    numpy.save(folder / "calibration.npy", few["calibration"])
    return ["--data", folder / "data.npz", "--calibration-data", folder / "calibration.npy"]


@pytest.fixture
def session(few):
    """A session on the few samples."""
    made = ql.Session(MODEL, progress=False)
    made.set_data(few["images"], labels=few["labels"], calibration=few["calibration"])
    return made


@pytest.fixture
def config():
    return ql.Config.preset("w4a8")
