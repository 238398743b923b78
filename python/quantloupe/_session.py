# SPDX-License-Identifier: Apache-2.0
"""Sessions: a model with its data."""
from __future__ import annotations

import contextlib
import html
import json
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import _data, _window
from ._config import Config
from ._engine import Engine, Error, Held, Job, array_view, calling_metric, path_text, whole
from ._progress import ProgressBar
from ._results import Evaluation, LeaveOneOut, Picture, table
from ._tune import Tune

MetricFunction = Callable[[Dict[str, Any], Any], float]
Path = Union[str, "os.PathLike[str]"]


def _callable(metric: Any) -> Any:
    if not callable(metric):
        raise TypeError(f"a metric must be a function, not {type(metric).__name__}")
    return metric


class Metric:
    """A user-defined metric for which lower values can be better.

    Example: `session.metric = Metric(rmse, lower_is_better=True)`.
    """

    def __init__(self, function: MetricFunction, lower_is_better: bool = False) -> None:
        self.function, self.lower_is_better = _callable(function), lower_is_better

    def __call__(self, outputs: Dict[str, Any], labels: Any) -> float:
        return self.function(outputs, labels)


class Session:
    """A model with its data. Evaluates configurations, and recomputes only the results that a change invalidates.

    `threads`: number of worker threads; 0: one per core. `memory_mib`: limit for cached results in MiB; None: a
    quarter of the machine's memory, at most half of the free memory. `progress`: whether to show progress bars (with
    tqdm); None: only in notebooks and terminals.
    """

    def __init__(self, model: Path, *, threads: int = 0, memory_mib: Optional[int] = None,
                 progress: Optional[bool] = None) -> None:
        threads = whole("threads", threads, 0, 4096)
        if memory_mib is not None:
            memory_mib = whole("memory_mib", memory_mib, 0, 1 << 32)
        self.model = path_text(model)
        self._file = os.path.abspath(self.model)
        self.progress = progress
        self._engine = Engine()
        self._data_changes = 0
        self._labels: Any = None
        self._only_for_metric = ""  # what the labels are, if they are one per sample but no class indices
        self._ignored_labels = ""  # a notice, if the labels are something else
        self._kept: List[Any] = []  # arrays that the engine reads
        self._metric: Optional[MetricFunction] = None
        self._metric_error: Optional[BaseException] = None
        self._data: Dict[str, Any] = {}  # what set_data() got, for the window
        self._task: Dict[str, str] = {}
        about = self._run({"do": "open", "path": self.model, "threads": threads, "memory_mib": memory_mib})
        self.inputs: List[Dict[str, Any]] = about["inputs"]
        self.outputs: List[Dict[str, Any]] = about["outputs"]
        self.layer_names: List[str] = about["layers"]
        self.notices: List[str] = about["notices"]
        self.data_notices: List[str] = []
        self.samples = 0

    # --- data ---------------------------------------------------------------------------------------------------

    def set_data(self, data: Any, labels: Any = None, calibration: Any = None, *, task: Optional[str] = None,
                 class_names: Optional[Path] = None, decoder: Optional[str] = None,
                 class_output: Optional[str] = None, category_index: Optional[str] = None) -> None:
        """Sets the evaluation samples and the calibration samples.

        `data` and `calibration` are each one of these: an array (with the samples in the dimension `sample_axis` of
        `inputs`, usually the first); a dict of arrays by input; an iterable of batches such as PyTorch's DataLoader,
        whose batches are arrays, dicts, or tuples of the inputs, optionally followed by the labels; or a path as for
        the command line (a folder of images, .npy, .npz). Arrays are not copied if their layout is row-major; do not
        change them while the session uses them.

        `labels` are class indices (one per sample, or for language models and token classification one per token),
        anything that a user-defined metric can read, or a path: a list of classes, a COCO file for detection, or a
        folder of label images for segmentation. The other arguments are those of the command line: `task` is
        "classification", "detection", "segmentation", "regression" or "tokens"; `class_names` a file; `decoder` how
        boxes are decoded; `class_output` the output with the scores of the classes; `category_index` "position" or
        "id". Without `calibration`, every second sample is used for calibration and the others for evaluation.
        Afterwards, `data_notices` says what is noteworthy about the data, for example that it was split.
        """
        kept: List[Any] = []
        labels_file = labels if isinstance(labels, (str, bytes, os.PathLike)) else None
        if labels_file is not None:
            labels = None
        settings = _data.task_settings(labels_file, task, class_names, decoder, class_output, category_index)
        request: Dict[str, Any] = {"do": "set_data", "task": settings}
        kept_labels: Any = None
        given: Dict[str, Any] = {}
        for key, samples in (("data", data), ("calibration", calibration)):
            if samples is None:
                request[key] = None
            elif isinstance(samples, (str, bytes, os.PathLike)):
                request[key] = {"path": os.path.abspath(path_text(samples))}
                given[key] = request[key]["path"]
            else:
                gathered = _data.gather(samples, labels if key == "data" else None, self.inputs)
                if key == "calibration":
                    gathered = gathered._replace(labels=None)
                else:
                    kept_labels = gathered.labels
                request[key], arrays = gathered.description()
                kept.extend(arrays)
                given[key] = gathered
        if "path" in (request["data"] or {}) and labels is not None:
            raise Error("an array of labels cannot be given for a path: the labels of a folder are the names of its "
                        "subfolders, and the labels of an .npz file are in its array 'labels'")
        only_for_metric, ignored = _data.other_than_classes(kept_labels)

        def adopt(about: Dict[str, Any]) -> None:
            self._kept, self._data, self._task = kept, given, settings
            # Without calibration data, the engine evaluates on every second sample, or on every second batch if the
            # samples of a batch belong together.
            self._labels = _data.every_second(kept_labels, about["together"]) if calibration is None else kept_labels
            self.data_notices = about["notice"].splitlines()
            self._only_for_metric, self._ignored_labels = only_for_metric, ignored
            self.samples = about["samples"]
            self._data_changes += 1

        before, self._kept = self._kept, self._kept + kept
        try:
            job = self._start(request)
        except Error:
            self._kept = before
            raise
        try:
            adopt(self._wait(job))
        except Error:
            self._kept = before
            raise
        except BaseException:  # KeyboardInterrupt: by now, the engine may use the new data
            while not job.wait(0):
                with contextlib.suppress(KeyboardInterrupt):
                    job.cancel()
            with contextlib.suppress(Error):
                adopt(job.result())
            raise

    # --- results ------------------------------------------------------------------------------------------------

    def evaluate(self, config: Config, depth: str = "metrics") -> Evaluation:
        """Evaluates a configuration: accuracies, and the sensitivity of each layer.

        The depth "accuracy" omits the sensitivities; "states" omits everything that needs samples. Without data,
        random inputs are used. KeyboardInterrupt cancels the evaluation.
        """
        if depth not in ("states", "accuracy", "metrics"):
            raise ValueError(f"depth is {depth!r}: it must be 'states', 'accuracy' or 'metrics'")
        if not isinstance(config, Config):
            raise TypeError(f"evaluate() needs a Config, not {type(config).__name__}")
        if depth != "states":
            self._require_metric_of_labels()
        job = self._start({"do": "evaluate", "config": config.to_json(), "depth": depth})
        values = self._wait(job)
        if depth != "states" and self._metric is None and self._ignored_labels:
            values["notices"].append(self._ignored_labels)
        return Evaluation(self, config, job, values)

    def leave_one_out(self, config: Config) -> LeaveOneOut:
        """Evaluates, for each quantized layer, the gain from keeping only this layer in float, on all samples."""
        self._require_metric_of_labels()
        return LeaveOneOut(self._run({"do": "leave_one_out", "config": config.to_json()}))

    def tune(self, config: Config, max_drop: Optional[float] = None, *, cost: Optional[str] = None,
             precisions: Sequence[str] = (), allow_float: bool = True, budget: Optional[float] = None,
             max_steps: int = 0, max_seconds: float = 0, transforms: bool = False) -> Tune:
        """Starts a search for the cheapest layers to keep in float so that the accuracy drop is at most `max_drop`.

        `max_drop` is in percentage points, or in the unit of a user-defined metric; None: 1, or no limit with a
        `budget`. `cost` is "macs", "parameters", "layers", "bytes" or "bops"; the default is "macs", or "bytes" with
        `precisions`. `precisions`, for example ["w8a8", "w4a8"], are also tried for each layer; `allow_float=False`
        excludes float32. With a `budget`, in the unit of `cost`, the drop is minimized within this budget.
        `transforms` also tries equalization and bias correction.

        Iterate over the returned search to get its progress; its `result` contains the configuration.
        """
        if max_drop is None and budget is None:
            max_drop = 1.0
        if max_drop is not None and max_drop < 0:
            raise Error(f"max_drop is {max_drop}: it must be at least 0")
        max_steps = whole("max_steps", max_steps, 0, (1 << 63) - 1)
        if max_seconds < 0:
            raise Error(f"max_seconds is {max_seconds}: it must be at least 0")
        self._require_metric_of_labels()
        drop = max_drop if self._metric is not None or max_drop is None else max_drop / 100
        if isinstance(precisions, str):
            precisions = [precisions]
        return Tune(self, self._start({"do": "tune", "config": config.to_json(), "max_drop": drop, "cost": cost,
                                       "precisions": list(precisions), "allow_float": allow_float, "budget": budget,
                                       "max_steps": max_steps, "max_seconds": max_seconds, "transforms": transforms}))

    @property
    def metric(self) -> Optional[MetricFunction]:
        """A user-defined metric for evaluate(), leave_one_out() and tune(); None: the metric of the task.

        The function is called with the outputs (a dict with one numpy array per output) and the labels of the same
        samples, and returns a number. Higher values are better, unless you use the class Metric. It is called on
        another thread. In a search, it can call the search's close().
        """
        return self._metric

    @metric.setter
    def metric(self, metric: Optional[MetricFunction]) -> None:
        if metric is not None:
            _callable(metric)
        lower_is_better = bool(getattr(metric, "lower_is_better", False))
        self._engine.set_metric(self._call_metric if metric is not None else None, lower_is_better)
        self._metric = metric

    # --- files --------------------------------------------------------------------------------------------------

    def export(self, config: Config, format: str, path: Path) -> List[str]:
        """Writes the configuration for another tool, for example "amct" or "quark"; returns the written files.

        docs/exports.md lists the formats. Afterwards, `notices` describes the differences from the preview.
        """
        request = {"do": "export", "config": config.to_json(), "format": format, "path": path_text(path)}
        reply = self._run(request)
        self.notices = reply["notices"]
        return list(reply["files"])

    def save_quantized(self, config: Config, path: Path) -> None:
        """Writes the quantized model as an ONNX file with QuantizeLinear and DequantizeLinear.

        Afterwards, `notices` describes the differences from the preview.
        """
        request = {"do": "save_quantized", "config": config.to_json(), "path": path_text(path)}
        self.notices = self._run(request)

    # --- window and notebook ------------------------------------------------------------------------------------

    def show(self, config: Optional[Config] = None, arguments: Optional[List[str]] = None) -> Config:
        """Opens the window on this model, data and configuration, and returns the tuned configuration when it closes.

        The window uses the metric of the task. `arguments` are additional command-line options of the window.
        """
        options = [text for key, value in self._task.items() for text in (f"--{key.replace('_', '-')}", value)]
        return _window.show(self._file, self._data, config or Config(), options + (arguments or []))

    @property
    def graph(self) -> Picture:
        """The graph without colors. The graph of an evaluation is colored."""
        return self._draw(None, "state")

    def __repr__(self) -> str:
        data = f"{self.samples} samples" if self.samples else "no data"
        return f"<Session: {os.path.basename(self.model)}, {len(self.layer_names)} layers, {data}>"

    def _repr_html_(self) -> str:
        def tensors(entries: List[Dict[str, Any]]) -> str:
            return ", ".join(f"{entry['name']}: {entry['type']} {entry['shape']}" for entry in entries)
        rows = [["layers", str(len(self.layer_names))], ["inputs", tensors(self.inputs)],
                ["outputs", tensors(self.outputs)], ["evaluation samples", str(self.samples or "none yet")]]
        return f"<b>{html.escape(os.path.basename(self.model))}</b>" + table(["", ""], rows)

    # --- internal -----------------------------------------------------------------------------------------------

    def _require_metric_of_labels(self) -> None:
        """Raises Error if nothing would read the labels."""
        if self._only_for_metric and self._metric is None:
            raise Error(f"the labels are {self._only_for_metric}, but class indices are whole numbers: convert them "
                        "with astype(int), or set session.metric to a function that reads them")

    def _start(self, request: Dict[str, Any]) -> Job:
        def forget_error() -> None:
            if self._engine.job is not None:
                self._engine.job.metric_error = self._metric_error
            self._metric_error = None

        return self._engine.start(request, forget_error)

    def _result_of(self, job: Job) -> Any:
        """Returns the result of a job that has ended. Exceptions of the metric are raised unchanged."""
        try:
            return job.result()
        except Error as error:
            raised = self._metric_error_of(job)
            if raised is not None:
                raise raised from error
            raise

    def _metric_error_of(self, job: Job) -> Optional[BaseException]:
        return self._metric_error if job is self._engine.job else job.metric_error

    def _wait(self, job: Job) -> Any:
        bar = ProgressBar(self.progress)
        try:
            while not job.wait(0.1):
                bar.show(job.progress())
        except BaseException:  # KeyboardInterrupt
            job.cancel()
            raise
        finally:
            bar.close()
        return self._result_of(job)

    def _run(self, request: Dict[str, Any]) -> Any:
        return self._wait(self._start(request))

    def _outputs(self, config: Optional[Config]) -> Dict[str, Any]:
        reply = self._run({"do": "outputs", "config": None if config is None else config.to_json()})
        held = Held(reply["held"])
        return {array["name"]: array_view(array, held) for array in reply["arrays"]}

    def _draw(self, evaluated: Optional[Job], paint: str) -> Picture:
        address = None if evaluated is None else evaluated.address
        return Picture(self._run({"do": "draw", "evaluation": address, "paint": paint}))

    def _call_metric(self, text: bytes, address: int, failed: Any) -> float:
        """Computes the metric. The engine calls this on its thread; ctypes acquires the GIL."""
        try:
            held = Held(address)
            given = json.loads(text)
            outputs = {array["name"]: array_view(array, held) for array in given["outputs"]}
            if self._labels is not None:
                labels = _data.select(self._labels, array_view(given["samples"], held))
            else:
                labels = array_view(given["labels"], held) if given["labels"] else None
            assert self._metric is not None
            with calling_metric(self._engine.address):
                return float(self._metric(outputs, labels))
        except BaseException as error:
            self._metric_error = error
            failed[0] = 1
            return 0.0
