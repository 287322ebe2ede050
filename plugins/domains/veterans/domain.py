"""Claims that the US Board of Veterans' Appeals decided, over sentences of its decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import (
    Case,
    Event,
    Gold,
    GoldItem,
    ReasoningPoint,
    Span,
    TaskCard,
)
from framework.registry import register
from framework.text.canonical import digest
from framework.text.tokens import count_tokens
from plugins.domains.data_file import check_sha256, provenance_of
from plugins.domains.folder import known_as, read_records
from plugins.domains.veterans.loading import Decision, Sentence, decisions_of
from plugins.domains.veterans.order import DENY, GRANT, OTHER

INSTRUCTION: Final = (
    "You decide an appeal of a veteran's claim for service connection, from the evidence in the "
    "claim file that is named and the legal rules. Evidence of other claim files is of other "
    "people. Grant the claim when the evidence for it is at least as strong as the evidence "
    "against it; deny it when the preponderance of the evidence is against it."
)
VERBS: Final = {
    GRANT: "grant service connection",
    DENY: "deny service connection",
    OTHER: "send the claim back, dismiss it, or grant a part of it and deny another",
}

_WHERE_TO_GET_IT: Final = (
    "get the 50 decisions of https://github.com/LLTLab/VetClaims-JSON (a JSON file each) and set "
    "domain.path=FOLDER"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VeteransSettings(Bounded):
    """Where the decisions are and what stands around a claim's own evidence.

    path : the published decisions: a folder of one JSON file each, or one JSON list of them.
    haystack : number of sentences of the other decisions in each history, each at most once; at
        most as many as there are, which the record of a run says (`haystack_most`).
    claim_file : whether a sentence of evidence names its claim file, by an opaque name that the
        query names too. Without it nobody can tell whose evidence a sentence is.
    unknown_file : also read a file that is not the published one and does not say what it is.
    sha256 : if given, the digest that the file must have.
    """

    path: str = ""
    haystack: Annotated[int, at_least(0)] = 1_000
    claim_file: Literal["shown", "hidden"] = "shown"
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        check_sha256(self.sha256)


@register("domain", "veterans")
class Veterans(Domain[VeteransSettings]):
    """Appeals for service connection, decided by the Board (Walker et al., ASAIL 2019).

    A case is a claim that THE ISSUE names and the annotated sentences are about; its decision is
    what ORDER and REMAND say: `GRANT`, `DENY`, or `REMAND_OR_MIXED`. The history holds the
    decision's sentences of evidence and of legal rules, one event each, in order, and `haystack`
    sentences of the same two kinds of other decisions, these in order of date. Findings, reasoning,
    the ORDER and every sentence that states the outcome are held out. Gold: `evidence`, the
    decision's sentences of evidence; a critical `passage` for each, a `rule` for each legal rule;
    `reasons`, its findings. Claims of one decision share all of these, and are one cluster. Cases
    come in order of the file; the seed plays no part. Stratum: the decision.

    Raises UserError when no path is given or the haystack is larger than the others give, DataError
    naming file and record, and for a file that is not the published one unless it or
    `unknown_file` says so.
    """

    provenance: Provenance = Provenance(
        source="https://github.com/LLTLab/VetClaims-JSON",
        revision="ccb98b1; the digest of the file read is recorded",
        licence="MIT; the decisions are works of the US government",
        citation=(
            "@inproceedings{walker2019automatic, title = {Automatic Classification of "
            "Rhetorical Roles for Sentences: Comparing Rule-Based Scripts with Machine "
            "Learning}, author = {Walker, Vern R. and Pillaipakkamnatt, Krishnan and Davidson, "
            "Alexandra M. and Linares, Marysa and Pesce, Domenick J.}, booktitle = {Proceedings "
            "of the Third Workshop on Automated Semantic Analysis of Information in Legal Text "
            "(ASAIL 2019)}, year = {2019}}"
        ),
        files={
            "decisions_50.json": "sha256:"
            "c3d157137383368ea6ee38a063a8e4b33742fa8aa202de74dfbb6a56c548c971",
            "the same decisions in a file each": "sha256:"
            "2184e357a231d0ced7b00220dcb8ec26093f56d22321584e9f273c80ecc383f9",
        },
        main_score="eda",
        schema="README.md of https://github.com/LLTLab/VetClaims-JSON at 00885e4",
    )
    provides: ClassVar[tuple[str, ...]] = ("decision", "evidence", "items", "reasons", "success")
    success_axis: ClassVar[str] = "eda"
    headline: ClassVar[tuple[str, ...]] = (
        "retained_critical",
        "retained",
        "ndcg_at_10",
        "map",
        "eda",
        "rcs",
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: VeteransSettings) -> None:
        super().__init__(settings)
        records, self._digest, stated = read_records(
            settings.path, settings.sha256, domain="veterans", where=_WHERE_TO_GET_IT
        )
        known = known_as(records, self._digest, self.provenance.files)
        self.provenance = provenance_of(
            settings.path, known, self.provenance, stated, told=settings.unknown_file
        )
        self._decisions = {one.file: one for one in decisions_of(settings.path, records)}
        if settings.haystack > self._most:
            raise UserError(
                f"domain.haystack: {settings.haystack} given, the other decisions give "
                f"{self._most} sentences at most"
            )

    @cached_property
    def _others(self) -> dict[str, tuple[tuple[str, Sentence], ...]]:
        """By claim file, the sentences of the others that its haystack may hold, in drawn order."""
        drawn = sorted(
            (
                (digest([sentence.id])[7:], one.file, sentence)
                for one in self._decisions.values()
                for sentence in one.sentences
            ),
            key=lambda found: found[0],
        )
        joined = "\0".join(sentence.text for _, _, sentence in drawn)
        by_file = {}
        for own in self._decisions.values():
            texts = [s.text for s in own.sentences]
            # A sentence that says all that one of its own does would count as it.
            within = [text for text in texts if joined.count(text) > 1]
            seen = set(texts)
            kept = []
            for _, file, sentence in drawn:
                if file == own.file or sentence.text in seen:
                    continue
                seen.add(sentence.text)
                if not any(text in sentence.text for text in within):
                    kept.append((file, sentence))
            by_file[own.file] = tuple(kept)
        return by_file

    @cached_property
    def _most(self) -> int:
        """Sentences that the other decisions give to every history."""
        return min(len(found) for found in self._others.values())

    @property
    def nominal_tokens(self) -> int:
        """Mean tokens of a history, over the decisions of the file."""
        return self._nominal_tokens

    @cached_property
    def _nominal_tokens(self) -> int:
        sizes = {
            sentence.id: count_tokens(self._text(one.file, sentence))
            for one in self._decisions.values()
            for sentence in one.sentences
        }
        total = sum(
            sizes[sentence.id]
            for own in self._decisions.values()
            for sentence in (
                *own.sentences,
                *(s for _, s in self._others[own.file][: self.settings.haystack]),
            )
        )
        return round(total / len(self._decisions))

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        count = 0
        for decision in self._decisions.values():
            for number, _ in enumerate(decision.claims, start=1):
                if n is not None and count >= n:
                    return
                count += 1
                yield self._case(decision, number)

    def history(self, history_id: str) -> Iterator[Event]:
        found: dict[str, list[Sentence]] = {history_id: list(self._decisions[history_id].sentences)}
        for file, sentence in self._others[history_id][: self.settings.haystack]:
            found.setdefault(file, []).append(sentence)
        place = {file: number for number, file in enumerate(self._decisions)}
        for file in sorted(found, key=lambda name: (self._decisions[name].date, place[name])):
            chosen = {sentence.id for sentence in found[file]}
            for sentence in self._decisions[file].sentences:
                if sentence.id in chosen:
                    yield Event(
                        id=sentence.id,
                        text=self._text(file, sentence),
                        time=self._decisions[file].date,
                        kind="evidence" if sentence.is_evidence else "rule",
                    )

    def decision(self, history_id: str) -> Decision:
        """The decision that a history is of."""
        return self._decisions[history_id]

    def digest(self) -> str:
        return self._digest

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """The haystack: its sentences, and the most that the other decisions give every history.

        claims_... : claims of the file by decision. held_out : sentences of evidence or of rules
        that state the outcome and stand in no history.
        """
        claims = Counter(c.outcome for one in self._decisions.values() for c in one.claims)
        return {
            "haystack": float(self.settings.haystack),
            "haystack_most": float(self._most),
            "held_out": float(sum(one.held_out for one in self._decisions.values())),
            **{f"claims_{name.lower()}": float(claims[name]) for name in (GRANT, DENY, OTHER)},
        }

    def _text(self, file: str, sentence: Sentence) -> str:
        shown = self.settings.claim_file == "shown" and sentence.is_evidence
        return f"Claim file {file}: {sentence.text}" if shown else sentence.text

    def _case(self, decision: Decision, number: int) -> Case:
        claim = decision.claims[number - 1]
        items = tuple(
            GoldItem(
                id=f"{'evidence' if sentence.is_evidence else 'rule'}:{sentence.id}",
                kind="passage" if sentence.is_evidence else "rule",
                key=sentence.id,
                spans=(Span(source_id=sentence.id, text=sentence.text),),
                critical=sentence.is_evidence,
            )
            for sentence in decision.sentences
        )
        shown = self.settings.claim_file == "shown"
        return Case(
            id=f"{decision.id}-{number}",
            history_id=decision.file,
            task=TaskCard(
                instruction=INSTRUCTION,
                query=f"Claim file {decision.file}: {claim.text}" if shown else claim.text,
                decisions=(GRANT, DENY, OTHER),
                default_decision=DENY,
                verbs=VERBS,
            ),
            gold=Gold(
                items=items,
                decision=claim.outcome,
                reasons=tuple(
                    ReasoningPoint(id=f"finding:{place}", text=text, requires=((text,),))
                    for place, text in enumerate(decision.findings, start=1)
                ),
                evidence=tuple(s.id for s in decision.sentences if s.is_evidence),
            ),
            stratum=claim.outcome,
            cluster=decision.file,
            tags={
                "decision": claim.outcome,
                "year": decision.date[:4],
                "claims": str(len(decision.claims)),
            },
        )
