r"""Canonical JSON and the digests taken of it: equal data, equal bytes, one digest.

The form: object keys sorted by code point, no white space, text as UTF-8 and not ``\u`` escapes,
floats by ``repr`` (shortest form that reads back to the same float), no ``NaN`` or infinity. ``1``,
``1.0`` and ``true`` are three different values. A value without a canonical form is refused with
its place in the data; nothing is turned into text silently.

Digests are ``sha256:`` and 64 hex digits.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

MAX_DEPTH = 200
"""Deepest nesting of lists and objects with a canonical form; also ends a value inside itself."""

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)
_SCALARS = frozenset({str, int, float, bool, type(None)})
_PLAIN = frozenset({str, bool, type(None)})  # canonical whatever the value
_Place = tuple[()] | tuple[Any, object]
"""Where a value stands: the place of what it is in, and its index or key. Text is made on error."""


class CanonicalError(ValueError):
    """A value has no canonical form; the message names its place, as in ``$.axes[3].mean``."""


def canonical_json(obj: object) -> str:
    r"""Return `obj` as canonical JSON, always encodable as UTF-8.

    Accepts None, bool, int, finite float, str, list, tuple (as list), any ``Mapping`` with str keys
    and dataclass instances (as objects of their fields). A subclass counts as its base, so a
    str-valued enum member is its value. Refuses everything else: sets, bytes, paths, dates, numpy
    integers and arrays. A lone surrogate in a text is escaped (``\ud83d``), as ECMAScript's
    well-formed ``JSON.stringify`` does; two that form a pair become their character.

    Raises CanonicalError for a value without a canonical form.
    """
    return canonical_bytes(obj).decode()


def canonical_bytes(obj: object) -> bytes:
    """Return the UTF-8 bytes of `canonical_json`, without its second copy."""
    if not _is_plain(obj, MAX_DEPTH):
        obj = _to_plain(obj, (), MAX_DEPTH)
    try:
        return _ENCODER.encode(obj).encode()
    except UnicodeEncodeError:
        text = _ENCODER.encode(_to_plain(obj, (), MAX_DEPTH))
        paired = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        return paired.encode("utf-8", "backslashreplace")
    except ValueError:
        _to_plain(obj, (), MAX_DEPTH)  # raises with the place, which the encoder does not know
        raise


def digest(obj: object) -> str:
    """Return the digest of the canonical JSON of `obj`. Raises CanonicalError as it does."""
    return digest_bytes(canonical_bytes(obj))


def digest_bytes(data: bytes) -> str:
    """Return ``sha256:<hex>`` of `data`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_file(path: str | os.PathLike[str]) -> str:
    """Return the digest of a file's content, read in blocks. Raises OSError as ``open`` does."""
    with Path(path).open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()


def digest_entry(path: Path) -> str:
    """Return the digest of what a name in a directory holds.

    A file stands for its content, a symbolic link for its target's name (it is not followed).
    Raises ValueError for any other special file.
    """
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return digest_bytes(b"symlink:" + os.fsencode(path.readlink()))
    if not stat.S_ISREG(mode):
        # Opening a named pipe would wait for its writer for ever.
        raise ValueError(f"{path} is neither a file, a directory nor a symbolic link")
    return digest_file(path)


def digest_tree(top: Path) -> str:
    """Return one digest of the names and contents of all files below a directory.

    It depends neither on where the directory lies, nor on times and permissions. ``__pycache__``
    directories are left out. Raises ValueError for a special file (see `digest_entry`).
    """
    files = files_below(top, prefix=f"{top.name}/", skip=frozenset({"__pycache__"}))
    return digest({name: digest_entry(file) for name, file in files})


def files_below(
    top: Path, *, prefix: str = "", skip: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Path]]:
    """Yield (name, path) of everything below `top` that is not a real directory, in no set order.

    A name is `prefix` and the path from `top`, with ``/``. Directories named in `skip` are left
    out, and symbolic links are yielded, not followed.
    """
    with os.scandir(top) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                yield prefix + entry.name, Path(entry.path)
            elif entry.name not in skip:
                yield from files_below(Path(entry.path), prefix=f"{prefix}{entry.name}/", skip=skip)


def _is_plain(value: object, depth: int) -> bool:
    """Say whether the JSON encoder renders `value` canonically as it stands (floats aside).

    The encoder alone is not enough: it turns the keys 1 and None into text.
    """
    kind = type(value)
    if kind is dict:
        items: Iterable[Any] = value.values()  # type: ignore[attr-defined]
        for key in value:  # type: ignore[attr-defined]
            if type(key) is not str:
                return False
    elif kind is list or kind is tuple:
        items = value  # type: ignore[assignment]
    else:
        return kind in _SCALARS
    for item in items:
        if type(item) not in _SCALARS and (depth <= 1 or not _is_plain(item, depth - 1)):
            return False
    return True


def _to_plain(value: object, place: _Place, depth: int) -> Any:
    """Return `value` in plain JSON types; raise CanonicalError with the place where it has none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # str(value) of an enum member would be its name
    if isinstance(value, int):
        try:
            int.__repr__(value)
        except ValueError as error:  # Python's limit on decimal digits, reading included
            raise CanonicalError(f"{_said(place)}: integer too long to write") from error
        return int.__index__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise CanonicalError(f"{_said(place)}: {float(value)} is not a JSON number")
        return float(value)
    if depth == 0:
        where = _shorten(_said(place))
        raise CanonicalError(f"{where}: nested deeper than {MAX_DEPTH}, or inside itself")
    if isinstance(value, (list, tuple)):
        return [
            item if type(item) in _PLAIN else _to_plain(item, (place, i), depth - 1)
            for i, item in enumerate(value)
        ]
    kind: Any = type(value)
    fields = _fields_of(kind)
    if fields is not None:
        value = {name: getattr(value, name) for name in fields}
    if isinstance(value, Mapping):
        return {
            _to_key(key, place): (
                item if type(item) in _PLAIN else _to_plain(item, (place, key), depth - 1)
            )
            for key, item in value.items()
        }
    where = f"{_said(place)}: {kind.__module__}.{kind.__qualname__}"
    raise CanonicalError(f"{where} has no canonical form; convert it first")


@cache
def _fields_of(kind: Any) -> tuple[str, ...] | None:
    """The names of a dataclass's fields; None for any other class, and for a mapping."""
    if issubclass(kind, Mapping) or not dataclasses.is_dataclass(kind):
        return None
    return tuple(field.name for field in dataclasses.fields(kind))


def _to_key(key: object, place: _Place) -> str:
    if not isinstance(key, str):
        named = f"key {key!r} is a {type(key).__qualname__}"
        raise CanonicalError(f"{_said(place)}: {named}, not a str")
    text = str.__str__(key)
    try:
        text.encode()
    except UnicodeEncodeError as error:  # its place in the order would change on reading back
        raise CanonicalError(f"{_said(place)}: key {key!r} is not valid Unicode") from error
    return text


def _said(place: _Place) -> str:
    """The place in words: ``$.axes[3].mean``."""
    if not place:
        return "$"
    return _said(place[0]) + (f"[{place[1]}]" if type(place[1]) is int else f".{place[1]}")


def _shorten(place: str) -> str:
    return place if len(place) <= 60 else place[:60] + "..."
