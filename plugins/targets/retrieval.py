"""What targets that recall evidence share: their regimes, outcomes and libraries of edits.

Six regimes tell failures apart by predicates over gold evidence, never gold answers. Their order
and thresholds are those of Regimes section 6 and appendix B. Turns decide where there are any, else
sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Final, TypeVar

from framework.bounds import Bounded, above, at_least
from framework.contracts import Evidence, Outcome, Patch, Regime, Target, Taxonomy
from framework.pipeline.pack import FULL
from framework.records import Case, Row
from framework.retention import used
from framework.text.canonical import digest

WELL_RANKED_K: Final = 20
"""Gold evidence of at most this rank is well ranked."""
COVERAGE_FLOOR: Final = 0.5
"""The share of well-ranked evidence that must be in the view for a failure to be the reader's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings(Bounded):
    """Settings of every target under these regimes.

    well_ranked_k, coverage_floor : thresholds of the retrieval regimes.
    """

    well_ranked_k: Annotated[int, at_least(1)] = WELL_RANKED_K
    coverage_floor: Annotated[float, above(0, most=1)] = COVERAGE_FLOOR


S = TypeVar("S", bound=RetrievalSettings)


class RetrievalTarget(Target[S]):
    """A target whose failures are told apart by what was recalled (Regimes 5)."""

    @cached_property
    def taxonomy(self) -> Taxonomy:
        return retrieval_taxonomy(self.settings.well_ranked_k, self.settings.coverage_floor)

    @property
    def variants(self) -> Mapping[str, Taxonomy]:
        return retrieval_variants()


def retrieval_taxonomy(k: int = WELL_RANKED_K, floor: float = COVERAGE_FLOOR) -> Taxonomy:
    """The six regimes with their seams: two walls, three that a seam reaches, and the rest.

    k : rank up to which evidence is well ranked. floor : coverage of `assemble-internal`.
    """

    def gold(outcome: Outcome) -> tuple[Evidence, ...]:
        return outcome.turns or outcome.sessions

    def well(outcome: Outcome) -> list[Evidence]:
        return [e for e in gold(outcome) if e.rank is not None and e.rank <= k]

    def scoring_error(outcome: Outcome) -> bool:
        return bool(gold(outcome)) and all(e.rank is None for e in gold(outcome))

    def assemble_internal(outcome: Outcome) -> bool:
        ranked = well(outcome)
        return bool(ranked) and sum(e.in_view for e in ranked) >= floor * len(ranked)

    def budget_truncation(outcome: Outcome) -> bool:
        # The evidence that was dropped must itself be well ranked: one of rank 126 that packing
        # passed by is a signal gap (the published bug, commit eac54add).
        return outcome.truncated and any(not e.in_view and e.considered for e in well(outcome))

    def assembly_crowding(outcome: Outcome) -> bool:
        return any(not e.in_view for e in well(outcome))

    def signal_gap(outcome: Outcome) -> bool:
        return any(e.rank is not None for e in gold(outcome)) and not well(outcome)

    table: tuple[tuple[str, Callable[[Outcome], bool], tuple[Any, ...], str], ...] = (
        ("scoring-error", scoring_error, (), "no gold evidence was recalled at all"),
        ("assemble-internal", assemble_internal, ("reader_prompt",),
         "the evidence was in the view and the answer is wrong"),
        ("budget-truncation", budget_truncation, ("score", "assembly"),
         "well-ranked evidence met the budget's end and stayed out of the view"),
        ("assembly-crowding", assembly_crowding, ("assembly", "score"),
         "well-ranked evidence was never considered: what stood before it used the budget up"),
        ("retrieval-signal-gap", signal_gap, (), "the evidence was recalled but ranked too low"),
    )  # fmt: skip
    return Taxonomy(
        name="retrieval",
        regimes=tuple(Regime(name=n, holds=h, seams=s, meaning=m) for n, h, s, m in table),
    )


def retrieval_variants() -> dict[str, Taxonomy]:
    """The six regimes under other thresholds, for the sensitivity of a histogram to them."""
    grid = [(k, COVERAGE_FLOOR) for k in (5, 10, 15, 25, 30)]
    grid += [(WELL_RANKED_K, floor) for floor in (0.25, 0.5, 0.75, 1.0)]
    return {f"k={k} floor={floor:g}": retrieval_taxonomy(k, floor) for k, floor in grid}


def outcome_of(
    target: Target[Any], case: Case, row: Row, record: Mapping[str, Any], correct: bool
) -> Outcome:
    """What a case came to. Evidence: the gold items that the answer turned on."""
    asked = [p for p in record.get("prompts", ()) if p["phase"] == "answer"]
    base = Outcome(
        case_id=case.id,
        kind=target.kind(case),
        abstention=target.abstains(case),
        correct=correct and not row.error,
        question=case.task.query,
        request=digest([[p["system"], p["user"]] for p in asked]),
        response=digest([p["response"] for p in asked]),
        error=row.error,
    )
    if row.error:
        return base
    answer = record["answer"]
    gold = [item for item in case.gold.required if item.source_ids]
    rests = {item.id: used(answer, case.task, item) for item in gold}
    return replace(
        base,
        turns=evidence_of(
            {item.id: item.source_ids for item in gold},
            record,
            in_view=record["retained"],
            used={id_: known for id_, known in rests.items() if known is not None},
        ),
        truncated=truncated(record),
        view="\n".join(item.text for item in record["view"]),
        answer=answer.text or answer.edit or answer.decision,
    )


def evidence_of(
    sources: Mapping[str, Sequence[str]],
    record: Mapping[str, Any],
    in_view: Mapping[str, bool] | None = None,
    used: Mapping[str, bool] | None = None,
) -> tuple[Evidence, ...]:
    """What became of gold evidence, from a case's record.

    Args:
        sources: by the evidence's id, the events that carry it.
        record: that of `framework.pipeline.path.Pipeline.rows`.
        in_view: by id, whether the reader saw it; without, whether an item that carries it was
            packed whole.
        used: by id, whether the answer states it right (`framework.retention.used`).
    """
    entries = {entry.item_id: entry for entry in record["trace"]}
    ranked = [(rank, *item) for rank, item in enumerate(record.get("ranked") or (), start=1)]
    carriers: dict[str, list[tuple[int, str]]] = {}
    for rank, item_id, source_ids in ranked or [
        (entry.rank, entry.item_id, entry.source_ids) for entry in record["trace"]
    ]:
        for source in source_ids:
            carriers.setdefault(source, []).append((rank, item_id))
    found = []
    for id_, events in sources.items():
        places = sorted({place for event in events for place in carriers.get(event, ())})
        packed = [entries[item] for _, item in places if item in entries]
        seen = any(entry.placed == "in" for entry in packed)
        found.append(
            Evidence(
                id=id_,
                rank=places[0][0] if places else None,
                in_view=in_view[id_] if in_view is not None else seen,
                considered=any(entry.why != FULL for entry in packed),
                used=None if used is None else used.get(id_),
            )
        )
    return tuple(found)


def truncated(record: Mapping[str, Any]) -> bool:
    """Whether something recalled did not fit into the view whole, from a case's record."""
    return any(entry.placed != "in" for entry in record["trace"])


def library_of(operation: str) -> tuple[Patch, ...]:
    """The patches of `library.yaml` for a pipeline that recalls and answers by this operation."""
    libraries = _libraries()
    return (*libraries["any"], *libraries.get(operation, ()))


@cache
def _libraries() -> dict[str, tuple[Patch, ...]]:
    import yaml

    text = Path(__file__).with_name("library.yaml").read_text(encoding="utf-8")
    return {name: tuple(map(_patch, entries)) for name, entries in yaml.safe_load(text).items()}


def _patch(entry: Mapping[str, Any]) -> Patch:
    """`expression` edits the score, `rules` the assembly, `text` the prompt's one fragment."""
    if "text" in entry:
        payload: dict[str, Any] = {"fragments": {"guidance": entry["text"]}}
        return Patch(id=entry["id"], seam="reader_prompt", payload=payload, note=entry["note"])
    payload = {key: entry[key] for key in ("expression", "rules") if key in entry}
    seam: Any = "score" if "expression" in payload else "assembly"
    return Patch(id=entry["id"], seam=seam, payload=payload, note=entry["note"])
