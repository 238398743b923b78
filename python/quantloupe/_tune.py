# SPDX-License-Identifier: Apache-2.0
"""The search for the layers to keep in float."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional

from ._config import Config
from ._engine import Error, Job
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
    drop_interval: Optional[List[float]]
    quantized: Dict[str, Any]
    cost: Dict[str, Any]
    transitions: int
    config: Config


class TuneResult(Record):
    """The result of a search, as `quantloupe-cli tune --json` prints it, with the configurations."""
    metric: str
    max_drop: float
    reached: bool
    certain: bool
    ended: str  # "finished", "steps", "seconds" or "cancelled"
    text: str
    chosen: int
    curve: List[TunePoint]
    steps: int
    evaluations: int
    seconds: float

    precisions: Dict[str, str]  # of the chosen point, by layer

    def __init__(self, values: Mapping[str, Any]) -> None:
        values = dict(values)
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
        """The configuration of the chosen point."""
        return self.point.config

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
            values = self._session._result_of(self._job)
            if values is None:
                raise Error("the search was stopped before its first evaluation finished")
            self._result = TuneResult(values)
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
