"""Documents in the words of a language model: the file that holds them, and how each is checked.

LongHorizon's documents were "synthesized with a high-capacity model, manually reviewed for internal
consistency" (section 4.3) after decision and facts were drawn. Here `decisionbench write` asks a
model once and keeps what it wrote in a file; a run reads the file (`domain.written`) and asks
nobody, so that its histories never depend on a model that answers at the time. The review is
`Template.faults`: a text is taken where it says all that the template's text says, as far as
figures, dates, names and codes can tell, no figure besides, and no outcome of the case. It is
applied when the file is made and again whenever it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from framework.errors import DataError, UserError
from framework.retention.items import claims, intact
from framework.text.canonical import digest, digest_file
from framework.text.reading import no_stream, read_json
from framework.text.tokens import count_tokens
from framework.text.values import Value, contains, find_values
from plugins.domains.regulated.documents import Content, Mention
from plugins.domains.regulated.rendering import Draft
from plugins.domains.regulated.spec import Fact, Spec
from plugins.domains.regulated.wording import render

FORMAT: Final = 1
AS_THEY_ARE: Final = frozenset({"policy", "amendment", "monitoring"})
"""Uses of documents that nobody words again: what a policy provides, and a form of boxes."""
_PLAIN: Final = "record"
"""The use of the documents that state facts plainly, in whatever words."""
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_DECIDING: Final = ("decline", "deny", "grant", "refuse", "reject")
"""Verbs of an outcome in any domain, besides those of a spec."""
_ENDINGS: Final = "(?:e|s|es|ed|ing|al|y|ys|ies|ied|id|ying|ial|red|ring|ral)"
_NUMBERS: Final = frozenset({"count", "score"})
_LONGEST: Final = (3, 40)
"""Tokens that a text may have: so many times those of its template's, and so many more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A document as the generator words it, and what of it any other wording has to say.

    sentences : what it says, one by one. facts : each as (fact, its value as text), to be stated in
    a sentence with a word for the fact and no other figure of its kind. verbatim : sentences whose
    wording alone tells what they do: corrections, what is said of the past, what settles a
    question, what tries to instruct the reader. names : of people, firms, places and documents.
    outcomes : verbs that say how a case is decided; no text has one oftener than the template.
    """

    event_id: str
    title: str
    kind: str
    author: str
    day: str
    sentences: tuple[str, ...]
    facts: tuple[tuple[Fact, str], ...]
    verbatim: tuple[str, ...]
    names: tuple[str, ...]
    vocabulary: tuple[str, ...]
    outcomes: tuple[str, ...]

    @property
    def body(self) -> str:
        """What it says, a line each."""
        return "\n".join(self.sentences)

    def faults(self, text: str) -> list[str]:
        """What is wrong with a wording; none where it can stand for the template's."""
        times, more = _LONGEST
        found = [
            f"missing: the sentence {said!r}" for said in self.verbatim if not intact(said, text)
        ]
        wanted, given = find_values(self.body), find_values(text)
        found += [f"missing: {v.text}" for v in _lacking(wanted, given)]
        found += [f"not in the document: {v.text}" for v in _apart(given, wanted)]
        found += [f"missing: {name}" for name in self.names if not contains(text, name, "")]
        found += [
            f"not in the document: {word}"
            for word in self.vocabulary
            if contains(text, word, "category") and not contains(self.body, word, "category")
        ]
        for verb in self.outcomes:
            said = _told(verb, text)
            if len(said) > len(_told(verb, self.body)):
                found.append(f"an outcome that is not in the document: {said[-1]}")
        for fact, value in self.facts:
            if not stating(fact, value, text):
                found.append(f"no sentence of its own states {fact.label}: {value}")
            found += [
                f"another {fact.label} than {value}: {said!r}"
                for said in _others(fact, value, text)
                if said not in _others(fact, value, self.body)
            ]
        if count_tokens(text) > times * count_tokens(self.body) + more:
            found.append(f"longer than {times} times what it is to say")
        return list(dict.fromkeys(found))


def tidy(text: str) -> str:
    """`text` with single spaces and no blank lines."""
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def stating(fact: Fact, value: str, text: str) -> str:
    """The first sentence that states the value as the fact's, and no other figure of its kind."""
    for said in _SENTENCE.split(text):
        if claims(said, value, fact.type, _names(fact)) and not _figures(fact, value, said):
            return said.strip()
    return ""


def _told(verb: str, text: str) -> list[str]:
    """The forms of a verb in a text: approve, approved, approval; a phrase as it is."""
    stem = re.escape(verb.rstrip("ey"))
    pattern = re.escape(verb) if " " in verb else f"{stem}{_ENDINGS}"
    return re.findall(rf"\b(?:{pattern}|{re.escape(verb)})\b", text, re.IGNORECASE)


def _names(fact: Fact) -> tuple[str, ...]:
    return (*fact.labels, fact.held_out.noun, *fact.held_out.bindings)


def _figures(fact: Fact, value: str, said: str) -> list[str]:
    """Values of the fact's kind in a sentence that are not its own."""
    if fact.vocabulary:
        return [w for w in fact.vocabulary if w != value and contains(said, w, "category")]
    own = {v.canonical for v in find_values(value)}
    return [v.text for v in find_values(said) if v.type == fact.type and v.canonical not in own]


def _others(fact: Fact, value: str, text: str) -> list[str]:
    """Sentences with a word for the fact and figures of its kind, none of which is its own."""
    return [
        said
        for said in _SENTENCE.split(text)
        if any(contains(said, name, "") for name in _names(fact))
        and _figures(fact, value, said)
        and not contains(said, value, fact.type)
    ]


def _apart(values: Sequence[Value], others: Sequence[Value]) -> Iterator[Value]:
    """Those of `values` that `others` lack."""
    for value in values:
        if not any(_same(value, other) for other in others):
            yield value


def _lacking(values: Sequence[Value], others: Sequence[Value]) -> Iterator[Value]:
    """Those of `values` that `others` do not hold as often: one changed into the next is told."""
    left = list(others)
    for value in values:
        found = next((other for other in left if _same(value, other)), None)
        if found is None:
            yield value
        else:
            left.remove(found)


def _same(one: Value, other: Value) -> bool:
    if one.canonical != other.canonical:
        return False
    if {one.type, other.type} <= _NUMBERS:
        return not one.unit or not other.unit or one.unit == other.unit
    return one.type == other.type


def templates(spec: Spec, drafts: Sequence[Draft], content: Content) -> Iterator[Template]:
    """The documents of a history that may be worded again, in order."""
    titles = {draft.title for draft in drafts}
    known = sorted({*content.cast.values(), *titles}, key=len, reverse=True)
    vocabulary = tuple(dict.fromkeys(w for f in spec.facts.values() for w in f.vocabulary))
    held_out = [verb for verbs in spec.wording.verbs.values() for verb in verbs]
    outcomes = tuple(dict.fromkeys([*spec.verbs.values(), *held_out, *_DECIDING]))
    said: dict[str, list[Mention]] = {}
    for mention in content.mentions:
        said.setdefault(mention.event_id, []).append(mention)
    for draft in drafts:
        use = spec.documents[draft.spec_id].use if draft.spec_id in spec.documents else "policy"
        if use in AS_THEY_ARE or not draft.lines:
            continue
        body = " ".join(text for text, _ in draft.lines)
        plain = [m for m in said.get(draft.id, ()) if m.kind == "fact" and use == _PLAIN]
        kept = [m.text for m in said.get(draft.id, ()) if m not in plain]
        if draft.id == content.injected_in and content.injected in body:
            kept.append(content.injected)
        facts = []
        for mention in plain:
            fact = spec.facts[mention.key]
            value = render(fact, mention.value)
            if stating(fact, value, mention.text):
                facts.append((fact, value))
            else:  # the matcher can't tell, so the wording stays
                kept.append(mention.text)
        yield Template(
            event_id=draft.id,
            title=draft.title,
            kind=draft.kind,
            author=draft.author,
            day=draft.day.isoformat(),
            sentences=tuple(text for text, _ in draft.lines),
            facts=tuple(facts),
            verbatim=tuple(kept),
            names=tuple(n for n in known if contains(body, n, "") and not find_values(n)),
            vocabulary=vocabulary,
            outcomes=outcomes,
        )


@dataclass(frozen=True, kw_only=True)
class Written:
    """A file of documents: its header and, by history and event, the text; None by template."""

    path: str
    digest: str
    header: Mapping[str, Any]
    texts: Mapping[str, Mapping[str, str | None]]
    lines: Mapping[tuple[str, str], int]

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Documents in a model's words, and documents that it was asked for."""
        asked = [text for texts in self.texts.values() for text in texts.values()]
        return sum(text is not None for text in asked), len(asked)

    @property
    def said(self) -> str:
        """How many documents are in whose words, for the data card of a run."""
        written, asked = self.counts
        kinds = "documents that state something" if self.header["stating"] else "documents"
        return (
            f"of {asked} {kinds} {written} in the words of {self.header['model']},"
            f" {asked - written} by template"
        )

    def bodies(self, history_id: str) -> Mapping[str, str]:
        """The texts of a history by event. Raises UserError for one that the file lacks."""
        if history_id not in self.texts:
            raise UserError(
                f"domain.written: {self.path} has no documents of {history_id}; "
                "`decisionbench write` adds them"
            )
        return {event: text for event, text in self.texts[history_id].items() if text is not None}

    def reworded(
        self, history_id: str, found: Sequence[Template], content: Content, left_out: str
    ) -> tuple[Content, dict[str, str]]:
        """What the documents mention in the words of the file, and their bodies by event.

        left_out : a sentence that this history does not have, as the clean counterpart of one with
        an injected sentence. Raises DataError for a text that does not say what its template does.
        """
        by_event = {one.event_id: one for one in found}
        bodies = {}
        for event, text in self.bodies(history_id).items():
            line = self.lines[history_id, event]
            if event not in by_event:
                raise DataError(self.path, line, f"{history_id} has no document {event}")
            body = tidy(text.replace(left_out, "")) if left_out else text
            if faults := by_event[event].faults(body):
                raise DataError(self.path, line, f"{event}: {'; '.join(faults[:3])}")
            bodies[event] = body
        mentions = [
            replace(m, text=_reworded_mention(m, by_event[m.event_id], bodies[m.event_id]))
            if m.event_id in bodies
            else m
            for m in content.mentions
        ]
        return replace(content, mentions=tuple(mentions)), bodies


def _reworded_mention(mention: Mention, template: Template, body: str) -> str:
    """The sentence of `body` that states what a mention does."""
    for fact, value in template.facts:
        if (
            fact.key == mention.key
            and mention.kind == "fact"
            and render(fact, mention.value) == value
        ):
            return stating(fact, value, body)
    return mention.text


def file_digest(path: str) -> str:
    """The digest of a file of documents. Raises UserError where there is none."""
    try:
        return digest_file(no_stream(Path(path).expanduser()))
    except OSError as error:
        raise UserError(f"domain.written: {path}: {error.strerror or error}") from None


def load_written(path: str, header: Mapping[str, Any]) -> Written:
    """The documents in a file that was made for this spec and these settings. Raises DataError."""
    found = _load(path, file_digest(path))
    check_header(path, found.header, header)
    return found


@lru_cache(maxsize=8)
def _load(path: str, of: str) -> Written:
    data = Path(path).expanduser().read_bytes()
    header: Mapping[str, Any] = {}
    texts: dict[str, dict[str, str | None]] = {}
    lines: dict[tuple[str, str], int] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        record = record_in(path, number, line)
        if number == 1:
            header = record
            continue
        history, event = str(record.get("history")), str(record.get("event"))
        if (history, event) in lines:
            raise DataError(path, number, f"a second text of {event} of {history}")
        if not isinstance(record.get("text"), str | None):
            raise DataError(path, number, "text: a text or null expected")
        texts.setdefault(history, {})[event] = record["text"]
        lines[history, event] = number
    if header.get("format") != FORMAT:
        raise DataError(path, None, "not a file that `decisionbench write` made")
    return Written(path=path, digest=of, header=header, texts=texts, lines=lines)


def record_in(path: str, number: int, line: bytes) -> dict[str, Any]:
    """The JSON object of a line. Raises DataError."""
    try:
        record = read_json(line)
    except ValueError as error:
        raise DataError(path, number, f"not JSON: {error}") from None
    if not isinstance(record, dict):
        raise DataError(path, number, "a JSON object expected")
    return record


def header_of(spec: Spec, settings: Mapping[str, Any]) -> dict[str, Any]:
    """What a file must be made for to be read: the spec and all that shapes its histories."""
    return {"format": FORMAT, "spec": spec.name, "spec_digest": spec.digest, "settings": settings}


def check_header(path: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raise DataError naming the first thing that a file was made for and is not asked of it."""
    mine, its = wanted["settings"], found.get("settings") or {}
    for key in sorted({*mine, *its}):
        if mine.get(key) != its.get(key):
            told = f"written for domain.{key}={its.get(key)}, {mine.get(key)} asked for"
            raise DataError(path, 1, told)
    for key in ("format", "spec", "spec_digest"):
        if found.get(key) != wanted[key]:
            raise DataError(path, 1, f"written for another {key}: {found.get(key)}")


def with_written(spec: Spec, written: Written) -> Spec:
    """`spec` with a digest that says which texts its documents have."""
    return replace(spec, digest=digest([spec.digest, "written", written.digest]))
