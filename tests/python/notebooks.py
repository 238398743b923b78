#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the code cells of a notebook without Jupyter, and stores what they show.

Usage: PYTHONPATH=build/release/lib/python3/dist-packages tests/python/notebooks.py NOTEBOOK    stores the outputs in it
"""
import ast
import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def outputs_of(source, names, count):
    """Runs a cell. Returns its printed text, and its last expression as Jupyter shows it."""
    module = ast.parse(source)
    last = module.body.pop() if module.body and isinstance(module.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(module, "cell", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": lines(repr(value))}
        for kind, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
            if hasattr(value, method):
                data[kind] = lines(getattr(value, method)())
        if "image/svg+xml" in data:
            del data["image/svg+xml"]  # Jupyter prefers the HTML, which has the same picture
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def lines(text):
    return text.splitlines(keepends=True)


def executed(notebook):
    """Returns a copy of the notebook with the outputs of all cells. Files that they write are deleted."""
    notebook = json.loads(json.dumps(notebook))
    names = {"__name__": "__main__"}
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder) / "docs" / "notebooks"
        place.mkdir(parents=True)
        os.symlink(SOURCE / "resources", pathlib.Path(folder) / "resources")
        os.chdir(place)
        count = 0
        for cell in notebook["cells"]:
            if cell["cell_type"] == "code":
                count += 1
                cell["execution_count"] = count
                cell["outputs"] = outputs_of("".join(cell["source"]), names, count)
        os.chdir(before)
    return notebook


if __name__ == "__main__":
    path = pathlib.Path(sys.argv[1])
    done = executed(json.loads(path.read_text(encoding="utf-8")))
    path.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
