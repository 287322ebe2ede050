"""SWE-ContextBench: which earlier, solved tasks a task of a code repository is tied to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from framework.registry import register
from plugins.domains.data_file import read_each, text_in
from plugins.domains.passages.shape import Asked, Passages, PassageSettings, Pool


@dataclass(frozen=True, slots=True, kw_only=True)
class SWEContextBenchSettings(PassageSettings):
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

    key: ClassVar[str] = "instance_id"
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items")
    success_axis: ClassVar[str] = ""
    headline: ClassVar[tuple[str, ...]] = ("recall_at_2", "recall_at_5", "ndcg_at_10", "mrr")
    protocols: ClassVar[tuple[str, ...]] = ("retrieve",)

    def _read(self, path: str, records: Sequence[Any], pool: Pool) -> dict[str, Asked]:
        earlier, ties = dict[str, tuple[str, str]](), dict[str, list[str]]()

        def solved(one: Mapping[str, Any]) -> None:
            name, repo = text_in(one, self.key), text_in(one, "repo")
            text = f"{text_in(one, 'problem_statement')}\n\n{text_in(one, 'patch')}"
            earlier.setdefault(name, (repo, pool.id_of(name, [text])))

        def tied(one: Mapping[str, Any]) -> None:
            to = text_in(one, "experience_instance_id")
            ties.setdefault(text_in(one, "related_instance_id"), []).append(to)

        if path != self.settings.path:  # the file of `pool`: nothing of it is asked
            read_each(path, records, solved)
            return {}
        read_each(self.settings.experience, self.another("experience"), solved)
        read_each(self.settings.relationship, self.another("relationship"), tied)
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
            **cls.card.parts(record),
            answer="",
            context=tuple(dict.fromkeys(record["context"])),
            facts=dict.fromkeys(record["evidence"], ()),
            tags={"evidence": str(len({*record["evidence"]}))},
        )
