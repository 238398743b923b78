# SPDX-License-Identifier: Apache-2.0
"""Runs one command on one damaged input and reports how it failed."""

import os
import re
import resource
import signal
import subprocess
from dataclasses import dataclass, field

GOOD_CODES = {0, 1, 2, 3}
SANITIZER = re.compile(r"ERROR: (Address|Leak|Thread)Sanitizer|runtime error:")
# Texts of libraries and of checks that should have been messages of ours.
INTERNAL = re.compile(
    r"std::|vector::_M|basic_string|json\.exception|unexpected:|\bmap::at\b|error in quantloupe-cli itself|unexpected error:"
)
LONGEST_MESSAGE = 8000


@dataclass
class Case:
    """A command and the files it reads. `name` must be in the message of a refusal, if it is given."""

    command: list[str]
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    name: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def run(case: Case, folder: str, seconds: float, memory_mib: int) -> str:
    """Empty if the command ended as it should: done, or refused with one readable message. The command runs in `folder`."""
    for name, content in case.files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def limit():
        if memory_mib > 0:
            resource.setrlimit(resource.RLIMIT_AS, (memory_mib << 20, memory_mib << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(case.command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "LC_ALL": "C.UTF-8", **case.environment}, preexec_fn=limit)
    try:
        _, errors = process.communicate(case.stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"still running after {seconds:g} seconds"
    message = errors.decode("utf-8", "replace")
    if process.returncode < 0:
        return f"ended by {signal.Signals(-process.returncode).name}: {message[-1500:]}"
    if SANITIZER.search(message):
        return f"sanitizer: {message[:3000]}"
    if process.returncode not in GOOD_CODES:
        return f"exit code {process.returncode}: {message[-1500:]}"
    if INTERNAL.search(message):
        return f"internal message: {message[:1500]}"
    if len(message) > LONGEST_MESSAGE:
        return f"a message of {len(message)} characters: {message[:500]}"
    if process.returncode != 0 and not message.strip():
        return "refused without a message"
    if process.returncode == 1 and case.name and case.name not in message:
        return f"the message does not name '{case.name}': {message[:1500]}"
    return ""
