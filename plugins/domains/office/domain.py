"""Regulated decisions whose histories hold the papers of several files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache, partial
from heapq import merge
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import ABSTAIN, Case, Event, FactField, GoldItem, TaskCard
from framework.registry import register
from framework.text.canonical import digest, digest_file
from plugins.domains.late import late_case
from plugins.domains.office.filing import (
    FILE,
    SHEET,
    Filed,
    Handles,
    attributed,
    renamed,
    with_files,
    wording,
)
from plugins.domains.regulated.domain import Regulated
from plugins.domains.regulated.rendering import Draft
from plugins.domains.regulated.sampled import Plan, stream
from plugins.domains.regulated.settings import LEAST_TOKENS, RegulatedSettings

_KEPT: Final = 64
_LABEL_TOKENS: Final = 7
"""Of a label with its line, per document: measured."""
_DOCUMENT_TOKENS: Final = 75


@dataclass(frozen=True, kw_only=True)
class OfficeSettings(Bounded):
    """What the office decides, how many files it has, and how their papers are labelled.

    spec : a built-in spec of `regulated`.
    files : files in one history; each is a case.
    tokens : nominal length of a file before its documents are labelled, 2,000 to 20,000. What the
        documents that a case must have leave of it goes to other records and reports of the file.
    filler_share : share of those tokens in office filler.
    aliases : share of the documents that are filed under the person or the place of their file and
        not under its number, which the question names; less, where files share a name, which then
        is a label of neither. 0: the number is on every document.
    forms : wording, as in `regulated`; one for all files of a history.
    """

    spec: Literal["loan", "claims", "prior_authorization"] = "loan"
    files: Annotated[int, at_least(2, most=100)] = 8
    tokens: Annotated[int, at_least(LEAST_TOKENS, most=20_000)] = 2_000
    filler_share: Annotated[float, at_least(0, most=0.95)] = 0.0
    aliases: Annotated[float, at_least(0, most=1)] = 0.5
    forms: Literal["mixed", "development", "held_out"] = "mixed"


class _Files(Regulated):
    """The files: cases of `regulated`, those of one history open at the same time.

    They have one form of wording, too: neither a date nor a phrase tells one file from another.
    """

    def __init__(self, settings: RegulatedSettings, together: int) -> None:
        super().__init__(settings)
        self._together = together

    def _plan(self, seed: int, base: int) -> Plan:
        own, first = super()._plan(seed, base), super()._plan(seed, base - base % self._together)
        return replace(own, intake=first.intake, held_out=first.held_out)

    def cast(self, seed: int, index: int) -> Mapping[str, str]:
        """Names, addresses and numbers of a file."""
        return self._made(seed, index, 0).content.cast

    def documents(self, seed: int, index: int) -> list[Draft]:
        """The documents of a file, in order of arrival."""
        return self._drafts(seed, index, 0, self._made(seed, index, 0).content)


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """One file of a history: its case alone, and its documents, the intake sheet first."""

    case: Case
    handles: Handles
    filed: Sequence[Filed]
    sheet: str

    def numbered(self, numbers: Mapping[str, str]) -> _File:
        """With the ids that its documents have in the history."""
        return replace(
            self,
            case=replace(self.case, gold=renamed(self.case.gold, numbers)),
            filed=[one.numbered(numbers) for one in self.filed],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _History:
    """The files of a history, and the documents of all of them in order of arrival."""

    files: Sequence[_File]
    documents: Sequence[Filed]


@register("domain", "office")
class Office(Domain[OfficeSettings]):
    """Loans, claims or prior authorizations of an office that keeps several files together.

    A history holds the documents of several files in order of arrival, and each file is a case. All
    files have the same kinds of document, in the same wording, of the same weeks, each with rules
    and figures of its own: kind, length, rare words and figures tell what matters in a file as in
    `regulated`, and not whose it is. What a document is filed under does: the number that the
    question names, or the file's person or place, which its intake sheet ties to the number.

    What a view holds counts where it shows whose it is (`sufficient`). A history is one cluster.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="files of `regulated` (LongHorizon-Bench, sections 4.1 to 4.5), several together",
    )
    provides: ClassVar[tuple[str, ...]] = Regulated.provides
    success_axis: ClassVar[str] = Regulated.success_axis
    headline: ClassVar[tuple[str, ...]] = tuple(
        column for column in Regulated.headline if column != "surface_ceiling"
    )
    version: ClassVar[str] = "1"

    def __init__(self, settings: OfficeSettings) -> None:
        super().__init__(settings)
        self._files = _Files(
            RegulatedSettings(
                spec=settings.spec,
                tokens=settings.tokens,
                filler_share=settings.filler_share,
                forms=settings.forms,
            ),
            settings.files,
        )
        self._opened = lru_cache(maxsize=_KEPT)(self._open)
        self._name = f"office-{settings.spec}"
        self._id = re.compile(rf"{re.escape(self._name)}-s(-?\d+)-(\d{{5,}})(?:-(\d{{2,}}))?")

    @property
    def nominal_tokens(self) -> int:
        documents = self.settings.tokens / _DOCUMENT_TOKENS
        return round(self.settings.files * (self.settings.tokens + documents * _LABEL_TOKENS))

    @property
    def fields(self) -> tuple[FactField, ...]:
        return self._files.fields

    def digest(self) -> str:
        """Digest of the spec file and of what files are called."""
        return digest([self._files.digest(), digest_file(FILE)])

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases of a seed, lazily, one history after the other.

        Raises UserError for None: they never end.
        """
        if n is None:
            raise UserError("n_cases: office cases are generated without end; give a number")
        for index in range(n):
            number, place = divmod(index, self.settings.files)
            make = partial(self._case, seed, number, place)
            yield late_case(*self._ids(seed, number, place), make)

    def history(self, history_id: str) -> Iterator[Event]:
        """The events in order of arrival. Raises UserError for an id that is not of this domain."""
        seed, number, place = self._parse(history_id)
        if place is not None:
            raise UserError(f"no history {history_id!r} in office")
        return (one.event() for one in self._opened(seed, number).documents)

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        """See `framework.contracts.Domain`: from the gold items whose file is known alone."""
        return self._files.decision_from(*self._known(case, retained))

    def suffices(self, case: Case, retained: frozenset[str]) -> bool:
        """Whether what is known to be the file's gives the gold decision, and its amount if any."""
        return self._files.suffices(*self._known(case, retained))

    def sufficient(self, case: Case, retained: Mapping[str, bool]) -> bool | None:
        """As in `Domain`, of what is known to be the file's."""
        held = frozenset(id for id, kept in retained.items() if kept)
        own, known = self._known(case, held)
        if case.gold.decision == ABSTAIN:
            return known.issuperset(item.id for item in own.gold.required)
        return self._files.suffices(own, known)

    def states(self, case: Case, item: GoldItem, sentence: str) -> bool:
        """A passage of the file's policy, or all that an intake sheet says."""
        file = self._of(case)
        if item in file.case.gold.items:
            return self._files.states(file.case, item, sentence)
        names = file.handles
        return item.id == SHEET and all(
            name in sentence for name in (names.number, names.person, names.place)
        )

    def _known(self, case: Case, retained: frozenset[str]) -> tuple[Case, frozenset[str]]:
        """The file's own case, and the gold items of it that are known to be its own."""
        file = self._of(case)
        number = file.handles.number
        named = frozenset(one.draft.id for one in file.filed if one.under == number)
        return file.case, attributed(case.gold, retained, named)

    def _case(self, seed: int, number: int, place: int) -> Case:
        file = self._opened(seed, number).files[place]
        own, (id_, history) = file.case, self._ids(seed, number, place)
        return replace(
            own,
            id=id_,
            history_id=history,
            cluster=history,
            task=_card(own.task, file.handles.number),
            gold=with_files(own.gold, file.filed, (file.filed[0].draft.id, file.sheet)),
        )

    def _of(self, case: Case) -> _File:
        seed, number, place = self._parse(case.id)
        if place is None:
            raise UserError(f"no case {case.id!r} in office")
        return self._opened(seed, number).files[place]

    def _open(self, seed: int, number: int) -> _History:
        """The files of a history. Ids of documents are their places in it, and tell nothing."""
        first = number * self.settings.files
        indices = range(first, first + self.settings.files)
        spec = self.settings.spec
        called: dict[int, Handles] = {}
        for i in indices:
            taken = {other.number for other in called.values()}
            called[i] = Handles.of(spec, self._files.cast(seed, i)).told_from(taken)
        files = [self._filed(seed, index, called) for index in indices]
        ordered = list(merge(*(file.filed for file in files), key=_arrival))
        numbers = {one.draft.id: f"doc-{n:04d}" for n, one in enumerate(ordered, 1)}
        return _History(
            files=tuple(file.numbered(numbers) for file in files),
            documents=tuple(one.numbered(numbers) for one in ordered),
        )

    def _filed(self, seed: int, index: int, called: Mapping[int, Handles]) -> _File:
        case, handles = self._files.case(seed, index), called[index]
        others = [other for i, other in called.items() if i != index]
        rng = stream(self._files.spec, seed, index, "filed")
        documents = self._files.documents(seed, index)
        sheet = handles.sheet(case.tags["form"], rng)
        opened = self._sheet(seed, index, documents[0], sheet)
        filed = [Filed(draft=opened, under=handles.number)]
        for draft in documents:
            under = handles.drawn(others, self.settings.aliases, rng)
            filed.append(Filed(draft=draft, under=under))
        return _File(case=case, handles=handles, filed=filed, sheet=sheet)

    def _sheet(self, seed: int, index: int, first: Draft, sentence: str) -> Draft:
        """The intake sheet, which opens a file: it comes just before the first document."""
        author = self._files.cast(seed, index)[wording().cast[self.settings.spec]["author"]]
        return Draft(
            id=f"{first.id}/sheet",
            spec_id="sheet",
            kind="form",
            title="Intake sheet",
            author=author,
            day=first.arrival,
            arrival=first.arrival,
            order=0.0,
            lines=[(sentence, True)],
        )

    def _ids(self, seed: int, number: int, place: int) -> tuple[str, str]:
        """Of a case, and of its history."""
        history = f"{self._name}-s{seed}-{number:05d}"
        return f"{history}-{place:02d}", history

    def _parse(self, name: str) -> tuple[int, int, int | None]:
        """Seed and number of a history, and the place of a case in it."""
        match = self._id.fullmatch(name)
        place = None if match is None or match[3] is None else int(match[3])
        if match is None or (place is not None and place >= self.settings.files):
            raise UserError(f"no history {name!r} in office")
        return int(match[1]), int(match[2]), place


def _arrival(filed: Filed) -> tuple[date, float]:
    return filed.draft.arrival, filed.draft.order


def _card(task: TaskCard, number: str) -> TaskCard:
    """The card of a file alone, with what says which file it is."""
    said = wording()
    return replace(
        task,
        instruction=f"{task.instruction.rstrip()} {said.instruction.strip().format(number=number)}",
        query=said.query.format(number=number, query=task.query),
    )
