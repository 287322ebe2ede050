"""A regulation over time, from its published versions in RegML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Final, Literal

from framework.contracts import Provenance
from framework.errors import DataError
from framework.records import Answer, Case, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.canonical import digest, digest_bytes
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    asked_for,
    check_sha256,
    provenance_of,
    read_file,
)
from plugins.domains.one_history import OneHistory
from plugins.domains.ordering import in_turns
from plugins.domains.regulation_updates.archive import files_below, files_of
from plugins.domains.regulation_updates.ledger import Ledger
from plugins.domains.regulation_updates.questions import REPLIES, STEPS, Question, questions
from plugins.domains.regulation_updates.versions import (
    Notice,
    Version,
    read_document,
    renamed,
    repaired,
)

HISTORY: Final = "regulation"

_WHERE_TO_GET_IT: Final = (
    "from https://github.com/cfpb/regulations-xml take a regulation's versions and set domain.path "
    "to their folder or to a tar of it (plain or .tar.xz)"
)
_CARD: Final = (
    "The record holds the texts of a regulation, each with the day from which it is in force. A "
    "text stays in force until one of a later day replaces or removes it. Answer as of the day "
    "that is named. "
)
_DIGEST: Final = "sha256:6a40a59928e5cb53ca4ffad810ca4b1858f7773d9c2d6e6cde85cb9c0bb262c0"
_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegulationUpdatesSettings:
    """Where the versions are and how their numbers are written.

    path : a tar archive of RegML files (plain or xz), or a folder with them at any depth, with the
        notices that order the changes if available.
    numbers : `published`, or `masked`: each number but the days of coming into force is another,
        the same everywhere, so that what a model has read of the regulation does not answer.
    order : `mixed`, by digest; or `in_turns`: the kinds of questions take turns as well, so that a
        part of the cases has some of each.
    unknown_file : also read a file that is not the published one.
    sha256 : if given, the digest that the file must have.
    """

    path: str = ""
    numbers: Literal["published", "masked"] = "published"
    order: Literal["mixed", "in_turns"] = field(default="mixed", metadata={"later": True})
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@register("domain", "regulation_updates")
class RegulationUpdates(OneHistory[RegulationUpdatesSettings, Question]):
    """Which text of a regulation is in force on a day, what changed, and who cites the old text.

    One history for all cases: every paragraph, comment and heading of the first version, then what
    each later one adds, amends or removes, in order of the days from which they are in force.
    Edges: `supersedes`, `part_of`, `cites`. Cases ask about the last two changes alone, the day
    before and the day itself: the text of a unit; whether it was added, amended, removed or
    unchanged; whether a quotation is in force; who still refers to it in older words. Gold by
    look-up: a critical `passage` item for each event that the answer follows from. Stratum: the
    kind of question; cluster: the section or appendix. The order of cases mixes them; the seed
    plays no part.

    Raises UserError when no path is given, DataError naming what is wrong with the files.
    """

    provenance: Provenance = Provenance(
        source="https://github.com/cfpb/regulations-xml",
        revision="commit f00f32f, 12 CFR 1002 (Regulation B), six versions from 2011 to 2022",
        licence="US government work, public domain",
        citation=(
            "@misc{cfpb2022regulationb, title = {Regulation B, 12 CFR part 1002, in RegML}, "
            "author = {{Consumer Financial Protection Bureau}}, note = {six versions, in force "
            "from 2011 to 2022}, year = {2022}}"
        ),
        files={
            "regulation_b_1002.tar.xz": _DIGEST,
        },
        main_score="answer_correct",
        schema="https://github.com/cfpb/regulations-schema, src/eregs.xsd",
    )
    history_name: ClassVar[str] = HISTORY
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items", "answer", "success")
    success_axis: ClassVar[str] = "answer_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "p_ret",
        "recall_at_5",
        "ndcg_at_10",
        "mrr",
        "answer_correct",
    )
    by_stratum: ClassVar[tuple[str, ...]] = ("p_ret", "answer_correct")
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: RegulationUpdatesSettings) -> None:
        super().__init__(settings)
        files, read = _read(settings)
        told = settings.unknown_file
        published = type(self).provenance
        self.provenance = provenance_of(settings.path, read, published, None, told=told)
        versions, self._repaired = _versions(settings.path, files)
        self._ledger = Ledger(
            [versions[day] for day in sorted(versions)], masked=settings.numbers == "masked"
        )
        asked = questions(self._ledger, versions)
        if not asked:
            raise DataError(settings.path, None, "no two versions differ: nothing to ask")
        if settings.order == "in_turns":
            kinds: dict[str, list[Question]] = {kind: [] for kind in REPLIES}
            for one in asked:
                kinds[one.kind].append(one)
            asked = in_turns(kinds.values())
        self.hold(read, self._ledger.events, asked)

    def success(self, answer: Answer, gold: Gold) -> bool:
        """The same words, in lower case; of a list the same parts, in whatever order."""
        return _parts(answer.text) == _parts(gold.answer)

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """`constant_KIND`: by kind of question, what the most frequent answer alone would earn.

        `repaired`: units of the last two versions that the files lost and their notices state.
        `steps`, `sections`, `units`: days, sections and units that are asked about.
        """
        kinds: dict[str, list[str]] = {}
        for question in self._asked:
            kinds.setdefault(question.kind, []).append(question.answer)
        asked = self._asked
        return {
            **{
                f"constant_{kind}": max(Counter(answers).values()) / len(answers)
                for kind, answers in sorted(kinds.items())
            },
            "repaired": float(self._repaired),
            "steps": float(len({question.step for question in asked})),
            "sections": float(len({question.section for question in asked})),
            "units": float(len({question.label for question in asked})),
        }

    def case(self, asked: Question) -> Case:
        events, entries = self._ledger.events, self._ledger.entries
        labels = [k for k, one in entries.items() if {e.event for e in one} & {*asked.needs}]
        others = [e.event for label in labels for e in entries[label]]
        return Case(
            id=asked.id,
            history_id=HISTORY,
            task=TaskCard(
                instruction=_CARD + REPLIES[asked.kind],
                query=asked.text,
                operation="answer_question",
            ),
            gold=Gold(
                items=tuple(
                    GoldItem(
                        id=f"text:{place}",
                        kind="passage",
                        key=f"text:{place}",
                        spans=(Span(source_id=name, text=events[name].text),),
                        critical=True,
                    )
                    for place, name in enumerate(asked.needs, start=1)
                ),
                evidence=asked.needs,
                distractors=tuple(name for name in others if name not in asked.needs),
                answer=asked.answer,
            ),
            stratum=asked.kind,
            cluster=asked.section,
            tags={
                "kind": asked.kind,
                "step": asked.step,
                "asked": "before" if asked.day < asked.step else "after",
                "section": asked.section,
            },
        )


def _parts(text: str) -> set[str]:
    return {" ".join(_WORD.findall(part.casefold())) for part in text.split(";")} - {""}


def _read(settings: RegulationUpdatesSettings) -> tuple[dict[str, bytes], str]:
    """The XML files by name, and the digest of the archive, or of all of a folder's files."""
    folder = Path(settings.path).expanduser()
    if not settings.path or not folder.is_dir():
        data, found = read_file(
            settings.path, settings.sha256, domain="regulation_updates", where=_WHERE_TO_GET_IT
        )
        return files_of(settings.path, data), found
    files = files_below(settings.path)
    found = digest({name: digest_bytes(data) for name, data in files.items()})
    return files, asked_for(settings.path, settings.sha256, found)


def _versions(path: str, files: Mapping[str, bytes]) -> tuple[dict[str, Version], int]:
    """The versions by the day from which they hold, and how many units notices put right.

    Only what the last steps say is put right: what was before them governs nothing that is asked.
    Raises DataError.
    """
    found: dict[str, Version] = {}
    notices: dict[str, Notice] = {}
    faults = Faults(path)
    for name, data in files.items():
        with faults.of(name):
            document = read_document(data)
            known: Mapping[str, object] = notices if isinstance(document, Notice) else found
            if document.effective in known:
                kind = "notice" if isinstance(document, Notice) else "version"
                raise BadRecordError(f"a second {kind} in force from {document.effective}")
            if isinstance(document, Notice):
                notices[document.effective] = document
            else:
                found[document.effective] = document
    faults.check()
    if len(found) <= STEPS:
        problem = f"{len(found)} versions of a regulation, at least {STEPS + 1} are needed"
        raise DataError(path, None, f"{problem}; {_WHERE_TO_GET_IT}")
    days = sorted(found)
    stepped = [day for last, day in pairwise(days) if found[day].units != found[last].units]
    right: set[str] = set()
    names: dict[str, str] = {}
    for last, day in pairwise(days):
        if day in stepped[-STEPS:] and day in notices:
            file = found[day]
            names |= notices[day].renamed
            found[day] = repaired(found[last], renamed(file, names), notices[day])
            right |= {label for label, _ in found[day].units.items() ^ file.units.items()}
        elif names:
            found[day] = renamed(found[day], names)
    return found, len(right)
