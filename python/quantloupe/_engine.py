# SPDX-License-Identifier: Apache-2.0
"""Calls the shared library that contains the engine: its C functions (python/library/interface.h), jobs and arrays.

The library does not use Python's C API, so one build works with every version of Python. ctypes releases the GIL
during each call, and acquires it to call the metric.
"""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import json
import math
import operator
import os
import pathlib
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional

METRIC = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_char_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))

_FUNCTIONS = {  # name: result, arguments
    "version": (ctypes.c_char_p,),
    "use_graphviz": (None, ctypes.c_char_p),
    "config": (ctypes.c_void_p, ctypes.c_char_p),
    "free": (None, ctypes.c_void_p),
    "open": (ctypes.c_void_p,),
    "close": (None, ctypes.c_void_p),
    "set_metric": (None, ctypes.c_void_p, METRIC, ctypes.c_int),
    "start": (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p),
    "wait": (ctypes.c_int, ctypes.c_void_p, ctypes.c_double),
    "cancel": (None, ctypes.c_void_p),
    "progress": (ctypes.c_void_p, ctypes.c_void_p),
    "result": (ctypes.c_char_p, ctypes.c_void_p),
    "release": (None, ctypes.c_void_p),
    "release_job": (None, ctypes.c_void_p),
}


class Error(Exception):
    """An error in a model, data, a configuration or a file. The message is the same as on the command line."""
    __module__ = "quantloupe"


class Cancelled(Error):
    """The result of a job that was cancelled."""
    __module__ = "quantloupe"


def prefix() -> pathlib.Path:
    """Returns the folder of the installation, which contains bin/ and lib/quantloupe/."""
    package = pathlib.Path(os.path.abspath(__file__)).parent
    for folder in (package / "installed", package.parents[3]):  # a wheel; lib/python3/dist-packages of a prefix
        if (folder / "lib" / "quantloupe" / "libquantloupe.so").exists():
            return folder
    raise ImportError(f"Quantloupe's library was not found for '{package}': install the package again")


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """Returns the loaded library."""
    folder = prefix() / "lib" / "quantloupe"
    loaded = ctypes.CDLL(str(folder / "libquantloupe.so"))
    for name, (result, *arguments) in _FUNCTIONS.items():
        function = getattr(loaded, "quantloupe_" + name)
        function.restype, function.argtypes = result, arguments
    if (folder / "graphviz").exists():
        loaded.quantloupe_use_graphviz(os.fsencode(folder / "graphviz"))
    return loaded


def version() -> str:
    """Returns the version and the commit."""
    return str(library().quantloupe_version().decode())


def _owned_text(address: int) -> str:
    text = ctypes.string_at(address).decode()
    library().quantloupe_free(address)
    return text


def _result_of(reply: Dict[str, Any]) -> Any:
    if "error" in reply:
        raise Error(reply["error"])
    return reply["result"]


def encoded(request: Dict[str, Any]) -> bytes:
    """The JSON of a request. Raises Error that names an argument which is NaN or infinite."""
    try:
        return json.dumps(request, allow_nan=False, ensure_ascii=False, default=plain).encode()
    except UnicodeEncodeError as error:
        raise Error(f"'{ascii(error.object[max(error.start - 40, 0):error.end + 40])}' is not valid UTF-8") from None
    except ValueError as error:
        for name, value in request.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise Error(f"{name} is {value}: it must be a finite number") from None
        raise Error(f"the arguments cannot be passed on: {error}") from None


def plain(value: Any) -> Any:
    """The number of a numpy scalar, for json. Raises Error for anything else."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    raise Error(f"{value!r} is of type {type(value).__name__}: pass a number, text, a list or a dict")


def path_text(path: Any) -> str:
    """The text of a path that is text, bytes, or an object such as pathlib.Path."""
    if isinstance(path, bytes) and (b"\0" in path or len(path) > 4096):
        raise Error("a path is needed, not the contents of a file")
    return os.fsdecode(path)


def whole(name: str, value: Any, least: int, most: int) -> int:
    """The value of an argument that is a whole number. Raises Error that names it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise Error(f"{name} is {value!r}: it must be a whole number") from None
    if not least <= number <= most:
        raise Error(f"{name} is {number}: it must be from {least} to {most}")
    return number


def config_request(**request: Any) -> Any:
    """Performs a request about a configuration (python/library/config_requests.cpp)."""
    return _result_of(json.loads(_owned_text(library().quantloupe_config(encoded(request)))))


class Held:
    """Keeps arrays of the engine valid as long as this object exists."""

    def __init__(self, address: int) -> None:
        self._address, self._release = address, library().quantloupe_release

    def __del__(self) -> None:
        self._release(self._address)


def array_view(description: Dict[str, Any], held: Held) -> Any:
    """Returns a read-only numpy view of an array of the engine."""
    import numpy
    kind = numpy.dtype(description["type"])
    shape = tuple(description["shape"])
    size = kind.itemsize * int(numpy.prod(shape, dtype=numpy.int64))
    if size == 0:
        return numpy.empty(shape, kind)
    memory = (ctypes.c_char * size).from_address(description["address"])
    memory.held = held  # the array keeps `memory` alive, and `memory` keeps `held` alive
    array = numpy.frombuffer(memory, kind).reshape(shape)
    array.flags.writeable = False
    return array


def array_description(name: str, array: Any) -> Dict[str, Any]:
    """Describes a contiguous numpy array, which must stay alive as long as the engine uses it."""
    return {"name": name, "type": array.dtype.name, "shape": list(array.shape), "address": array.ctypes.data}


_calling = threading.local()  # `engines`: those that are calling a metric on this thread


@contextlib.contextmanager
def calling_metric(engine: int) -> Iterator[None]:
    """Marks this thread as that of a job while it calls a metric."""
    before = getattr(_calling, "engines", ())
    _calling.engines = (*before, engine)
    try:
        yield
    finally:
        _calling.engines = before


class Job:
    """A request that runs in a thread of the engine."""

    _running: "weakref.WeakSet[Job]" = weakref.WeakSet()

    def __init__(self, engine: int, request: Dict[str, Any]) -> None:
        self._library, self._engine, self.process = library(), engine, os.getpid()
        self.metric_error: Optional[BaseException] = None
        self.address: Optional[int] = self._library.quantloupe_start(engine, encoded(request))
        if self.address is None:
            raise Error("no thread can be started: there are too many, or there is not enough memory")
        Job._running.add(self)

    def __del__(self) -> None:
        address, self.address = getattr(self, "address", None), None
        if address is not None and self.process == os.getpid():  # a forked process does not have the thread
            self._library.quantloupe_release_job(address)

    def wait(self, seconds: float) -> bool:
        """Waits until the job has ended, at most this long. Returns whether it has ended."""
        if seconds > 0 and self._calls_this_thread():
            raise Error("a metric cannot wait for the call that needs its value")
        return bool(self._library.quantloupe_wait(self.address, seconds))

    def cancel(self) -> None:
        """Cancels the job and waits until it has ended, which can take as long as computing one layer.

        In a metric that the job calls, this does not wait: the job ends after the metric has returned.
        """
        if self.address is None:  # In a cycle of objects, Python may finalize a job before those that cancel it.
            return
        self._library.quantloupe_cancel(self.address)
        while not self._calls_this_thread() and not self.wait(1):
            pass

    def progress(self) -> List[Dict[str, Any]]:
        """Returns the progress since the last call."""
        return list(json.loads(_owned_text(self._library.quantloupe_progress(self.address))))

    def result(self) -> Any:
        """Returns the result of a job that has ended. Raises Error, and Cancelled if the job was cancelled."""
        reply = json.loads(self._library.quantloupe_result(self.address).decode())
        if "cancelled" in reply:
            raise Cancelled("the call was cancelled")
        return _result_of(reply)

    def _calls_this_thread(self) -> bool:
        """Whether this thread is that of the job, which is calling the metric."""
        return self._engine in getattr(_calling, "engines", ())

    @classmethod
    def end_all(cls) -> None:
        """Ends all jobs, because a thread must not call an interpreter that has ended."""
        for job in list(cls._running):
            if job.process == os.getpid():
                job.cancel()


atexit.register(Job.end_all)


class Engine:
    """A session of the engine. Only one job at a time may use it."""

    def __init__(self) -> None:
        self._close, self.address = library().quantloupe_close, library().quantloupe_open()
        self._process = os.getpid()
        self.job: Optional[Job] = None
        self._lock = threading.Lock()  # between the check that no job runs and the start of the next one
        self._metric: Any = None  # ctypes frees a function that nothing refers to

    def __del__(self) -> None:
        if hasattr(self, "_process") and self._process == os.getpid():
            if self.job is not None:
                self.job.cancel()
            self._close(self.address)

    def start(self, request: Dict[str, Any], prepare: Callable[[], None]) -> Job:
        """Calls `prepare`, then starts a request. Raises Error while another one runs."""
        if self._process != os.getpid():
            raise Error("this session belongs to the parent process: open another one in this process")
        with self._lock:
            if self.job is not None and not self.job.wait(0):
                raise Error("the session is busy: end its search with close(), wait until its last call has ended, or "
                            "open another session")
            prepare()
            self.job = Job(self.address, request)
            return self.job

    def set_metric(self, metric: Optional[Callable[[bytes, int, Any], float]], lower_is_better: bool) -> None:
        """Sets the function that is called for a metric; None: none."""
        with self._lock:
            if self.job is not None and not self.job.wait(0):
                raise Error("the session is busy: the metric cannot be changed now")
            function = METRIC(metric) if metric is not None else METRIC()
            library().quantloupe_set_metric(self.address, function, lower_is_better)
            self._metric = function
