# SPDX-License-Identifier: Apache-2.0
"""The search for the layers to keep in float."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional

from ._config import Config
from ._engine import Cancelled, Error, Job
from ._progress import ProgressBar
from ._results import Record, number, table

if TYPE_CHECKING:
    from ._session import Session


class TuneProgress(Record):
    """The progress of a search. `best`: drop, metric, cost and layers of the best configuration so far, or None."""
    stage: str
    done: int
    total: int
    best: Optional[Dict[str, Any]]


class TunePoint(Record):
    """A configuration on the trade-off curve of cost and accuracy drop."""
    layers: List[str]
    transforms: str
    drop: float
    amount: float  # the cost that is minimized
    drop_interval: Optional[List[float]]
    quantized: Dict[str, Any]
    cost: Dict[str, Any]
    transitions: int
    config: Config


class TuneResult(Record):
    """The result of a search, as `quantloupe-cli tune --json` prints it, with the configurations."""
    metric: str
    max_drop: Optional[float]
    reached: bool
    certain: bool
    ended: str  # "finished", "steps", "seconds", "cancelled" or "failed"
    error: Optional[BaseException]  # with "failed": the exception of the metric
    text: str
    chosen: int
    curve: List[TunePoint]
    steps: int
    evaluations: int
    seconds: float
    cost: float  # of the chosen point, in the unit of `cost_kind`
    cost_kind: str
    start_cost: float
    budget: Optional[float]
    drop: float
    interval: Optional[List[float]]
    held_out: Optional[Dict[str, Any]]
    total: Dict[str, Any]
    locked: List[str]
    reused: int
    samples: int
    notices: List[str]
    precisions: Dict[str, str]  # of the chosen point, by layer

    def __init__(self, values: Mapping[str, Any], error: Optional[BaseException] = None) -> None:
        values = {**values, "error": error}
        chosen = values.pop("layers")
        super().__init__(values)
        self.precisions = {layer["name"]: layer["precision"] for layer in chosen}
        self.curve = [TunePoint({**point, "config": Config._of(point["config"])}) for point in values["curve"]]

    @property
    def point(self) -> TunePoint:
        """The cheapest point that reaches the target; if none does, the one with the smallest drop."""
        return self.curve[self.chosen]

    @property
    def config(self) -> Config:
        """A copy of the configuration of the chosen point."""
        return self.point.config.copy()

    @property
    def layers(self) -> List[str]:
        """The layers that the search keeps in float at the chosen point."""
        return self.point.layers

    def __repr__(self) -> str:
        return f"<TuneResult: {self.text}>"

    def _repr_html_(self) -> str:
        rows = [["▶" if index == self.chosen else "", str(len(point.layers)), number(point.drop),
                 str(point.cost.get("macs")), str(point.cost["parameters"])] for index, point in enumerate(self.curve)]
        head = ["", "layers in float", "drop", "MACs in float", "parameters in float"]
        if self.cost_kind not in ("layers", "macs", "parameters"):
            head.append(self.cost_kind)
            rows = [[*row, f"{point.amount:.0f}"] for row, point in zip(rows, self.curve)]
        return table([""], [[self.text]]) + table(head, rows)


class Tune(Iterator[TuneProgress]):
    """A running search. Iterate over it to get its progress, then read `result`.

    `close()` stops the search early and keeps the best result so far. Leaving a `with` block does the same.
    """

    def __init__(self, session: "Session", job: Job) -> None:
        self._session, self._job = session, job
        self._waiting: List[TuneProgress] = []
        self._result: Optional[TuneResult] = None

    def __next__(self) -> TuneProgress:
        while not self._waiting:
            try:
                ended = self._job.wait(0.1)
            except BaseException:  # KeyboardInterrupt: the thread must not continue
                self.close()
                raise
            self._waiting = [TuneProgress(values) for values in self._job.progress()]
            if ended and not self._waiting:
                self._finish()
                raise StopIteration
        return self._waiting.pop(0)

    def close(self) -> None:
        """Stops the search. The best result so far is kept."""
        self._job.cancel()
        self._waiting = []

    def __del__(self) -> None:
        if hasattr(self, "_job"):
            self._job.cancel()

    def __enter__(self) -> "Tune":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _finish(self) -> TuneResult:
        if self._result is None:
            try:
                values = self._session._result_of(self._job)
            except Cancelled:
                raise Error("the search was stopped before its first evaluation finished") from None
            error = self._session._metric_error_of(self._job) if values["ended"] == "failed" else None
            if error is not None:
                values["notices"].append(f"the metric raised {type(error).__name__}: {error}")
            self._result = TuneResult(values, error)
        return self._result

    @property
    def result(self) -> TuneResult:
        """The result; waits until the search has ended."""
        bar = ProgressBar(self._session.progress)
        try:
            while not self._job.wait(0.1):
                bar.show(self._job.progress())
        except BaseException:
            self.close()
            raise
        finally:
            bar.close()
        return self._finish()

    def __repr__(self) -> str:
        return f"<Tune: {'ended' if self._job.wait(0) else 'running'}>"
