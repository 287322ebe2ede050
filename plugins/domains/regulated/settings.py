"""What a regulated domain is asked for: spec, length, shares, wording."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final, Literal

from framework.bounds import Bounded, at_least
from plugins.domains.regulated.sampled import STRATA
from plugins.domains.regulated.written import file_digest

LEAST_TOKENS: Final = 2_000
MOST_TOKENS: Final = 200_000
LEAST_AN_ENTRY: Final = 500
"""Tokens of a history for an entry: its document takes up to 120 of them."""

_LATER: Final = ("entry_every", "ambiguity", "written")


def _shares() -> dict[str, float]:
    return {"clean": 0.3, "noisy": 0.2, "superseded": 0.25, "open": 0.15, "injected": 0.1}


@dataclass(frozen=True, kw_only=True)
class RegulatedSettings(Bounded):
    """Which spec, how long, and in which shares.

    spec : a built-in spec (`loan`, `claims`, `prior_authorization`, `change_release`,
        `lab_results`, `voucher_hearing`) or the path of a YAML file.
    tokens : nominal length of a history in tokens, 2,000 to 200,000; the real length is within 5%
        of it.
    filler_share : share of those tokens in office filler; the rest are documents of the case.
    strata : shares of the strata, which sum to 1; one that is left out has share 0.
    forms : wording of facts, rules, revisions and injections; `mixed`: half of the cases each.
    near_share : share of cases whose thresholds lie near the facts (tag `margin`).
    pairs : cases come in pairs of one cluster that differ in one fact or threshold (and in label),
        or in one protected attribute alone, one of the two being of the reference group. Fact and
        threshold pairs are clean, noisy or injected: the other two strata's shares go to clean.
    notice : what the card says of the notice: `given`, the whole form of one that meets the
        standard, which copying fills; `named`, the standard's name and who writes; `none`, that one
        is due.
    query_form : what memory is asked with: `plain`, the question alone, or `labels`, the question
        and the label of every field, which the documents' development forms bear as well.
    injection : False leaves out the injected sentence and nothing else: the clean counterpart.
    calibration : a CSV file of public HMDA records; the loan's income, value, rate, loan and debt
        are drawn from its columns. Empty: from the spec's own, assumed distributions.
    entry_every : tokens of a history for each entry of its evidence chains (`chains`), 500 or more:
        a history of 20,000 tokens at 1,000 has 20. 0: the evidence does not grow with the length.
    ambiguity : share of the added letters, notes, messages, memos and reports that state a near
        miss: a guess, a past value, a figure of another matter (`near_misses`). Gold stays.
    written : a file made by `decisionbench write` for these settings: documents in the words of a
        language model, checked (`written`). Only cases whose histories are in it are available.
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
