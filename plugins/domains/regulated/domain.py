"""Regulated decisions, generated: loan, claims, or any spec file of the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.contracts import Domain, ProtectedGroups, Provenance
from framework.errors import UserError
from framework.records import ABSTAIN, Case, Event, FactField, Gold, GoldItem, TaskCard
from framework.registry import register
from plugins.domains.late import late_case
from plugins.domains.regulated import notices
from plugins.domains.regulated.chains import with_chains
from plugins.domains.regulated.clauses import Clauses
from plugins.domains.regulated.documents import Content, write
from plugins.domains.regulated.generate import draw
from plugins.domains.regulated.gold import amount_follows, decide_from, make_gold
from plugins.domains.regulated.hmda import calibrated
from plugins.domains.regulated.loading import SPECS, find_spec, load_spec
from plugins.domains.regulated.near_misses import NearMisses, with_near_misses
from plugins.domains.regulated.padding import pad
from plugins.domains.regulated.rendering import Draft, Writer
from plugins.domains.regulated.sampled import STRATA, Plan, Sampled, sample_plan, stream
from plugins.domains.regulated.settings import RegulatedSettings
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.written import (
    Template,
    Written,
    header_of,
    load_written,
    templates,
    with_written,
)

_KEPT: Final = 256
_CLEAN: Final = "-clean"
_RENDERING: Final = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """One case as it was drawn and worded, with its gold. `bodies` : texts that are written."""

    sampled: Sampled
    content: Content
    gold: Gold
    bodies: Mapping[str, str] = field(default_factory=dict)


@register("domain", "regulated")
class Regulated(Domain[RegulatedSettings]):
    """Loans, claims and other regulated decisions, generated from one declarative spec file.

    A case is drawn target first (LongHorizon 4.3): decision and principal reasons, then facts and
    thresholds that imply them under the case's own policy, then documents. The label is what the
    policy computes; no document states it. A history id is `NAME-sSEED-INDEX`, with `~RENDERING` in
    other words, and holds all that is needed to make it again. Tags: `form`, `margin`, `decision`,
    `label_source` (`policy` for a decision, `referral` where the policy refers, `undecidable` where
    the history leaves open what decides), one for each protected attribute, and `open` (missing or
    conflict) or `revised` (facts or rules) where it applies.

    Raises UserError for a bad spec file, naming file and key.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="LongHorizon-Bench, sections 4.1 to 4.5; 12 CFR 1002.9",
    )
    provides: ClassVar[tuple[str, ...]] = (
        "facts",
        "reasons",
        "decision",
        "notice",
        "policy",
        "items",
        "success",
        "revisions",
    )
    success_axis: ClassVar[str] = "eda"
    version: ClassVar[str] = "6"
    headline: ClassVar[tuple[str, ...]] = (
        "surface_ceiling",
        "p_ret",
        "frp",
        "rcs",
        "eda",
        "crr",
        "commit_rate",
        "default_rate",
        "kappa",
    )

    def __init__(self, settings: RegulatedSettings) -> None:
        super().__init__(settings)
        file = find_spec(settings.spec)
        self.spec: Spec = load_spec(file)
        notices.warn(self.spec, settings.notice)
        if settings.calibration:
            self.spec = calibrated(self.spec, settings.calibration)
            margins = f"margins of {Path(settings.calibration).name}, HMDA (12 CFR 1003)"
            self.provenance = replace(
                self.provenance, citation=f"{self.provenance.citation}; {margins}"
            )
        self.spec = with_chains(self.spec, settings.entries)
        self.spec = with_near_misses(self.spec, settings.ambiguity)
        self._written: Written | None = None
        if settings.written:
            self._written = load_written(settings.written, self.written_for())
            self.spec = with_written(self.spec, self._written)
            source = f"{self.provenance.source}; {self._written.said}"
            self.provenance = replace(self.provenance, source=source)
        if file.parent != SPECS:  # its texts are the user's
            self.provenance = replace(
                self.provenance, licence="not stated", citation=f"the spec {file.name}"
            )
        self._card = _card(self.spec, settings.notice, settings.query_form)
        self._made = lru_cache(maxsize=_KEPT)(self._make)
        self._sampled = lru_cache(maxsize=_KEPT)(self._draw)
        self._clauses = lru_cache(maxsize=_KEPT)(self._clauses_of)
        self._id = re.compile(rf"{re.escape(self.spec.name)}-s(-?\d+)-(\d{{6,}})(?:~(\d+))?")

    @property
    def nominal_tokens(self) -> int:
        return self.settings.tokens

    @property
    def fields(self) -> tuple[FactField, ...]:
        return self.spec.fields

    @property
    def protected(self) -> ProtectedGroups:
        return ProtectedGroups(
            reference=self.spec.reference_groups, adverse=frozenset(self.spec.adverse)
        )

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        """The first `n` cases of a seed, lazily. Raises UserError for None: they never end."""
        if n is None:
            raise UserError(
                f"n_cases: {self.spec.name} cases are generated without end; give a number"
            )
        for index in range(n):
            id_ = self.history_id(seed, index)
            yield late_case(id_, id_, partial(self.case, seed, index))

    def case(self, seed: int, index: int, rendering: int = 0) -> Case:
        """The case of a seed and index, whatever came before it."""
        made = self._made(seed, index, rendering)
        plan = made.sampled.plan
        identity = self.history_id(seed, index)
        pairs = self.settings.pairs
        tags = {
            "form": "held_out" if plan.held_out else "development",
            "margin": "near" if plan.near else "far",
            "decision": made.gold.decision,
            "label_source": _label_source(made.gold),
            **made.sampled.protected,
        }
        if made.sampled.gap is not None:
            tags["open"] = "missing" if made.sampled.gap.other is None else "conflict"
        if made.sampled.revisions or made.sampled.amendments:
            tags["revised"] = "facts" if made.sampled.revisions else "rules"
        return Case(
            id=identity,
            history_id=self.history_id(seed, index, rendering),
            task=self._card,
            gold=made.gold,
            stratum=plan.stratum,
            cluster=f"{self.spec.name}-s{seed}-pair-{index // 2:06d}" if pairs else identity,
            tags=tags,
        )

    def history_id(self, seed: int, index: int, rendering: int = 0) -> str:
        """The id from which a history is made again."""
        identity = f"{self.spec.name}-s{seed}-{index:06d}"
        return f"{identity}{_RENDERING}{rendering}" if rendering else identity

    def history(self, history_id: str) -> Iterator[Event]:
        """The events in order of arrival. Raises UserError for an id that is not of this domain."""
        if history_id.endswith(_CLEAN):
            yield from self._clean.history(history_id.removesuffix(_CLEAN))
            return
        seed, index, rendering = self._parse(history_id)
        made = self._made(seed, index, rendering)
        for draft in self._drafts(seed, index, rendering, made.content):
            body = made.bodies.get(draft.id)
            yield (replace(draft, lines=[(body, False)]) if body else draft).event()

    def _drafts(self, seed: int, index: int, rendering: int, content: Content) -> list[Draft]:
        """Every document of a history, as the generator words it."""
        writer = Writer(
            self.spec,
            self.sampled(seed, index),
            self._identity(seed, index),
            content.cast,
            stream(self.spec, seed, self._base(index), _numbered("filling", rendering)),
        )
        first = content
        if self.settings.pairs and index % 2:
            first = self._made(seed, index - 1, rendering).content
        return pad(
            writer,
            content.drafts,
            first.tokens,
            self.settings.tokens,
            self.settings.filler_share,
            self._near_misses(seed, index, rendering),
        )

    def written_for(self) -> dict[str, Any]:
        """What a file of documents is made for: the spec, and every setting but the file."""
        settings = replace(self.settings, written="").identity()
        return header_of(self.spec, {k: v for k, v in settings.items() if k != "injection"})

    def templates(self, history_id: str) -> list[Template]:
        """The documents of a history that a model may word, as the generator words them."""
        seed, index, rendering = self._parse(history_id)
        content = self._content(seed, index, rendering)
        return list(templates(self.spec, self._drafts(seed, index, rendering, content), content))

    def _near_misses(self, seed: int, index: int, rendering: int) -> NearMisses | None:
        if not self.settings.ambiguity:
            return None
        base = self._base(index)
        both = (one for one in self._sampled(seed, base) if one is not None)
        rng = stream(self.spec, seed, base, _numbered("near misses", rendering))
        return NearMisses(self.spec, both, self.settings.ambiguity, rng)

    def rerendered(self, case: Case, rendering: int) -> Case | None:
        """The same case, the same documents of it, in other sentences and with other filler.

        Facts, policy, dates, and which document states what stay, and so does the form of wording.
        None where the documents are a file's, which has one wording of a case.
        """
        if self._written is not None:
            return None
        seed, index, _ = self._parse(case.id)
        return self.case(seed, index, rendering)

    def without_injection(self, case: Case) -> Case | None:
        """The case as it is made with `injection=false`; its history's id says so."""
        if case.gold.injected is None:
            return None
        clean = self._clean.case(*self._parse(case.history_id))
        return replace(clean, history_id=f"{clean.history_id}{_CLEAN}")

    @cached_property
    def _clean(self) -> Regulated:
        return Regulated(replace(self.settings, injection=False))

    def digest(self) -> str:
        """Digest of the spec file, and of what was made of it."""
        return self.spec.digest

    def decision_from(self, case: Case, retained: frozenset[str]) -> str | None:
        """See `framework.contracts.Domain`: from the gold items alone, none of the text."""
        made = self._made(*self._parse(case.history_id))
        return decide_from(self.spec, made.sampled, made.gold, retained)

    def states(self, case: Case, item: GoldItem, sentence: str) -> bool:
        """See `framework.contracts.Domain`: the standing clauses of the case's policy."""
        seed, index, _ = self._parse(case.history_id)
        return self._clauses(seed, index).states(item.key, sentence)

    def _clauses_of(self, seed: int, index: int) -> Clauses:
        spec = self.spec
        verbs = {
            decision: (verb, *spec.wording.verbs.get(decision, ()))
            for decision, verb in spec.verbs.items()
        }
        return Clauses(self.sampled(seed, index).policy, verbs)

    def suffices(self, case: Case, retained: frozenset[str]) -> bool:
        """Whether policy and facts in `retained` give the gold decision, and its amount if any."""
        made = self._made(*self._parse(case.history_id))
        return self.decision_from(case, retained) == case.gold.decision and amount_follows(
            self.spec, made.sampled, made.gold, retained
        )

    def sampled(self, seed: int, index: int) -> Sampled:
        """The case before it is worded: for tests and for studies of the generator itself."""
        pair = self._sampled(seed, self._base(index))
        other = pair[1] if self.settings.pairs and index % 2 else None
        return other or pair[0]

    def _draw(self, seed: int, base: int) -> tuple[Sampled, Sampled | None]:
        return draw(self.spec, self._plan(seed, base), seed, base, self.settings.pairs)

    def _plan(self, seed: int, base: int) -> Plan:
        shares = dict(self.settings.strata)
        if self.settings.pairs in ("fact", "threshold"):
            moved = shares.pop("superseded", 0.0) + shares.pop("open", 0.0)
            shares["clean"] = shares.get("clean", 0.0) + moved
        return sample_plan(
            self.spec,
            {name: shares.get(name, 0.0) for name in STRATA},
            self.settings.forms,
            self.settings.near_share,
            seed,
            base,
        )

    def _make(self, seed: int, index: int, rendering: int = 0) -> _Made:
        sampled = self.sampled(seed, index)
        content, bodies = self._content(seed, index, rendering), dict[str, str]()
        if self._written is not None:
            found = self.templates(self.history_id(seed, index, rendering))
            left_out = "" if self.settings.injection else content.injected
            content, bodies = self._written.reworded(
                self.history_id(seed, index, rendering), found, content, left_out
            )
        gold = make_gold(self.spec, sampled, content, inject=self.settings.injection)
        return _Made(sampled=sampled, content=content, gold=gold, bodies=bodies)

    def _content(self, seed: int, index: int, rendering: int) -> Content:
        sampled, base = self.sampled(seed, index), self._base(index)
        return write(
            self.spec,
            sampled,
            self._identity(seed, index),
            stream(self.spec, seed, base, "documents"),
            sampled.plan.intake,
            inject=self.settings.injection,
            wording=(
                stream(self.spec, seed, base, _numbered("wording", rendering))
                if rendering
                else None
            ),
        )

    def _base(self, index: int) -> int:
        return index // 2 if self.settings.pairs else index

    def _identity(self, seed: int, index: int) -> str:
        return f"{seed}/{self._base(index)}"

    def _parse(self, history_id: str) -> tuple[int, int, int]:
        """Seed, index and rendering, 0 for the case as it is sampled."""
        match = self._id.fullmatch(history_id.removesuffix(_CLEAN))
        if match is None:
            raise UserError(f"no history {history_id!r} in {self.spec.name}")
        return int(match[1]), int(match[2]), int(match[3] or 0)


def _numbered(purpose: str, rendering: int) -> str:
    """The name of a rendering's own stream."""
    return f"{purpose}/{rendering}" if rendering else purpose


def _label_source(gold: Gold) -> str:
    """Why the label is what it is: of two ABSTAIN, one is decided and the other can't be."""
    if not gold.decidable:
        return "undecidable"
    return "referral" if gold.decision == ABSTAIN else "policy"


def _notice(spec: Spec, told: str) -> str:
    """What the card says of the notice; see `RegulatedSettings.notice`."""
    if told == "given":
        return spec.notice
    if told == "none":
        return "The notice to the applicant that such a decision calls for."
    return "\n".join((f"The notice meets the standard {spec.standard.name}.", *spec.particulars))


def _query(spec: Spec, form: str) -> str:
    """The question; see `RegulatedSettings.query_form`."""
    if form == "plain":
        return spec.query
    labels = [fact.label for fact in spec.facts.values()]
    return f"{spec.query.rstrip('?')}, given {', '.join(labels[:-1])} and {labels[-1]}?"


def _card(spec: Spec, notice: str, query_form: str) -> TaskCard:
    return TaskCard(
        instruction=spec.instruction,
        query=_query(spec, query_form),
        decisions=spec.decisions,
        default_decision=spec.default,
        verbs=spec.verbs,
        fields=spec.fields,
        amounts=spec.amounts,
        notice=_notice(spec, notice) if spec.notice else "",
    )
