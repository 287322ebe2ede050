"""Known errors of an answer key: an overlay over a published file, and the key's ceiling."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from framework.errors import DataError
from framework.records import Case
from framework.text.canonical import digest
from plugins.domains.data_file import (
    BadRecordError,
    Faults,
    kind_of,
    list_in,
    parse_json,
    read_file,
    text_in,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is wrong with the key of one case.

    answer : the right one, empty where the published one is right. evidence : ids of the right
    places, None where the published ones are. dropped : there is no right answer to its question.
    """

    answer: str = ""
    evidence: tuple[str, ...] | None = None
    dropped: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether a right answer is marked as wrong by the published key."""
        return self.dropped or bool(self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errata:
    """Corrections by case id, and the digest of the file that they were read from."""

    corrections: Mapping[str, Correction] = field(default_factory=dict)
    digest: str = ""

    def digest_with(self, data: str) -> str:
        """The digest of a data file under these corrections: its own where there are none."""
        return digest([data, self.digest]) if self.digest else data

    def keep(self, case_id: str) -> bool:
        """Whether the case has a right answer at all."""
        return not self.corrections.get(case_id, Correction()).dropped

    def answered(self, case: Case) -> Case:
        """The case with the corrected answer; places are the domain's to correct."""
        found = self.corrections.get(case.id)
        if found is None or not found.answer:
            return case
        return replace(case, gold=replace(case.gold, answer=found.answer, aliases=()))

    def report(self, case_ids: Iterable[str]) -> Mapping[str, float]:
        """The key's ceiling over these cases and those dropped, as `Domain.report` gives it.

        key_ceiling : share of cases whose published answer is right, so what an answerer that is
            always right could score under the published key. key_evidence : share whose published
            places are right. Empty without corrections: then neither is known.
        """
        if not self.digest:
            return {}
        cases = dict.fromkeys(case_ids)
        known = {**cases, **{id: None for id, c in self.corrections.items() if c.dropped}}
        found = [self.corrections[id] for id in known if id in self.corrections]
        n = len(known) or 1
        return {
            "key_ceiling": 1 - sum(one.is_answer for one in found) / n,
            "key_evidence": 1 - sum(one.evidence is not None for one in found) / n,
            "key_answers_corrected": float(sum(bool(one.answer) for one in found)),
            "key_cases_dropped": float(sum(one.dropped for one in found)),
        }


def read_errata(path: str, *, domain: str, audit: Mapping[str, Any] | None = None) -> Errata:
    """The corrections of a JSON list of objects; none for an empty path.

    Each has `case`, and any of `answer` (a text), `evidence` (a list of texts), `drop` (true).
    audit : the fields of a published audit by ours, which is read too: `case`, `answer`,
    `evidence`, `published` (the places that the key names), `kind` of the error, and those kinds
    that leave the answer `right`. Raises DataError.
    """
    if not path:
        return Errata()
    data, found_digest = read_file(path, "", domain=domain, where="domain.errata=FILE names it")
    records = parse_json(path, data)
    if not isinstance(records, list):
        raise DataError(path, None, f"a list of corrections expected, {kind_of(records)} found")
    corrections: dict[str, Correction] = {}
    faults = Faults(path)
    for number, record in enumerate(records, start=1):
        with faults.of(f"correction {number}"):
            if not isinstance(record, dict):
                raise BadRecordError(f"an object expected, {kind_of(record)} found")
            if audit and audit["case"] in record:
                case_id, found = _audited(record, audit)
            else:
                case_id, found = _correction(record)
            if case_id in corrections:
                raise BadRecordError(f"a second correction of {case_id[:80]!r}")
            corrections[case_id] = found
    faults.check()
    return Errata(corrections=corrections, digest=found_digest)


def _correction(record: Mapping[str, Any]) -> tuple[str, Correction]:
    strangers = sorted(record.keys() - {"case", "answer", "evidence", "drop", "why"})
    if strangers:
        raise BadRecordError(f"no key {strangers[0][:80]!r} expected")
    if record.get("drop", False) not in (True, False):
        raise BadRecordError("drop: true or false expected")
    evidence = texts_in(record, "evidence") if "evidence" in record else None
    answer = text_in(record, "answer") if "answer" in record else ""
    found = Correction(answer=answer, evidence=evidence, dropped=bool(record.get("drop")))
    if found == Correction():
        raise BadRecordError("an answer, evidence or drop expected")
    return text_in(record, "case"), found


def _audited(record: Mapping[str, Any], audit: Mapping[str, Any]) -> tuple[str, Correction]:
    right = text_in(record, audit["kind"]) in audit["right"]
    places, named = texts_in(record, audit["evidence"]), texts_in(record, audit["published"])
    return text_in(record, audit["case"]), Correction(
        answer="" if right else text_in(record, audit["answer"]),
        evidence=None if set(places) == set(named) else places,
    )


def texts_in(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts that are not blank. Raises BadRecordError."""
    found = list_in(record, key, "a list of texts")
    for text in found:
        if not isinstance(text, str) or not text.strip():
            raise BadRecordError(f"{key}: a list of texts expected, {kind_of(text)} in it")
    return tuple(found)


def check_cases(path: str, errata: Errata, known: Iterable[str]) -> None:
    """Raise DataError for a correction of a case that there is none of."""
    strangers = sorted(errata.corrections.keys() - set(known))
    if strangers:
        raise DataError(path, None, f"case {strangers[0][:80]!r}: the data have none of this id")
