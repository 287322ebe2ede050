"""A published benchmark and its card: the YAML file of its provenance, and how its fields map."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import yaml

from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.text.canonical import digest
from plugins.domains.data_file import listed, provenance_of, read_file, text_in

S = TypeVar("S")


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What is known of a benchmark besides its code.

    where : how to get the file, for who has not. fields : names of the file's fields by ours. asked
    : by the parts of a question, the file's fields whose text they are as it stands. kinds : by the
    file's word for a kind of question, ours. errata : names of the fields of a published audit of
    the key, empty where there is none.
    """

    provenance: Provenance
    where: str
    fields: Mapping[str, str]
    asked: Mapping[str, str]
    kinds: Mapping[str, str]
    errata: Mapping[str, Any]

    def parts(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The parts of a question that a record holds as they stand. Raises BadRecordError."""
        return {part: text_in(record, key) for part, key in self.asked.items()}


@cache
def card(module: str) -> Card:
    """The card beside a module (`__file__`), of the same name with the suffix `.yaml`."""
    said = yaml.safe_load(Path(module).with_suffix(".yaml").read_text(encoding="utf-8"))
    return Card(
        provenance=Provenance(**said["provenance"]),
        where=said["where"],
        fields=said.get("fields", {}),
        asked=said.get("asked", {}),
        kinds={str(key): kind for key, kind in said.get("kinds", {}).items()},
        errata=said.get("errata", {}),
    )


class Benchmark(Domain[S]):
    """A domain of published files; its card is the one beside its module, where there is one."""

    card: ClassVar[Card]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        module = str(sys.modules[cls.__module__].__file__)
        if "card" not in vars(cls) and Path(module).with_suffix(".yaml").is_file():
            cls.card = card(module)
        if "card" in vars(cls):
            cls.provenance = cls.card.provenance

    def __init__(self, settings: S) -> None:
        super().__init__(settings)
        self._others = list[str]()

    def another(self, setting: str) -> list[Any]:
        """The records of another of its files, at the path that a setting names.

        `digest_with_others` counts the file. Raises UserError where none is given, DataError.
        """
        path: str = getattr(self.settings, setting)
        if not path:
            told = f"domain.{setting}: no file given (domain={self.name}); {self.card.where}"
            raise UserError(told)
        data, found = read_file(path, "", domain=self.name, where=self.card.where)
        records, stated = listed(path, data)
        self.recognise(path, found, stated)
        self._others.append(found)
        return records

    def recognise(self, path: str, found: str, stated: object) -> None:
        """Let a file with the digest `found` count for the provenance, its first file last.

        That is the publisher's only where every file is one of the published. Raises DataError for
        one that is not, does not say what it is (`stated`), and that nobody told to read.
        """
        published, told = type(self).provenance, getattr(self.settings, "unknown_file", False)
        one = provenance_of(path, found, published, stated, told=told)
        if one != published:
            self.provenance = one

    def digest_with_others(self, data: str) -> str:
        """The digest of its data with those of its other files, in the order of reading."""
        return digest([data, *self._others]) if self._others else data
