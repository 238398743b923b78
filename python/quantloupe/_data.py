# SPDX-License-Identifier: Apache-2.0
"""Samples from arrays, dicts of arrays, and iterables of batches such as PyTorch's DataLoader."""
from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._engine import Error, array_description, path_text

LABELS = ("labels", "label")


class Samples(NamedTuple):
    """Contiguous arrays, one per input, and the labels as they were given."""
    arrays: Dict[str, Any]
    labels: Any
    size: int

    def description(self) -> Tuple[Dict[str, Any], List[Any]]:
        """Returns the data for a request, and the arrays that must stay alive."""
        classes = _classes(self.labels, self.size)
        described = [array_description(name, array) for name, array in self.arrays.items()]
        labels = None if classes is None else array_description("labels", classes)
        return {"arrays": described, "labels": labels}, [*self.arrays.values(), classes]


def gather(data: Any, labels: Any, inputs: Sequence[Mapping[str, Any]]) -> Samples:
    """Collects samples for the inputs of a network."""
    names = [entry["name"] for entry in inputs]
    if isinstance(data, Mapping):
        arrays, found = _from_mapping(data, names)
    elif _is_array(data):
        arrays, found = _from_parts([data], names)
    elif isinstance(data, Iterable):
        arrays, found = _from_batches(data, inputs)
    else:
        raise TypeError(f"data cannot be of type {type(data).__name__}: pass an array, a dict of arrays or an "
                        "iterable of batches")
    arrays = {name: _contiguous(array) for name, array in arrays.items()}
    size = _samples_in(arrays, inputs)
    labels = found if labels is None else labels
    _require_sequence(labels)
    if labels is not None and not _is_array(labels):
        labels = list(labels)
    if labels is not None and len(labels) != size:
        raise Error(f"there are {size} samples but {len(labels)} labels")
    return Samples(arrays, labels, size)


def task_settings(labels: Any, task: Optional[str], class_names: Any, decoder: Optional[str],
                  class_output: Optional[str], category_index: Optional[str]) -> Dict[str, str]:
    """Returns the given settings of the task, by the names of the command line's options with underscores."""
    files = {key: os.path.abspath(path_text(path))
             for key, path in (("labels", labels), ("class_names", class_names)) if path is not None}
    names = {"task": task, "decoder": None if decoder == "auto" else decoder, "class_output": class_output,
             "category_index": category_index}
    return {**files, **{key: name for key, name in names.items() if name is not None}}


def _samples_in(arrays: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> int:
    """Returns the number of samples; the engine checks that it is the same in all arrays."""
    if not arrays:
        raise Error("the data has no array for an input of the network: "
                    + ", ".join(entry["name"] for entry in inputs))
    for entry in inputs:
        array, axis = arrays.get(entry["name"]), entry["sample_axis"]
        if array is not None and axis is not None and axis < array.ndim:
            return int(array.shape[axis])
    array = next(iter(arrays.values()))
    return len(array) if array.ndim else 1


def select(labels: Any, rows: Any) -> Any:
    """Returns the labels of some samples."""
    if labels is None:
        return None
    return to_array(labels)[rows] if _is_array(labels) else [labels[row] for row in rows]


def every_second(labels: Any, together: int) -> Any:
    """Returns the labels of the first group of samples, the third, and so on. Groups have `together` samples."""
    return None if labels is None else select(labels, [row for row in range(len(labels)) if row // together % 2 == 0])


def to_array(value: Any) -> Any:
    """Converts an array, or a tensor of PyTorch, TensorFlow or JAX, to a numpy array, without a copy if possible."""
    import numpy
    if isinstance(value, numpy.ndarray):
        return value
    if hasattr(value, "detach"):  # PyTorch; numpy does not support bfloat16
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
    if not hasattr(value, "__array__") and hasattr(value, "numpy"):
        value = value.numpy()
    return numpy.asarray(value)


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array__") or hasattr(value, "numpy")


def _input_array(name: str, value: Any) -> Any:
    """to_array() for the data of an input. Raises Error that names the input."""
    try:
        return to_array(value)
    except (ValueError, TypeError) as error:
        raise Error(f"the data for the input '{name}' is not an array: {error}") from None


def _contiguous(array: Any) -> Any:
    import numpy
    return numpy.asarray(array, array.dtype.newbyteorder("="), order="C")


def _from_mapping(data: Mapping[str, Any], names: List[str]) -> Tuple[Dict[str, Any], Any]:
    # Without any name of an input, the engine may still know which array is meant.
    given = [name for name in names if name in data] or [name for name in data if name not in LABELS]
    for name in given:
        if not isinstance(name, str):
            raise Error(f"{name!r} is not the name of an input; the network has: {', '.join(names)}")
    arrays = {name: _input_array(name, data[name]) for name in given}
    labels = [data[name] for name in LABELS if name in data and name not in names]
    return arrays, labels[0] if labels else None


def _from_parts(parts: Sequence[Any], names: List[str]) -> Tuple[Dict[str, Any], Any]:
    if len(parts) not in (len(names), len(names) + 1):
        raise Error(f"the number of arrays in a batch, {len(parts)}, does not fit the inputs of the network: "
                    f"{', '.join(names)}. Pass one array for each of them, optionally followed by the labels, or a "
                    "dict of arrays")
    arrays = {name: _input_array(name, part) for name, part in zip(names, parts)}
    return arrays, parts[len(names)] if len(parts) > len(names) else None


def _from_batches(batches: Iterable[Any], inputs: Sequence[Mapping[str, Any]]) -> Tuple[Dict[str, Any], Any]:
    import numpy
    names = [entry["name"] for entry in inputs]
    axes = {entry["name"]: entry["sample_axis"] for entry in inputs}
    columns: Dict[str, List[Any]] = {}
    labels: List[Any] = []
    for batch in batches:
        if isinstance(batch, Mapping):
            arrays, found = _from_mapping(batch, names)
        else:
            arrays, found = _from_parts(batch if isinstance(batch, (tuple, list)) else [batch], names)
        single = _are_single(arrays, inputs)
        for name, array in arrays.items():
            axis = axes.get(name, 0)
            columns.setdefault(name, []).append(
                numpy.expand_dims(array, axis) if single and axis is not None else array)
        if found is not None:
            if not single:
                _require_sequence(found)
            labels.extend([found] if single else to_array(found) if _is_array(found) else found)
    if not columns:
        raise Error("the data is empty: the iterable has no batches")
    joined = {}
    for name, parts in columns.items():
        try:
            axis = axes.get(name, 0)
            joined[name] = parts[0] if axis is None else numpy.concatenate(parts, axis)
        except ValueError:
            shapes = " and ".join(dict.fromkeys(str(part.shape) for part in parts))
            raise Error(f"the batches of data for the input '{name}' have different shapes, {shapes}: all samples need "
                        "the same shape. Labels of whole arrays are the second argument: set_data(data, labels)"
                        ) from None
    return joined, _joined_labels(labels)


def _require_sequence(labels: Any) -> None:
    """Raises Error unless there is one label per sample, or none."""
    single = getattr(labels, "ndim", 1) == 0
    if labels is None or (_is_array(labels) and not single):
        return
    if single or isinstance(labels, (str, bytes, Mapping)) or not isinstance(labels, Iterable):
        kind = f"a dict of {', '.join(map(str, labels))}" if isinstance(labels, Mapping) else repr(labels)
        raise Error(f"the labels are {kind}: pass an array or a list with one label per sample")


def _are_single(arrays: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> bool:
    """Returns whether the items of an iterable are single samples, without the batch dimension of the inputs."""
    ranks = {entry["name"]: len(entry["shape"]) for entry in inputs if entry["shape"]}
    return any(name in ranks and array.ndim == ranks[name] - 1 for name, array in arrays.items())


def _joined_labels(labels: List[Any]) -> Any:
    """Returns an array if the labels are numbers, otherwise a list."""
    import numpy
    if not labels:
        return None
    values = [to_array(label) if _is_array(label) else label for label in labels]
    try:
        return numpy.asarray(values)
    except (ValueError, TypeError):  # boxes, a different number for each image
        return values


def other_than_classes(labels: Any) -> Tuple[str, str]:
    """Describes labels that are one number or text per sample but not class indices, and other labels in a notice.

    Returns two texts, which are empty for class indices of samples or tokens.
    """
    array = _label_array(labels)
    if labels is None or (array is not None and array.dtype.kind in "iu" and
                          (_is_one_each(array) or array.ndim == 2)):
        return "", ""
    if array is not None and _is_one_each(array):
        return f"of the type {array.dtype}", ""
    shape = "" if array is None else f" of the shape {'×'.join(map(str, array.shape))}"
    return "", f"the labels{shape} are not used, because they are not one class index per sample or token"


def _label_array(labels: Any) -> Any:
    """The labels as an array, as integers if they are only 0 and 1; None if they have different sizes."""
    import numpy
    try:
        array = None if labels is None else to_array(labels)
    except (ValueError, TypeError):
        return None
    binary = array is not None and array.dtype.kind in "fb" and _is_one_each(array) and numpy.isin(array, (0, 1)).all()
    return array.astype(numpy.int64) if binary else array


def _is_one_each(array: Any) -> bool:
    return array.ndim > 0 and array.shape in ((len(array),), (len(array), 1))


def _classes(labels: Any, size: int) -> Optional[Any]:
    """Returns class indices of the samples or of their tokens; None if the labels are for a user-defined metric."""
    import numpy
    array = _label_array(labels)
    if array is None or array.ndim not in (1, 2) or len(array) != size or array.dtype.kind not in "iu":
        return None
    if array.shape == (size, 1):
        array = array.reshape(size)
    if array.dtype.kind == "u" and array.size and array.max() > numpy.iinfo(numpy.int64).max:
        raise Error(f"the label {array.max()} is not a class index")
    return numpy.ascontiguousarray(array, numpy.int64)
