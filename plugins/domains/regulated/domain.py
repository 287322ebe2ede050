"""Regulated decisions, generated: loan, claims, or any spec file of the same form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
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
from plugins.domains.regulated.spec import Spec
from plugins.domains.regulated.written import (
    Template,
    Written,
    file_digest,
    header_of,
    load_written,
    templates,
    with_written,
)

LEAST_TOKENS: Final = 2_000
MOST_TOKENS: Final = 200_000
LEAST_AN_ENTRY: Final = 500
"""Tokens of a history for an entry: its document takes up to 120 of them."""

_KEPT: Final = 256
_CLEAN: Final = "-clean"
_RENDERING: Final = "~"
_LATER: Final = ("entry_every", "ambiguity", "written")


def _shares() -> dict[str, float]:
    return {"clean": 0.3, "noisy": 0.2, "superseded": 0.25, "open": 0.15, "injected": 0.1}


@dataclass(frozen=True, kw_only=True)
class RegulatedSettings(Bounded):
    """Which spec, how long, and in which shares.

    spec : a built-in spec (`loan`, `claims`, `prior_authorization`) or a path to a YAML file.
    tokens : nominal length of a history, 2,000 to 200,000; the real one is within 5% of it.
    filler_share : share of those tokens in office filler; the rest are documents of the case.
    strata : shares of the strata, with sum 1; one that is left out has none.
    forms : wording of facts, rules, revisions and injections; `mixed` gives each half the cases.
    near_share : share of cases whose thresholds lie near the facts (tag `margin`).
    pairs : cases come in pairs of one cluster that differ in one fact or threshold (and in label),
        or in one protected attribute alone, one of the two being of the reference group. Fact and
        threshold pairs are clean, noisy or injected: the other two strata's shares go to clean.
    notice : what the card says of the notice: `given`, the whole form of one that meets the
        standard, which copying fills; `named`, the standard's name and who writes; `none`, that one
        is due.
    query_form : what memory is asked with: `plain`, the question alone, or `labels`, the question
        and the label of every field, which the documents' development forms bear as well.
    injection : False leaves the injected sentence out and nothing else: the clean counterpart.
    calibration : a CSV of HMDA's public records; the loan's income, value, rate, loan and debt are
        drawn from its columns. Empty: from the spec's own distributions, which are assumed.
    entry_every : tokens of a history for each entry of its evidence chains (`chains`), 500 or more:
        a history of 20,000 tokens at 1,000 has 20. 0: the evidence does not grow with the length.
    ambiguity : share of the added letters, notes, messages, memos and reports that state a near
        miss: a guess, a past value, a figure of another matter (`near_misses`). Gold stays.
    written : a file that `decisionbench write` made for these settings: documents in the words of a
        language model, checked (`written`). Only cases whose histories it holds can be had.
    """

    spec: str = "loan"
    tokens: Annotated[int, at_least(LEAST_TOKENS, most=MOST_TOKENS)] = 6_700
    filler_share: Annotated[float, at_least(0, most=0.95)] = 0.5
    strata: Annotated[Mapping[str, float], at_least(0, most=1)] = field(default_factory=_shares)
    forms: Literal["mixed", "development", "held_out"] = "mixed"
    near_share: Annotated[float, at_least(0, most=1)] = 0.5
    pairs: Literal["fact", "threshold", "protected"] | None = field(
        default=None, metadata={"alias": "twins", "identity": "twins"}
    )
    notice: Literal["given", "named", "none"] = "named"
    query_form: Literal["labels", "plain"] = "plain"
    injection: bool = True
    calibration: str = ""
    entry_every: Annotated[int, at_least(0, most=MOST_TOKENS)] = 0
    ambiguity: Annotated[float, at_least(0, most=1)] = 0.0
    written: str = ""

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        if 0 < self.entry_every < LEAST_AN_ENTRY:
            raise ValueError(f"entry_every: 0, or at least {LEAST_AN_ENTRY}, expected")
        for name in self.strata:
            if name not in STRATA:
                raise ValueError(f"strata.{name}: no such stratum; allowed: {', '.join(STRATA)}")
        if abs(sum(self.strata.values()) - 1) > 1e-6:
            raise ValueError(f"strata: the shares sum to {sum(self.strata.values()):g}, not to 1")

    @property
    def entries(self) -> int:
        """Entries of the evidence chains of a history."""
        return self.tokens // self.entry_every if self.entry_every else 0

    def identity(self) -> dict[str, Any]:
        """Every setting, of a file its digest.

        Of `_LATER` only those that change something: runs of before lack them.
        """
        own = {f.metadata.get("identity", f.name): getattr(self, f.name) for f in fields(self)}
        if self.written:
            own["written"] = file_digest(self.written)
        return {k: v for k, v in own.items() if v or k not in _LATER}


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
