"""List the values that one document states, each with what it is of and whether it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

from framework.contracts import Profile
from framework.operations import _json
from framework.operations._card import fields_text
from framework.operations.prompted import PromptedOperation
from framework.operations.reading import understand
from framework.operations.reading.claims import Claim
from framework.operations.reading.lexicon import FREE
from framework.operations.reading.noise import mishap
from framework.operations.reading.text import statements
from framework.operations.reading.unlabelled import unlabelled_claims
from framework.records import FactField, TaskCard
from framework.registry import register

__all__ = ["ExtractFacts", "ExtractFactsRequest", "ExtractFactsResponse", "ExtractedFact", "State"]

State = Literal["current", "correction", "standing", "retired"]
_STATES: Final = get_args(State)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractFactsRequest:
    """One document's text, and the public fields that matter; without any, every value is free."""

    document: str
    fields: tuple[FactField, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """A value as written, and the sentence that states it.

    subject : the field's key; for a value of no field, the words that name it.
    status : `standing` holds again because a correction was taken back.
    """

    subject: str
    value: str
    status: State
    quote: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractFactsResponse:
    """The facts in the order of the document."""

    facts: tuple[ExtractedFact, ...] = ()


@register("operation", "extract_facts")
class ExtractFacts(PromptedOperation[ExtractFactsRequest, ExtractFactsResponse]):
    """List the values that a document states, bound to a field or to their own words.

    The rule-based answer reads sentence by sentence, as every reader does: by the fields' labels
    where the request has fields and the reader knows labels, else by the words before a value. An
    injected instruction states no fact.
    """

    slots = frozenset({"fields", "document"})

    def fill(self, request: ExtractFactsRequest) -> Mapping[str, str]:
        fields = fields_text(request.fields) or "(none)"
        return {"fields": fields, "document": request.document}

    def parse(self, text: str, request: ExtractFactsRequest) -> ExtractFactsResponse:
        data = self.json_object(text)
        _json.expect_keys(data, ("facts",))
        facts = []
        for entry in _json.objects(data, "facts"):
            _json.expect_keys(entry, ("subject", "value", "status", "quote"))
            status = entry["status"]
            if status not in _STATES:
                raise ValueError(f"status: {status!r} is none of {', '.join(_STATES)}")
            fact = ExtractedFact(
                subject=_json.text(entry, "subject"),
                value=_json.text(entry, "value"),
                status=status,
                quote=_json.text(entry, "quote"),
            )
            if " ".join(fact.value.split()) not in " ".join(request.document.split()):
                raise ValueError(f"value: {fact.value!r} does not stand in the document")
            facts.append(fact)
        return ExtractFactsResponse(facts=tuple(facts))

    def offline(self, request: ExtractFactsRequest, profile: Profile) -> ExtractFactsResponse:
        facts = [
            ExtractedFact(
                subject=claim.key.removeprefix(FREE),
                value=claim.value.text,
                status="current" if claim.status == "rescinded" else claim.status,
                quote=sentence,
            )
            for sentence, claims in _claims(request, profile)
            for claim in claims
            if claim.value is not None
        ]
        return ExtractFactsResponse(facts=tuple(facts))


def _claims(
    request: ExtractFactsRequest, profile: Profile
) -> Iterator[tuple[str, tuple[Claim, ...]]]:
    """Each sentence that is not missed, with what it claims."""
    found = statements(request.document)
    if not request.fields:
        for statement in found:
            if mishap(statement.text, profile) != "miss":
                yield statement.text, unlabelled_claims(statement.text)
        return
    card = TaskCard(instruction="", query="", fields=request.fields)
    for statement, says in understand(found, card, profile):
        yield statement.text, says.claims
