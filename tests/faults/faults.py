#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests commands under faults: kills while they write, a full disk, missing permissions, little memory, missing data.

After each fault, every output file must be complete, old or new, and no other files may be left. A command that fails
must end with exit code 1 and a message that names the file. A session must answer the next request.
Usage: faults.py --cli quantloupe-cli --demo FOLDER [--kills N] [--seed N]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--cli", required=True, help="quantloupe-cli")
parser.add_argument("--demo", required=True, type=pathlib.Path, help="the folder resources/demo")
parser.add_argument("--kills", type=int, default=200)
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
arguments = parser.parse_args()
chance = random.Random(arguments.seed)
failures = []


def fail(what):
    failures.append(what)
    print("FAILED:", what, flush=True)


def section(title):
    print(f"{title}", flush=True)


def run(words, **options):
    return subprocess.run([arguments.cli, *map(str, words)], capture_output=True, text=True, errors="replace",
                          timeout=600, **options)


class Task:
    """A command with its output files in a folder. `new`: their contents after an undisturbed run."""

    def __init__(self, name, words, outputs):
        self.name, self.words, self.outputs = name, words, outputs

    def arguments(self, folder):
        return [str(word).replace("OUT", str(folder)) for word in self.words]

    def contents(self, folder):
        return {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in self.outputs}

    def learn(self, folder):
        start = time.monotonic()
        result = run(self.arguments(folder))
        self.seconds = time.monotonic() - start
        if result.returncode != 0:
            sys.exit(f"{self.name}: exit {result.returncode}: {result.stderr}")
        self.new = self.contents(folder)
        if sorted(path.name for path in folder.iterdir()) != sorted(self.outputs):
            sys.exit(f"{self.name} writes {sorted(path.name for path in folder.iterdir())}")


def tasks(work):
    model, data = work / "model.onnx", work / "data"
    shutil.copy(arguments.demo / "mobilenetv2_cifar10.onnx", model)
    shutil.copy(arguments.demo / "mobilenetv2_cifar10.preprocess.json", work / "model.preprocess.json")
    data.mkdir()
    for image in sorted((arguments.demo / "calibration").rglob("*.*"))[:6]:
        shutil.copy(image, data / (image.parent.name + image.name))
    calibrated = ["--data", data]
    return [
        Task("quantize", ["quantize", model, *calibrated, "-o", "OUT/q.onnx"], ["q.onnx"]),
        Task("export to several files", ["export", model, *calibrated, "--to", "onnxruntime", "-o", "OUT/q.py"],
             ["q.py", "q.float.onnx"]),
        Task("export of a configuration", ["export", model, *calibrated, "--to", "amct", "-o", "OUT/a.json"], ["a.json"]),
        Task("transform", ["transform", model, "-o", "OUT/t.onnx", "--weights", "OUT/w.npz"], ["t.onnx", "w.npz"]),
        Task("save the configuration", ["inspect", model, "--save-config", "OUT/c.json"], ["c.json"]),
    ]


def kills(all_tasks, work):
    section(f"{arguments.kills} kills")
    folder = work / "killed"
    completed = 0
    for number in range(arguments.kills):
        task = chance.choice(all_tasks)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        old = {name: chance.choice([None, b"old content of " + name.encode()]) for name in task.outputs}
        for name, content in old.items():
            if content is not None:
                (folder / name).write_bytes(content)
        process = subprocess.Popen([arguments.cli, *task.arguments(folder)], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        # Outputs are written at the end of a command, so half of the kills are at that time.
        wait = task.seconds * (chance.random() if number % 2 else 0.7 + 0.4 * chance.random())
        try:
            process.wait(wait)
            completed += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for name, content in task.contents(folder).items():
            if content not in (old[name], task.new[name]):
                fail(f"kill {number}: {task.name}: {name} is neither old nor new")
        strange = [path.name for path in folder.iterdir()
                   if path.name not in task.outputs and not path.name.endswith(".tmp")]
        if strange:
            fail(f"kill {number}: {task.name} leaves {strange}")
        again = run(task.arguments(folder))
        if again.returncode != 0 or task.contents(folder) != task.new:
            fail(f"kill {number}: {task.name} afterwards: exit {again.returncode}: {again.stderr}")
        if sorted(path.name for path in folder.iterdir()) != sorted(task.outputs):
            fail(f"kill {number}: {task.name} afterwards leaves {sorted(path.name for path in folder.iterdir())}")
    print(f"  {completed} commands ended before they were killed")


def refused(what, task, folder, result, old):
    """Checks that the command failed with a message about one of its files, and that nothing has changed."""
    if result.returncode != 1 or not any(name in result.stderr for name in task.outputs):
        fail(f"{what}: {task.name}: exit {result.returncode}: {result.stderr[-300:]}")
    if task.contents(folder) != old:
        fail(f"{what}: {task.name}: the old files changed")
    left = [path.name for path in folder.iterdir() if path.name not in task.outputs]
    if left:
        fail(f"{what}: {task.name} leaves {left}")


def full_disk(all_tasks, work):
    section("full disk")
    folder = work / "full"
    folder.mkdir()
    for task in all_tasks:
        old = {name: b"old" for name in task.outputs}
        # A file system of a few pages in a separate namespace; each old file takes one page.
        files = " ".join(f"'{folder}/{name}'" for name in task.outputs)
        pages = len(task.outputs) + (0 if task.name == "save the configuration" else 1)
        script = (f"mount -t tmpfs -o size={pages * 4096} none '{folder}' && for f in {files}; do printf old >\"$f\"; done;"
                  f"\"$@\"; code=$?; for f in {files}; do [ \"$(cat \"$f\")\" = old ] || echo CHANGED \"$f\"; done;"
                  f"ls -A '{folder}' | wc -l; exit $code")
        result = subprocess.run(["unshare", "-rm", "bash", "-c", script, "bash", arguments.cli, *task.arguments(folder)],
                                capture_output=True, text=True, timeout=600)
        if "unshare" in result.stderr or "mount" in result.stderr:
            print(f"  left out: {result.stderr.strip()}")
            return
        if result.returncode != 1 or "CHANGED" in result.stdout:
            fail(f"full disk: {task.name}: exit {result.returncode}: {result.stdout[-300:]} {result.stderr[-300:]}")
        elif not any(name in result.stderr for name in task.outputs):
            fail(f"full disk: {task.name}: no file is named: {result.stderr[-300:]}")
        if result.stdout.strip().splitlines()[-1] != str(len(old)):
            fail(f"full disk: {task.name}: files are left behind")


def read_only(all_tasks, work):
    section("read-only folder")
    as_nobody = {"user": 65534, "group": 65534} if os.geteuid() == 0 else {}
    work.chmod(0o755)
    for number, task in enumerate(all_tasks):
        folder = work / f"read_only_{number}"
        folder.mkdir()
        for name in task.outputs:
            (folder / name).write_bytes(b"old")
        folder.chmod(0o555)
        result = run(task.arguments(folder), **as_nobody)
        refused("read-only folder", task, folder, result, {name: b"old" for name in task.outputs})
        folder.chmod(0o755)


def little_memory(all_tasks, work):
    section("little memory")
    folder = work / "memory"
    folder.mkdir()
    for task in all_tasks[:2]:
        for mebibytes in range(80, 800, 40):
            for name in task.outputs:
                (folder / name).write_bytes(b"old")
            result = subprocess.run(["bash", "-c", f"ulimit -v {mebibytes * 1024}; exec \"$@\"", "bash", arguments.cli,
                                     *task.arguments(folder), "--threads", "1"], capture_output=True, text=True,
                                    timeout=600)
            whole = task.contents(folder) in (task.new, {name: b"old" for name in task.outputs})
            # 127: the system's loader has too little memory to start the program.
            if result.returncode not in (0, 1, 127) or not whole or (result.returncode == 1 and not result.stderr):
                fail(f"{mebibytes} MiB: {task.name}: exit {result.returncode}: {result.stderr[-300:]}")


def lost_files(work):
    section("data and model removed from an open session")
    model, data = work / "open.onnx", work / "open_data"
    shutil.copy(work / "model.onnx", model)
    shutil.copy(work / "model.preprocess.json", work / "open.preprocess.json")
    shutil.copytree(work / "data", data)
    process = subprocess.Popen([arguments.cli, "session", str(model), "--data", str(data), "--memory", "0"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def ask(request):
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            fail(f"session: no answer to {request}: exit {process.wait(10)}")
            return {}
        return json.loads(line)

    first = ask({"do": "evaluate"})
    if not first.get("ok"):
        fail(f"session: {first}")
    model.write_bytes(b"replaced")
    shutil.rmtree(data)
    answer = ask({"do": "set", "key": "quantization.weight.bits", "value": 5})
    message = str(answer.get("error", ""))
    if message and "open_data" not in message:
        fail(f"session: the message does not name the data: {message}")
    if not ask({"do": "undo"}).get("ok"):
        fail("session: the edit before the loss cannot be restored")
    process.stdin.close()
    if process.wait(60) != 0:
        fail(f"session: exit {process.returncode}")


def main():
    print(f"seed {arguments.seed}")
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        work = pathlib.Path(name)
        all_tasks = tasks(work)
        for task in all_tasks:
            folder = work / "first"
            folder.mkdir()
            task.learn(folder)
            shutil.rmtree(folder)
        kills(all_tasks, work)
        full_disk(all_tasks, work)
        read_only(all_tasks, work)
        little_memory(all_tasks, work)
        lost_files(work)
    print(f"{len(failures)} failures; repeat with --seed {arguments.seed}")
    return 1 if failures else 0


sys.exit(main())
