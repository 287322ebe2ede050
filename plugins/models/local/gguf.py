"""What a GGUF file says of its model, from the file's head alone.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

from framework.errors import UserError
from framework.text.canonical import digest_file
from framework.text.reading import no_stream

_NUMBERS: Final = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_TEXT: Final = 8
_LIST: Final = 9
_LONGEST_TEXT: Final = 2**24
"""Bytes; a chat's template takes some ten thousand."""
_MOST_DIMENSIONS: Final = 8
"""The format has four."""
_QUANTISATIONS: Final = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 32: "BF16",
}  # fmt: skip
"""By `general.file_type`, how most of the weights are stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model's file: name (the file's), parameters, quantisation, digest, tokens of context."""

    name: str
    parameters: int
    quantisation: str
    digest: str
    context: int

    @property
    def described(self) -> str:
        """`SmolLM2-135M-Instruct, 135M, Q4_1, sha256:b179c9523d0e`."""
        return f"{named(self.name, self.parameters, self.quantisation)}, {self.digest[:19]}"


_QUANTISED: Final = re.compile(r"[-_.](?:I?Q\d\w*|B?F(?:16|32))\Z", re.IGNORECASE)
"""What a file's name ends with that says how its weights are stored."""


def named(name: str, parameters: int, quantisation: str) -> str:
    """`SmolLM2-135M-Instruct, 135M, Q4_1`, of a file's name too; what is not known is left out."""
    size = parameters / 1e6
    shown = f"{size:.0f}M" if size < 1000 else f"{size / 1000:.1f}B"
    own = _QUANTISED.sub("", name.removesuffix(quantisation).rstrip("-_."))
    return ", ".join(filter(None, (own, shown if parameters else "", quantisation)))


@cache
def weights_of(path: Path) -> Weights:
    """What the file says. Raises UserError for one that is missing or no GGUF of version 2 or 3."""
    try:
        with no_stream(path).open("rb") as file:
            magic, version, n_tensors, n_entries = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version not in (2, 3):
                raise ValueError("not a GGUF file of version 2 or 3")
            head = {_text(file): _value(file, _number(file, "I")) for _ in range(n_entries)}
            parameters = sum(_elements(file) for _ in range(n_tensors))
            kind = head.get("general.architecture", "")
            quantisation = _QUANTISATIONS.get(head.get("general.file_type", -1), "unknown")
            context = int(head.get(f"{kind}.context_length", 0))
    except FileNotFoundError:
        raise UserError(f"model.path: {path}: there is no such file") from None
    except struct.error:  # it ends before its head does
        raise UserError(f"model.path: {path}: not a whole GGUF file") from None
    except (
        OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise UserError(f"model.path: {path}: not a readable model: {error}") from None
    return Weights(
        name=path.stem.removesuffix(quantisation).rstrip("-_."),
        parameters=parameters,
        quantisation=quantisation,
        digest=digest_file(path),
        context=context,
    )


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))[0]


def _text(file: BinaryIO) -> str:
    size = _number(file, "Q")
    if size > _LONGEST_TEXT:
        raise ValueError(f"a text of {size:,} bytes")
    return file.read(size).decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _TEXT:
        return _text(file)
    if kind == _LIST:
        inner, n = _number(file, "I"), _number(file, "Q")
        return [_value(file, inner) for _ in range(n)]
    return _number(file, _NUMBERS[kind])


def _elements(file: BinaryIO) -> int:
    """How many numbers the tensor has that is told of here."""
    _text(file)
    n, dimensions = 1, _number(file, "I")
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError(f"a tensor of {dimensions:,} dimensions")
    for _ in range(dimensions):
        n *= _number(file, "Q")
    file.read(12)  # its type and place
    return n
