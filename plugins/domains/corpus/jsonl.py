"""Documents of a JSON lines file as a decision corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from framework.contracts.importer import Importer
from framework.errors import DataError
from framework.registry import register
from plugins.domains.corpus.assemble import (
    Described,
    Document,
    assemble,
    described,
    links_in,
    written,
)
from plugins.domains.corpus.front_matter import READ, node_of
from plugins.domains.corpus.markdown import field_of
from plugins.domains.corpus.schema import SCHEMA, Corpus
from plugins.domains.corpus.sources import MOST_BYTES
from plugins.domains.data_file import BadRecordError, Faults, kind_of, loads

_MOST_IN_ALL = 500_000_000


@register("importer", "jsonl")
class JsonLines(Importer):
    """Your own documents from a file, one JSON object per line.

    Keys: `id`, `title`, `text`, `date`, if you have them `summary`, `status` and `kind`, and links
    such as `supersedes`, `superseded_by`, `requires`, `relates_to`: an id or a list of ids.
    """

    def write(self, path: Path, target: Path, revision: str) -> str:
        about = described(path, revision)
        return written(convert_jsonl(path, about), target, about)


def convert_jsonl(path: Path, about: Described) -> Corpus:
    """The corpus of the file. Raises DataError with the first ten of all faults."""
    if not path.is_file():
        raise DataError(path, None, "no such file: JSON lines expected")
    if path.stat().st_size > _MOST_IN_ALL:
        raise DataError(path, None, f"longer than {_MOST_IN_ALL // 1_000_000} MB")
    faults = Faults(path)
    return assemble(list(_documents(path, about, faults)), about, path, faults)


def _documents(path: Path, about: Described, faults: Faults) -> Iterator[Document]:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            with faults.of(number):
                line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                if not line.strip():
                    continue
                if len(line) > MOST_BYTES:
                    raise BadRecordError(f"longer than {MOST_BYTES // 1_000_000} MB: no document")
                try:
                    record = loads(line)
                except json.JSONDecodeError as error:
                    raise BadRecordError(f"not JSON: {error.msg}; one object a line") from None
                if not isinstance(record, dict):
                    raise BadRecordError(f"a JSON object expected, {kind_of(record)} found")
                if record.get("schema") == SCHEMA:
                    raise BadRecordError("a decision corpus already: domain.path=FILE reads it")
                for key in ("id", "text"):
                    if not field_of(record, key):
                        raise BadRecordError(f"{key}: missing or empty")
                text = next(v for k, v in record.items() if k.strip().casefold() == "text")
                if not isinstance(text, str):
                    raise BadRecordError(f"text: text expected, {kind_of(text)} found")
                node = node_of(f"line {number}", record, text, text=text.strip())
                links = tuple(links_in(record, about, (*READ, "text")))
                yield Document(place=f"line {number}", node=node, names=(node.title,), links=links)
