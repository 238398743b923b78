# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md and the notebooks run and show what is stored in them."""
import doctest
import json
import os
import re

import pytest

from conftest import DEMO, SOURCE
from notebooks import executed


@pytest.fixture
def folder(tmp_path):
    """A folder with links to the files of the demo."""
    for entry in DEMO.iterdir():
        os.symlink(entry, tmp_path / entry.name)
    return tmp_path


def test_examples_of_the_documentation(folder, monkeypatch):
    monkeypatch.chdir(folder)
    found = doctest.testfile(str(SOURCE / "docs" / "python.md"), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 25 and found.failed == 0


@pytest.mark.parametrize("path", sorted((SOURCE / "docs" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(path, monkeypatch):
    monkeypatch.chdir(SOURCE)  # after a failure, too
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5 and all(cell["outputs"] or not shows(cell) for cell in cells)
    again = [cell for cell in executed(notebook)["cells"] if cell["cell_type"] == "code"]
    for stored, found in zip(cells, again):
        assert without_times(found["outputs"]) == without_times(stored["outputs"]), "".join(stored["source"])


def shows(cell):
    return "print(" in "".join(cell["source"]) or not re.search(r"=[^=]", cell["source"][-1])


def without_times(outputs):
    return re.sub(r"\d+(\.\d+)? (ms|s|seconds)\b", "TIME", json.dumps(outputs))
