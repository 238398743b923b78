# SPDX-License-Identifier: Apache-2.0
"""Configurations."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, Mapping, Tuple, Union

from ._engine import config_request, path_text, plain


class Config:
    """A configuration, in the same JSON format that the window and the command line use.

    docs/config.schema.json describes the keys. Methods that change a configuration return it, so calls can be chained.
    """

    def __init__(self) -> None:
        self._text: str = config_request(do="read", config="{}")

    @classmethod
    def _of(cls, text: str) -> "Config":
        config = cls.__new__(cls)
        config._text = text
        return config

    @classmethod
    def preset(cls, name: str) -> "Config":
        """Returns the configuration of a preset, for example "w4a8". Raises Error with the names of all presets."""
        return cls._of(config_request(do="preset", name=name))

    @staticmethod
    def presets() -> Dict[str, str]:
        """Returns the names of all presets with their descriptions."""
        return dict(config_request(do="presets"))

    @classmethod
    def from_json(cls, document: Union[str, Mapping[str, Any]]) -> "Config":
        """Reads a configuration from JSON text or from a dict. Missing keys get their default values."""
        text = document if isinstance(document, str) else json.dumps(document, default=plain)
        return cls._of(config_request(do="read", config=text))

    def to_json(self) -> str:
        """Returns the JSON text with all keys, as the window and the command line save it."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """Returns all keys as nested dicts."""
        return dict(json.loads(self._text))

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Config":
        """Reads a configuration file."""
        return cls._of(config_request(do="load", path=path_text(path)))

    def save(self, path: "str | os.PathLike[str]") -> None:
        """Writes a configuration file, whose name must end with .json, for the window and the command line."""
        config_request(do="save", config=self._text, path=path_text(path))

    def get(self, key: str) -> Any:
        """Returns the value of a key such as "quantization.weight.bits", or a dict for a group of keys."""
        return config_request(do="get", config=self._text, key=key)

    def set(self, key: str, value: Any) -> "Config":
        """Sets a key, for example `set("quantization.weight.bits", 4)`.

        For a setting of one layer, use "layers.NAME.KEY", for example "layers./features/Conv.weight.bits". Raises Error
        and changes nothing if the key does not exist or the value is not allowed.
        """
        self._text = config_request(do="set", config=self._text, key=key, value=json.dumps(value, default=plain))
        return self

    def skip(self, *names: str) -> "Config":
        """Keeps layers in float. Each argument is the name of a layer, or "re:PATTERN" (RE2 syntax) for several."""
        _check_names("skip", names)
        layers = [name for name in names if not name.startswith("re:")]
        if layers:
            self._text = config_request(do="skip", config=self._text, names=layers)
        for name in names:
            if name.startswith("re:"):
                self.add_rule("pattern", regex=name[3:])
        return self

    def quantize(self, *names: str) -> "Config":
        """Quantizes layers even if a rule says otherwise. Each argument is the name of a layer."""
        _check_names("quantize", names)
        for name in names:
            if name.startswith("re:"):
                raise ValueError(f"quantize takes names of layers, not patterns such as {name!r}")
        self._text = config_request(do="quantize", config=self._text, names=list(names))
        return self

    def add_rule(self, kind: str, **fields: Any) -> "Config":
        """Adds a rule that keeps layers in float.

        Examples: `add_rule("type", op="Softmax")`, `add_rule("until", **{"from": "/a/Conv", "to": ["/b/Conv"]})`,
        `add_rule("block", like="/layer1")`, `add_rule("threshold", metric="local.qs", above=0.1)`.
        """
        return self.set("skip.rules", self.get("skip.rules") + [{"kind": kind, **fields}])

    def copy(self) -> "Config":
        """Returns a copy."""
        return Config._of(self._text)

    def differences(self, other: "Config") -> Dict[str, Tuple[Any, Any]]:
        """Returns the keys whose values differ, each with the value in this and in the other configuration.

        None: not set.
        """
        mine, others = _flat(self.to_dict()), _flat(other.to_dict())
        keys = list(mine) + [key for key in others if key not in mine]
        return {key: (mine.get(key), others.get(key)) for key in keys if mine.get(key) != others.get(key)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._text == other._text

    __hash__ = None  # type: ignore[assignment]  # configurations are mutable

    def __repr__(self) -> str:
        preset = self.get("preset")
        changed = self.differences(Config.preset(preset))
        values = "".join(f", {key}={mine!r}" for key, (mine, _) in changed.items())
        return f"Config.preset({preset!r}){values}"


def _check_names(method: str, names: Tuple[Any, ...]) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{name!r} is not the name of a layer; pass a list as {method}(*names)")


def _flat(document: Mapping[str, Any], before: str = "") -> Dict[str, Any]:
    values: Dict[str, Any] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            values.update(_flat(value, f"{before}{key}."))
        else:
            values[before + key] = value
    return values
