#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes the engine in small ways, one at a time, and reports the changes that its tests do not notice.

Works on a copy of the sources in the build folder: the checkout is not changed. Builds the engine as a shared library,
so that a mutation compiles one part of it and links nothing else. A mutation counts if the library differs from the
original. It is killed if a test fails, crashes or takes ten times longer, and survives otherwise. Runs the tests in
tests/engine, and those in tests/integration that use sessions within one process. Files for instruction sets that this
processor lacks are left out.

Usage: mutation.py [--count 60] [--seed N] [--build build/mutation] [--only TEXT]
       mutation.py --repeat FILE:LINE:COLUMN:REPLACEMENT...    only these mutations, in the form in which they are printed
Exit code: 0 if at least 90 % of the mutations are killed, otherwise 1.
"""
import argparse
import hashlib
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--count", type=int, default=60, help="number of mutations")
parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "mutation")
parser.add_argument("--only", default="", help="only in files whose path contains this")
parser.add_argument("--jobs", type=int, default=os.cpu_count())
parser.add_argument("--repeat", nargs="*", default=[], metavar="FILE:LINE:COLUMN:REPLACEMENT")
arguments = parser.parse_args()

SOURCE = arguments.build / "source"
TESTS = arguments.build / "tests/engine"
SESSION_TESTS = ["analysis_test", "calibration_session_test", "degenerate_data_test", "equalization_test", "float_layers_test",
                 "fused_operators_test", "integer_test", "layer_details_test", "leave_one_out_test", "mixed_precision_test",
                 "quantized_operators_test", "random_graphs_test", "sample_graphs_test", "sample_shapes_test",
                 "session_test", "task_metrics_session_test", "tune_precisions_test", "tune_test"]
LIBRARY = "engine/libquantloupe_engine.so"
# (pattern, replacements). The code is formatted: a binary operator has a space on each side, a template bracket has none.
MUTATIONS = [
    (r" < ", [" <= "]), (r" <= ", [" < "]), (r" > ", [" >= "]), (r" >= ", [" > "]),
    (r" == ", [" != "]), (r" != ", [" == "]),
    (r" \+ ", [" - "]), (r" - ", [" + "]), (r" \* ", [" / "]), (r" / ", [" * "]),
    (r" \+= ", [" -= "]), (r" -= ", [" += "]), (r" \*= ", [" /= "]),
    (r" && ", [" || "]), (r" \|\| ", [" && "]),
    (r"(?<=[( ])!(?=[a-z(])", [""]),
    (r"\bstd::min\(", ["std::max("]), (r"\bstd::max\(", ["std::min("]),
    (r"\btrue\b", ["false"]), (r"\bfalse\b", ["true"]),
    (r"\bfloor\(", ["ceil("]), (r"\bceil\(", ["floor("]),
    (r"(?<=[ (\[])1(?=[;,) \]])", ["0", "2"]), (r"(?<=[ (\[])0(?=[;,) \]])", ["1"]),
    (r"\bcontinue;", ["break;"]), (r"\bbreak;", ["continue;"]),
]
# Arguments of calls with two plain names, which are exchanged.
SWAP = re.compile(r"(?<=[a-z]\()(\w+), (\w+)(?=\))")


def run(command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                          env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}, **options)


def require(command):
    result = run(command)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout[-4000:]}{result.stderr[-4000:]}")


def copy_sources():
    """Copies the files that git knows, leaving those that have not changed, so that little is compiled again."""
    files = run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"]).stdout.split("\n")
    for name in filter(None, files):
        source, copy = ROOT / name, SOURCE / name
        if not source.is_file() or (copy.is_file() and copy.read_bytes() == source.read_bytes()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)


def build_all():
    if not (arguments.build / "build.ninja").exists():
        require(["cmake", "-S", SOURCE, "-B", arguments.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=None",
                 "-DCMAKE_CXX_FLAGS=-O1", "-DCMAKE_UNITY_BUILD=ON", "-DQUANTLOUPE_SHARED_ENGINE=ON",
                 "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON", f"-DQUANTLOUPE_TEST_ASSETS={ROOT.parent / 'shared'}"])
    require(["ninja", "-C", arguments.build, "quantloupe_engine", "tests/engine/all", *SESSION_TESTS])


def library_hash():
    return hashlib.sha256((arguments.build / LIBRARY).read_bytes()).digest()


def one_of(names):
    return f"^({'|'.join(names)})$"


def run_tests(timeout, parts=(".",)):
    """Runs the tests in tests/engine whose names match the regular expressions in parts, one part after the other, then the
    tests of sessions. Returns the names of tests that failed; stops at the first one."""
    for folder, part in [(TESTS, part) for part in parts] + [(TESTS.parent / "integration", one_of(SESSION_TESTS))]:
        result = run(["ctest", "--test-dir", folder, f"-j{arguments.jobs}", "--stop-on-failure", "--timeout", timeout,
                      "-R", part])
        if result.returncode:
            return re.findall(r"^\s*\d+ - (\w+) \(", result.stdout, re.M)
    return []


def parts_by_time():
    """Tests that took up to a second in the last run, then those up to five seconds, then the others."""
    costs = re.findall(r"^(\w+) \d+ ([\d.]+)$", (TESTS / "Testing/Temporary/CTestCostData.txt").read_text(), re.M)
    parts = [[], [], []]
    for name, seconds in costs:
        parts[(float(seconds) > 1) + (float(seconds) > 5)].append(name)
    return [one_of(names) for names in parts if names]


def can_run(name):
    """Returns whether this processor has the instructions of a source file, which its name contains."""
    flags = set(" ".join(re.findall(r"^flags\s*:(.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.M)).split())
    needs = {"_amx": "amx_int8", "_vnni": "avx512_vnni", "_avx512": "avx512f", "_avxvnni": "avx_vnni"}
    return all(flag in flags for part, flag in needs.items() if part in name)


def candidates():
    """All places to mutate, as (file, line, column, old, new), shuffled."""
    found = []
    for path in sorted(SOURCE.glob("engine/**/*.cpp")):
        name = str(path.relative_to(SOURCE))
        if arguments.only not in name or not can_run(name):
            continue
        for number, line in enumerate(path.read_text().split("\n")):
            code = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "~" * len(m.group()), line.split("//")[0])
            if code.lstrip().startswith(("#", "template", "using", "*")) or "static_assert" in code:
                continue
            for pattern, replacements in MUTATIONS:
                for match in re.finditer(pattern, code):
                    found += [(name, number, match.start(), match.group(), new) for new in replacements]
            for match in SWAP.finditer(code):
                found.append((name, number, match.start(), match.group(), f"{match.group(2)}, {match.group(1)}"))
    chance.shuffle(found)
    return found


def repeated(text):
    name, line, column, new = text.split(":", 3)
    code = (SOURCE / name).read_text().split("\n")[int(line) - 1]
    for pattern, replacements in MUTATIONS + [(SWAP.pattern, [])]:
        match = re.compile(pattern).match(code, int(column) - 1)
        if match and (new in replacements or not replacements):
            return name, int(line) - 1, int(column) - 1, match.group(), new
    sys.exit(f"{text}: no such mutation")


def apply(mutation):
    """Returns the original text of the file."""
    name, number, column, old, new = mutation
    path = SOURCE / name
    original = path.read_text()
    lines = original.split("\n")
    assert lines[number].startswith(old, column)
    lines[number] = lines[number][:column] + new + lines[number][column + len(old):]
    path.write_text("\n".join(lines))
    return original


chance = random.Random(arguments.seed)
print(f"seed {arguments.seed}; building in {arguments.build}", flush=True)
SOURCE.mkdir(parents=True, exist_ok=True)
copy_sources()
build_all()
original_hash = library_hash()
start = time.monotonic()
if failed := run_tests(600):
    sys.exit(f"the tests fail without a mutation: {', '.join(failed)}")
timeout = max(30, int(10 * (time.monotonic() - start)))
parts = parts_by_time()
print(f"tests without a mutation: {time.monotonic() - start:.0f} s", flush=True)

mutations = [repeated(text) for text in arguments.repeat] or candidates()
count = len(mutations) if arguments.repeat else arguments.count
killed, survivors = 0, []
for mutation in mutations:
    if killed + len(survivors) == count:
        break
    name, number, column, old, new = mutation
    original = apply(mutation)
    line = (SOURCE / name).read_text().split("\n")[number].strip()
    try:
        built = run(["ninja", "-C", arguments.build, "quantloupe_engine"]).returncode == 0
        if not built or library_hash() == original_hash:
            continue  # not C++, or the same program
        failed = run_tests(timeout, parts)
    finally:
        (SOURCE / name).write_text(original)
    killed += bool(failed)
    where = f"{name}:{number + 1}:{column + 1}:{new}"
    print(f"{'killed' if failed else 'SURVIVED'}  {where}  ({old} in: {line})  {' '.join(failed[:1])}", flush=True)
    if not failed:
        survivors.append(where)
require(["ninja", "-C", arguments.build, "quantloupe_engine"])
total = killed + len(survivors)
print(f"{killed} of {total} mutations killed ({100 * killed / max(total, 1):.0f} %), seed {arguments.seed}")
for where in survivors:
    print(f"survived: {where}")
sys.exit(0 if total and killed >= 0.9 * total else 1)
