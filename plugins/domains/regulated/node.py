"""Reading a YAML mapping strictly: every mistake is one line naming the file and the key."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from framework.errors import UserError
from framework.registry import nearest

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Node:
    """One mapping of a spec file with its place in it. Keys are taken; what is left is unknown."""

    def __init__(self, file: Path, place: str, values: Mapping[str, Any]) -> None:
        self._file = file
        self._place = place
        self._values = values
        self._taken: set[str] = set()

    @classmethod
    def load(cls, file: Path) -> Node:
        """The file's top mapping. Raises UserError when it can't be read as one."""
        try:
            values = yaml.load(file.read_text(encoding="utf-8"), Loader=_LOADER)
        except OSError as error:
            raise UserError(f"{file}: {error.strerror or error}") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"{file}: not readable as YAML: {error}") from None
        if not isinstance(values, dict):
            raise UserError(f"{file}: a mapping of keys is expected")
        return cls(file, "", values)

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The keys of the mapping."""
        return tuple(map(str, self._values))

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise the UserError that names file and key."""
        raise UserError(f"{self._file}: {self._path(key)}: {problem}")

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty, unless there is a default."""
        value = self._get(key, default)
        if value == default and default is not None:
            return default
        if not isinstance(value, str) or not value.strip():
            self.fail(key, f"{value!r} given, a text expected")
        return value.strip()

    def word(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of `allowed`."""
        value = self.text(key, default)
        if value not in allowed:
            self.fail(key, f"{value!r} given{nearest(value, allowed)}")
        return value

    def texts(self, key: str, *, at_least: int = 0) -> tuple[str, ...]:
        """A list of texts."""
        value = self._get(key, [] if at_least == 0 else None)
        if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
            self.fail(key, f"{value!r} given, a list of texts expected")
        if len(value) < at_least:
            self.fail(key, f"{len(value)} given, at least {at_least} expected")
        return tuple(v.strip() for v in value)

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """A list of lists of texts."""
        value = self._get(key, [])
        good = isinstance(value, list) and all(
            isinstance(g, list) and g and all(isinstance(v, str) and v for v in g) for g in value
        )
        if not good:
            self.fail(key, f"{value!r} given, a list of lists of texts expected")
        return tuple(tuple(group) for group in value)

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(key, f"{value!r} given, a number expected")
        if not math.isfinite(value):
            self.fail(key, f"{value!r} given, a finite number expected")
        return float(value)

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(key, f"{value!r} given, a whole number expected")
        return value

    def pair(self, key: str, default: tuple[float, float] | None = None) -> tuple[float, float]:
        """Two numbers, the first not above the second."""
        value = self._get(key, None if default is None else list(default))
        numeric = isinstance(value, list) and len(value) == 2
        if not numeric or any(
            isinstance(v, bool) or not isinstance(v, (int, float)) for v in value
        ):
            self.fail(key, f"{value!r} given, two numbers expected")
        low, high = float(value[0]), float(value[1])
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            self.fail(key, f"{value!r} given, a range [low, high] expected")
        return low, high

    def node(self, key: str) -> Node:
        """The mapping under `key`, empty when it is absent."""
        value = self._get(key, {})
        if not isinstance(value, dict):
            self.fail(key, f"{value!r} given, a mapping of keys expected")
        return Node(self._file, self._path(key), value)

    def nodes(self, key: str) -> Iterator[tuple[str, Node]]:
        """(name or index, mapping) of every entry of a mapping or list of mappings."""
        value = self._get(key, {})
        entries: list[tuple[str, Any]]
        if isinstance(value, dict):
            entries = [(str(name), entry) for name, entry in value.items()]
        elif isinstance(value, list):
            entries = [(str(i), entry) for i, entry in enumerate(value)]
        else:
            self.fail(key, f"{value!r} given, a mapping or list expected")
        for name, entry in entries:
            if not isinstance(entry, dict):
                self.fail(f"{key}.{name}", f"{entry!r} given, a mapping of keys expected")
            yield name, Node(self._file, f"{self._path(key)}.{name}", entry)

    def mapping(self, key: str) -> dict[str, str]:
        """A mapping of texts."""
        node = self.node(key)
        return {str(name): node.text(name) for name in node.names}

    def numbers(self, key: str) -> dict[str, float]:
        """A mapping of numbers."""
        node = self.node(key)
        return {str(name): node.number(name) for name in node.names}

    def lists(self, key: str, *, at_least: int = 0) -> dict[str, tuple[str, ...]]:
        """A mapping of lists of texts."""
        node = self.node(key)
        return {str(name): node.texts(name, at_least=at_least) for name in node.names}

    def raw(self, key: str) -> Any:
        """Whatever stands under `key`."""
        return self._get(key, None)

    def close(self) -> None:
        """Raise UserError for the first key that nobody asked for."""
        for key in self._values:
            if key not in self._taken:
                self.fail(str(key), f"no such key{nearest(str(key), self._taken)}")

    def _get(self, key: str, default: Any) -> Any:
        self._taken.add(key)
        value = self._values.get(key)
        if value is None:
            if default is None and key not in self._values:
                self.fail(key, "a value is required")
            return default
        return value

    def _path(self, key: str) -> str:
        return f"{self._place}.{key}" if self._place else key
