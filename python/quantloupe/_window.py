# SPDX-License-Identifier: Apache-2.0
"""Opens the window from Python."""
from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile
from typing import Any, Dict, List

from ._config import Config
from ._data import Samples
from ._engine import Error, prefix


def show(model: str, data: Dict[str, Any], config: Config, arguments: List[str]) -> Config:
    """Runs the window until it is closed, and returns its configuration."""
    with tempfile.TemporaryDirectory(prefix="quantloupe-") as name:
        folder = pathlib.Path(name)
        tuned = folder / "tuned.json"
        config.save(folder / "config.json")
        command = [str(prefix() / "bin" / "quantloupe"), model, "--config", str(folder / "config.json"),
                   "--save-config", str(tuned)]
        for key, option in (("data", "--data"), ("calibration", "--calibration-data")):
            if key in data:
                command += [option, _path(data[key], folder / f"{key}.npz")]
        # Verification in ONNX Runtime uses the running Python interpreter.
        variables = {"QUANTLOUPE_PYTHON": sys.executable, **os.environ}
        process = subprocess.Popen(command + arguments, env=variables, stderr=subprocess.PIPE, text=True)
        try:
            said = process.communicate()[1]
        except BaseException:  # KeyboardInterrupt closes the window
            process.terminate()
            process.wait()
            raise
        if process.returncode != 0:
            raise Error(f"the window failed: {said.strip() or f'exit code {process.returncode}'}")
        return Config.load(tuned) if tuned.exists() else config.copy()


def _path(samples: Any, file: pathlib.Path) -> str:
    """Returns the given path, or a file with the arrays."""
    if not isinstance(samples, Samples):
        return str(samples)
    import numpy
    from numpy.lib import format as npy
    arrays = dict(samples.arrays)
    described = samples.description()
    classes = described[1][-1]
    if classes is not None and "labels" not in arrays:
        arrays["labels"] = classes
    with zipfile.ZipFile(file, "w") as archive:  # numpy.savez cannot write an array that is called "file"
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, numpy.asanyarray(array), allow_pickle=False)
    return str(file)
