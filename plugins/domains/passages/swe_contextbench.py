"""SWE-ContextBench: which earlier, solved tasks a task of a code repository is tied to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from framework.contracts import Provenance
from framework.errors import UserError
from framework.records import Case
from framework.registry import register
from framework.text.canonical import digest as digest_values
from plugins.domains.cards import Card, card
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    kind_of,
    listed,
    provenance_of,
    read_file,
    text_in,
)
from plugins.domains.passages.shape import Asked, CheckedPassageSettings, Passages, Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class SWEContextBenchSettings(CheckedPassageSettings):
    """Those of passages; `path` is the file of related tasks, which are asked about.

    experience : the file of earlier tasks, with their issues and fixes.
    relationship : the file that ties related tasks to earlier ones.
    """

    experience: str = ""
    relationship: str = ""


@register("domain", "swe_contextbench")
class SWEContextBench(Passages[SWEContextBenchSettings]):
    """Context learning in coding (Zhu et al., 2026), as retrieval: no patch is written or run.

    An event is an earlier task: its id, its issue, its fix. A case is a related task, asked with
    its issue; evidence are the earlier tasks to which issues and pull requests tie it. A related
    task of which none is in the file is left out. `corpus=own`: the earlier tasks of the same
    repository, and the evidence. Stratum and cluster: the repository.
    """

    card: ClassVar[Card] = card(__file__)
    provenance: Provenance = card.provenance
    key: ClassVar[str] = "instance_id"
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items")
    success_axis: ClassVar[str] = ""
    headline: ClassVar[tuple[str, ...]] = ("recall_at_2", "recall_at_5", "ndcg_at_10", "mrr")
    protocols: ClassVar[tuple[str, ...]] = ("retrieve",)

    def __init__(self, settings: SWEContextBenchSettings) -> None:
        self._of_others = list[str]()
        super().__init__(settings)
        self._digest = digest_values([self._digest, *self._of_others])

    def _read(self, path: str, records: Sequence[Any], pool: Pool) -> dict[str, Asked]:
        earlier, ties = dict[str, tuple[str, str]](), dict[str, list[str]]()

        def solved(one: Mapping[str, Any]) -> None:
            name, repo = text_in(one, self.key), text_in(one, "repo")
            text = f"{text_in(one, 'problem_statement')}\n\n{text_in(one, 'patch')}"
            event = pool.id_of(name, [text])
            earlier.setdefault(name, (repo, event))

        def tied(one: Mapping[str, Any]) -> None:
            to = text_in(one, "experience_instance_id")
            ties.setdefault(text_in(one, "related_instance_id"), []).append(to)

        if path != self.settings.path:  # the file of `pool`: nothing of it is asked
            _each(path, records, solved)
            return {}
        _each(self.settings.experience, self._records("experience"), solved)
        _each(self.settings.relationship, self._records("relationship"), tied)
        for record in records:
            if isinstance(record, dict):
                name, repo = str(record.get(self.key)), record.get("repo")
                found = [earlier[to][1] for to in ties.get(name, ()) if to in earlier]
                own = [event for of, event in earlier.values() if of == repo]
                record |= {"evidence": found, "context": [*own, *found]}
        return {name: one for name, one in super()._read(path, records, pool).items() if one.facts}

    @classmethod
    def question(cls, record: Mapping[str, Any], pool: Pool) -> Asked:
        return Asked(
            id=text_in(record, cls.key),
            text=text_in(record, "problem_statement"),
            answer="",
            type=text_in(record, "repo"),
            context=tuple(dict.fromkeys(record["context"])),
            facts=dict.fromkeys(record["evidence"], ()),
            tags={"evidence": str(len({*record["evidence"]}))},
        )

    def _case(self, question: Asked) -> Case:
        case = super()._case(question)
        task = replace(case.task, instruction=self.card.fields["asked"])
        return replace(case, task=task, cluster=question.type)

    def _records(self, setting: str) -> list[Any]:
        """The records of another file. Raises UserError, DataError."""
        path: str = getattr(self.settings, setting)
        if not path:
            raise UserError(
                f"domain.{setting}: no file given (domain={self.name}); {self.card.where}"
            )
        data, digest = read_file(path, "", domain=self.name, where=self.card.where)
        self._of_others.append(digest)
        records, stated = listed(path, data)
        told, published = self.settings.unknown_file, type(self).provenance
        provenance_of(path, digest, published, stated, told=told)
        return records


def _each(path: str, records: Sequence[Any], read: Callable[[Mapping[str, Any]], None]) -> None:
    """Read each record. Raises DataError naming those that can't be used."""
    faults = Faults(path)
    for number, record in enumerate(records, start=1):
        with faults.of(f"record {number}"):
            if not isinstance(record, dict):
                raise BadRecordError(f"an object expected, {kind_of(record)} found")
            read(record)
    faults.check()
