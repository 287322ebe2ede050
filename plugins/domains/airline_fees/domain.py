"""The airline part of RuleArena: what a passenger pays, from the published files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from json import JSONDecodeError
from pathlib import Path
from typing import Any, ClassVar, Final

from framework.contracts import Provenance
from framework.errors import DataError, UserError
from framework.records import ABSTAIN, Answer, Case, Gold, TaskCard
from framework.registry import register
from framework.text.canonical import digest
from plugins.domains.airline_fees.fees import HOME, Bill, Order, Trip, bill
from plugins.domains.airline_fees.rules import Rules
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    asked_for,
    check_sha256,
    kind_of,
    loads,
    provenance_of,
    read_file,
    text_in,
)
from plugins.domains.one_history import OneHistory

HISTORY: Final = "rules"
RULES_FILE: Final = "reference_rules_textual.txt"
PROBLEM_FILES: Final = tuple(f"synthesized_problems/comp_{level}.jsonl" for level in range(3))

_DIGESTS: Final = (
    "sha256:155b310742726d3e1d580f77aeabd5347005b331d89f0f4b0e711bcce436869b",
    "sha256:8525ef3fa392180c993cec3cb9f56938a552b5198a5ec380195a5e505762bb35",
    "sha256:ca205ee9da77f4f35d9330d1a92af94f861ce6ef2a583477cbb3c5e3d474c8c3",
    "sha256:63b738c52bfe5a012ba2ae637fc796bf94cd3f368cf8924bb72563d4c569d83d",
)
"""Of the published files, the rules first."""

_WHERE_TO_GET_IT: Final = (
    "clone https://github.com/SkyRiver-2000/RuleArena and set domain.path to its folder airline"
)
_COUNTED: Final[Mapping[str, str]] = {
    "published": (
        "Bags of up to {free} lbs count first, from the heaviest to the lightest, then the heavier "
        "ones as they are listed."
    ),
    "cheapest": "They count in the order that costs the passenger least.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AirlineFeesSettings:
    """Where the files are and how checked bags are counted.

    path : the folder `airline` of RuleArena, with its rules and its three files of problems.
    order : which checked bag counts as the first, as the task card says. `published`: bags within
        the weight of a complimentary bag first, heaviest first among these, as RuleArena's own code
        counts; `cheapest`: the order that costs the passenger least.
    unknown_file : also read files that are not the published ones.
    sha256 : if given, the digest that all files together must have.
    """

    path: str = ""
    order: Order = "published"
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Problem:
    id: str
    level: int
    prompt: str
    trip: Trip
    bill: Bill


@register("domain", "airline_fees")
class AirlineFees(OneHistory[AirlineFeesSettings, _Problem]):
    """What a passenger pays for a flight and bags under an airline's published rules (RuleArena).

    One history for all cases: the rules in words, one event for a fee or a paragraph; their date
    is the day from which they hold. A case is a passenger with 2 to 10
    checked bags; its stratum the published level of difficulty (0 to 2), its cluster the route's
    region, direction and cabin: the same rules apply in it. Gold: the total by our own reading of
    the rules, dollars, and one critical `rule` item for each rule that applied to it.
    Cases alternate between the levels, in file order; the seed plays no part.

    Raises UserError when no path is given, DataError naming file and line for whatever is missing,
    is not in the published form, or is not covered by the rules.
    """

    provenance: Provenance = Provenance(
        source="https://github.com/SkyRiver-2000/RuleArena",
        revision="commit 3ca874a, folder airline",
        licence="MIT",
        citation=(
            "@inproceedings{zhou2025rulearena, title = {RuleArena: A Benchmark for Rule-Guided "
            "Reasoning with LLMs in Real-World Scenarios}, author = {Zhou, Ruiwen and Hua, "
            "Wenyue and Pan, Liangming and Cheng, Sitao and Wu, Xiaobao and Yu, En and Wang, "
            "William Yang}, booktitle = {Proceedings of the 63rd Annual Meeting of the "
            "Association for Computational Linguistics}, eprint = {2412.08972}, archivePrefix = "
            "{arXiv}, year = {2025}}"
        ),
        files=dict(zip((RULES_FILE, *PROBLEM_FILES), _DIGESTS, strict=True)),
        main_score="answer_correct",
        schema=(
            "https://github.com/SkyRiver-2000/RuleArena, airline/compute_answer.py and "
            "airline/auto_test.py, commits 564601b and 1a7a7d1"
        ),
    )
    history_name: ClassVar[str] = HISTORY
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items", "answer", "success")
    success_axis: ClassVar[str] = "answer_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "p_ret",
        "retained_critical",
        "recall_at_5",
        "ndcg_at_10",
        "answer_correct",
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: AirlineFeesSettings) -> None:
        super().__init__(settings)
        files = _read(settings)
        read = digest({name: found for name, (_, found) in files.items()})
        asked_for(settings.path, settings.sha256, read)
        published = type(self).provenance
        for name, (_, found) in files.items():
            told = settings.unknown_file
            origin = provenance_of(_place(settings, name), found, published, None, told=told)
            if origin is not published:
                self.provenance = origin
        self._rules = Rules(_place(settings, RULES_FILE), _text(settings, files, RULES_FILE))
        levels = [
            _problems(_place(settings, name), files[name][0], level, self._rules, settings.order)
            for level, name in enumerate(PROBLEM_FILES)
        ]
        longest = max(map(len, levels))
        alternating = [
            level[place] for place in range(longest) for level in levels if place < len(level)
        ]
        self.hold(read, self._rules.events, alternating)

    def success(self, answer: Answer, gold: Gold) -> bool:
        """The total to the dollar, with or without a dollar sign and separators."""
        given = answer.text.strip().removesuffix(".").removesuffix(".00").replace(",", "")
        return answer.decision != ABSTAIN and given.removeprefix("$") == gold.answer

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """`key_cheapest`: share of all cases whose key is also what costs the passenger least.

        The rules do not say which bag is the first; in the other cases the key rests on how
        RuleArena's code counts. 1 under `order=cheapest`.
        """
        same = [
            problem.bill.total == bill(problem.trip, self._rules, "cheapest").total
            for problem in self._asked
        ]
        return {"key_cheapest": sum(same) / len(same)}

    def case(self, asked: _Problem) -> Case:
        counted = _COUNTED[self.settings.order].format(free=self._rules.free_weight)
        items, trip = asked.bill.items, asked.trip
        route = f"{trip.origin} to {trip.destination}"
        return Case(
            id=asked.id,
            history_id=HISTORY,
            task=TaskCard(
                instruction=(
                    "Work out by the airline's rules what this passenger pays in all, one way: the "
                    "ticket and the fees of the checked bags. The first item is carried on, the "
                    f"others are checked. {counted} Reply with the total alone, in whole dollars."
                ),
                query=asked.prompt,
                operation="answer_question",
            ),
            gold=Gold(
                items=items,
                evidence=tuple(dict.fromkeys(name for i in items for name in i.source_ids[:1])),
                answer=str(asked.bill.total),
            ),
            stratum=f"level {asked.level}",
            cluster=f"{route}, {trip.cabin}",
            tags={
                "level": str(asked.level),
                "cabin": trip.cabin,
                "region": trip.destination if trip.origin == HOME else trip.origin,
                "checked_bags": str(len(trip.bags)),
            },
        )


def _place(settings: AirlineFeesSettings, name: str) -> str:
    return str(Path(settings.path).expanduser() / name)


def _read(settings: AirlineFeesSettings) -> dict[str, tuple[bytes, str]]:
    if not settings.path:
        told = f"domain.path: no folder given (domain=airline_fees); {_WHERE_TO_GET_IT}"
        raise UserError(told)
    if not Path(settings.path).expanduser().is_dir():
        raise DataError(settings.path, None, f"no such folder; {_WHERE_TO_GET_IT}")
    return {
        name: read_file(_place(settings, name), "", domain="airline_fees", where=_WHERE_TO_GET_IT)
        for name in (RULES_FILE, *PROBLEM_FILES)
    }


def _text(settings: AirlineFeesSettings, files: Mapping[str, tuple[bytes, str]], name: str) -> str:
    try:
        return files[name][0].decode()
    except UnicodeDecodeError:
        raise DataError(_place(settings, name), None, "not UTF-8 text") from None


def _problems(path: str, data: bytes, level: int, rules: Rules, order: Order) -> list[_Problem]:
    """The problems of one file of JSON lines, in order. Raises DataError naming the lines."""
    found = []
    faults = Faults(path)
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        with faults.of(number):
            try:
                record: Any = loads(line)
            except JSONDecodeError:
                raise BadRecordError("not JSON") from None
            if not isinstance(record, dict) or not isinstance(record.get("info"), dict):
                given = record.get("info") if isinstance(record, dict) else record
                raise BadRecordError(f"an object with info expected, {kind_of(given)} found")
            trip = Trip.read(record["info"])
            found.append(
                _Problem(
                    id=f"comp_{level}-{number}",
                    level=level,
                    prompt=text_in(record, "prompt"),
                    trip=trip,
                    bill=bill(trip, rules, order),
                )
            )
    faults.check()
    if not found:
        raise DataError(path, None, "no problems")
    return found
