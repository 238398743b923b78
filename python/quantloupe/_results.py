# SPDX-License-Identifier: Apache-2.0
"""Results: the values of the command line's JSON as attributes, with tables and pictures for notebooks."""
from __future__ import annotations

import html
import math
import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional

from ._engine import Error, Job

if TYPE_CHECKING:
    from ._config import Config
    from ._session import Session


class Record:
    """The values of a JSON object as attributes. Infinite and undefined numbers are None."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    def to_dict(self) -> Dict[str, Any]:
        """Returns the values; nested records become dicts."""
        def plain(value: Any) -> Any:
            return [plain(one) for one in value] if isinstance(value, list) else \
                value.to_dict() if hasattr(value, "to_dict") else value
        return {key: plain(value) for key, value in self.__dict__.items()}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.__dict__.items() if value is not None)
        return f"{type(self).__name__}({shown})"


class Difference(Record):
    """The difference of a tensor from its float reference over all samples."""
    qs: Optional[float]
    cosine: Optional[float]
    sqnr_db: Optional[float]
    max_abs: float
    mean_abs: float
    rms: float
    relative_euclidean: float
    absolute_l2: float
    mean: float
    std: float
    reference_mean: float
    reference_std: float


class Layer(Record):
    """The state and the sensitivity of a layer, as `quantloupe-cli analyze --json` prints them."""
    name: str
    module: str  # its path in the network's code, such as "features.3.conv"; empty if unknown
    op: str
    state: str  # "quantized", "skipped", "float", "folded" or "fused"
    io: bool
    reason: str
    host: Optional[str]
    weight: Optional[Difference]
    local: Optional[Difference]
    cumulative: Optional[Difference]
    macs: Optional[int]
    parameters: int
    precision: Optional[str]

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        for name in ("weight", "local", "cumulative"):
            if isinstance(values[name], dict):
                setattr(self, name, Difference(values[name]))


class Effect(Record):
    """The gain of keeping one layer in float. `value`: the metric; `gain`: positive if quantization costs accuracy."""
    name: str
    value: float
    gain: float
    fixed: int
    broken: int
    interval: Optional[List[float]]
    moved_with: Optional[str]
    sqnr_db: Optional[float]


class _Table(list):  # type: ignore[type-arg]
    """A list of records."""

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame; columns of nested values are named like "local.qs"."""
        import pandas
        rows = [record.to_dict() for record in self]
        nested = {key for row in rows for key, value in row.items() if isinstance(value, dict)}
        # Where a nested value is missing, its columns are empty, and there is no column for the value itself.
        return pandas.json_normalize([{key: value for key, value in row.items() if key not in nested or value is not None}
                                      for row in rows])


class LayerList(_Table):
    """All layers in the order of the graph."""

    def __getitem__(self, key: Any) -> Any:
        """Returns a layer by its index or by its name: `layers["/features.0/Conv"]`."""
        if isinstance(key, slice):
            return LayerList(super().__getitem__(key))
        if not isinstance(key, str):
            return super().__getitem__(key)
        for layer in self:
            if layer.name == key:
                return layer
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        """Returns whether there is a layer with this name, or this layer."""
        return any(layer.name == key for layer in self) if isinstance(key, str) else super().__contains__(key)

    def worst(self, count: int = 10) -> "LayerList":
        """Returns the layers with the largest local sensitivity (QS), largest first."""
        measured = [layer for layer in self if layer.local is not None and layer.local.qs is not None]
        return LayerList(sorted(measured, key=lambda layer: -layer.local.qs)[:count])

    def _repr_html_(self) -> str:
        return layer_table(self)


class Picture:
    """The graph as SVG, which notebooks display."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes an SVG file, whose name must end with .svg, so that it cannot replace the model or the data."""
        target = pathlib.Path(path)
        if target.suffix.lower() != ".svg":
            raise ValueError(f"'{target}' is not the name of a picture: use a name that ends with .svg")
        unfinished = target.with_name(f"{target.name}.{os.getpid()}.tmp")
        unfinished.write_text(self.svg, encoding="utf-8")
        unfinished.replace(target)

    def __repr__(self) -> str:
        return "<Picture of the graph>"

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        drawing = self.svg[self.svg.index("<svg"):]
        return f'<div style="max-height: 480px; overflow: auto; background: white">{drawing}</div>'


class Evaluation:
    """The results of evaluating a configuration. Accuracies are fractions."""

    def __init__(self, session: "Session", config: "Config", job: Job, values: Dict[str, Any]) -> None:
        self._session, self._job, self._data = session, job, session._data_changes
        self._config = config.copy()
        self.json = values
        self.layers = LayerList(Layer(layer) for layer in values["layers"])
        self.counts: Dict[str, int] = values["counts"]
        self.samples: int = values["samples"]
        self.random_inputs: bool = values["random_inputs"]
        self.notices: List[str] = values["notices"]
        self.seconds: Dict[str, float] = values["seconds"]
        self.float_accuracy: Optional[float] = values["float"]["top1"]
        self.prepared_accuracy: Optional[float] = values["prepared"]["top1"]
        self.quantized_accuracy: Optional[float] = values["quantized"]["top1"]
        self.agreement: Optional[float] = values["quantized"]["agreement"]
        self.sqnr_db: Optional[float] = values["quantized"]["sqnr_db"]
        self.float_map: Optional[float] = values["float"].get("map")
        self.quantized_map: Optional[float] = values["quantized"].get("map")
        self.float_miou: Optional[float] = values["float"].get("miou")
        self.quantized_miou: Optional[float] = values["quantized"].get("miou")
        self.float_token_accuracy: Optional[float] = values["float"].get("token_accuracy")
        self.quantized_token_accuracy: Optional[float] = values["quantized"].get("token_accuracy")
        self.float_perplexity: Optional[float] = values["float"].get("perplexity")
        self.quantized_perplexity: Optional[float] = values["quantized"].get("perplexity")
        self.float_metric: Optional[float] = values["float"].get("metric")
        self.quantized_metric: Optional[float] = values["quantized"].get("metric")

    @property
    def config(self) -> "Config":
        """A copy of the configuration."""
        return self._config.copy()

    def outputs(self) -> Dict[str, Any]:
        """Returns the quantized network's outputs for all samples: a dict of numpy arrays."""
        self._require_same_data()
        return self._session._outputs(self._config)

    def float_outputs(self) -> Dict[str, Any]:
        """Returns the float network's outputs for all samples."""
        self._require_same_data()
        return self._session._outputs(None)

    def draw(self, paint: str = "sensitivity") -> Picture:
        """Draws the graph. The color of a layer shows its "sensitivity" (local QS) or its "state"."""
        if paint not in ("sensitivity", "state"):
            raise ValueError("paint must be 'sensitivity' or 'state'")
        return self._session._draw(self._job, paint)

    @property
    def graph(self) -> Picture:
        """The graph colored by sensitivity."""
        return self.draw()

    def _require_same_data(self) -> None:
        if self._data != self._session._data_changes:
            raise Error("the session has other data than at the time of this evaluation: evaluate again")

    def __repr__(self) -> str:
        values = {"float": self.float_accuracy, "quantized": self.quantized_accuracy, "agreement": self.agreement,
                  "float mAP": self.float_map, "quantized mAP": self.quantized_map,
                  "float mIoU": self.float_miou, "quantized mIoU": self.quantized_miou,
                  "float token accuracy": self.float_token_accuracy,
                  "quantized token accuracy": self.quantized_token_accuracy,
                  "float perplexity": self.float_perplexity, "quantized perplexity": self.quantized_perplexity,
                  "float metric": self.float_metric, "quantized metric": self.quantized_metric}
        shown = ", ".join(f"{name} {value:.4g}" for name, value in values.items() if value is not None)
        parts = [f"{self.samples} samples" if self.samples else "no samples", shown,
                 f"{self.counts['quantized']} layers quantized"]
        return f"<Evaluation: {'; '.join(part for part in parts if part)}>"

    def _repr_html_(self) -> str:
        columns = [("top-1", "top1", percent), ("top-5", "top5", percent), ("agreement", "agreement", percent),
                   ("SQNR (dB)", "sqnr_db", number), ("mAP", "map", percent), ("mIoU", "miou", percent),
                   ("token accuracy", "token_accuracy", percent), ("perplexity", "perplexity", number),
                   ("metric", "metric", number)]
        given = {key for name in ("float", "quantized") for key in self.json[name]}
        shown = [column for column in columns if column[1] in given]
        rows = [[name] + [text(self.json[name].get(key)) for _, key, text in shown] for name in ("float", "quantized")]
        head = ["", *(title for title, _, _ in shown)]
        notices = "".join(f"<p>{html.escape(text)}</p>" for text in self.notices)
        return table(head, rows) + notices + layer_table(self.layers.worst(8))


class LeaveOneOut(_Table):
    """The gain of keeping each layer in float, in the order of the graph."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(Effect({"sqnr_db": None, "moved_with": None, **layer}) for layer in values["layers"])
        self.metric: str = values["metric"]  # "top1", "agreement", "sqnr_db", or "metric" (user-defined)
        self.baseline: float = values["baseline"]

    def best(self, count: int = 10) -> List[Effect]:
        """Returns the layers whose quantization costs most, the largest cost first."""
        def gain(effect: Effect) -> float:
            if effect.gain is not None:
                return effect.gain
            # From a finite value to an infinite one, or the reverse.
            return math.inf if effect.value is None else -math.inf
        return sorted(self, key=gain, reverse=True)[:count]

    def _repr_html_(self) -> str:
        rows = [[effect.name, number(effect.value), number(effect.gain)] for effect in self.best(len(self))]
        return table(["layer in float", html.escape(self.metric), "gain"], rows)


def percent(value: Optional[float]) -> str:
    """Formats a fraction in percent."""
    return "–" if value is None else f"{100 * value:.2f} %"


def number(value: Optional[float]) -> str:
    """Formats a number with four digits."""
    return "–" if value is None else f"{value:.4g}"


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns an HTML table."""
    def line(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
    return "<table>" + line(head, "th") + "".join(line(row, "td") for row in rows) + "</table>"


def layer_table(layers: Iterable[Layer]) -> str:
    """Returns an HTML table of layers with their states and sensitivities."""
    def qs(difference: Optional[Difference]) -> str:
        return "–" if difference is None else number(difference.qs)
    rows = [[layer.name, layer.op, layer.state, qs(layer.weight), qs(layer.local), qs(layer.cumulative)]
            for layer in layers]
    return table(["layer", "operator", "state", "weight QS", "local QS", "cumulative QS"], rows)
