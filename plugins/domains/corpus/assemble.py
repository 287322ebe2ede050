"""Documents and what their headers say of each other, made into a corpus."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Final

import yaml

from framework.errors import DataError
from framework.text.counting import counted
from plugins.domains.corpus.dates import iso_date
from plugins.domains.corpus.schema import RELATIONS, Corpus, Edge, Node, check_acyclic, write_corpus
from plugins.domains.data_file import BadRecordError, Faults

SETTINGS: Final = "corpus.yaml"
"""A file beside the documents that may say where they come from and what further headers mean."""

_SAYS: Final[Sequence[tuple[str, str, str]]] = (
    ("supersedes", "supersedes|supercedes|replaces|obsoletes",
     "superseded by|superceded by|replaced by|obsoleted by"),
    ("amends", "amends|updates|clarifies|refines|extends",
     "amended by|updated by|clarified by|refined by|extended by"),
    ("constrains", "constrains", "constrained by"),
    ("implements", "implements", "implemented by"),
    ("requires", "requires|depends on|dependencies", "required by"),
    ("derived_from", "derived from|based on|parent", "parent of"),
    ("supports", "supports", "supported by"),
    ("cites", "cites|references", "cited by|referenced by"),
    ("relates_to", "relates to|related|related to|relates|linked to|see also|related documents",
     "related by"),
)  # fmt: skip

MEANINGS: Final[Mapping[str, tuple[str, bool]]] = {
    phrase: (relation, inverse)
    for relation, forward, backward in _SAYS
    for phrases, inverse in ((forward, False), (backward, True))
    for phrase in phrases.split("|")
}
"""By what a header or a line says, in lower case with single spaces: the relation, and whether it
runs from the document that is named to the one that names it."""

_NOTHING: Final = frozenset({"", "-", "none", "n/a", "na", "null", "~", "tbd", "[]"})
_LINK: Final = re.compile(r"\[([^\[\]]*)\]\(<?([^()\s>]+)>?[^()]*\)")
_OUTSIDE: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|mailto:)[^\s,;]*", re.IGNORECASE)
_PART: Final = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """That a document names another in a relation, as its text writes the other."""

    relation: str
    other: str
    inverse: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document, its file, what it is called beside its id, and whom it names."""

    place: str
    node: Node
    names: Sequence[str] = ()
    links: Sequence[Link] = ()


@dataclass(slots=True, kw_only=True)
class Described:
    """What `corpus.yaml` says, and what an import leaves out, to be told at its end."""

    name: str
    source: str
    revision: str
    licence: str = "not stated"
    citation: str = "not stated"
    meanings: Mapping[str, tuple[str, bool]] = field(default_factory=lambda: MEANINGS)
    unread: Counter[str] = field(default_factory=Counter)
    no_document: int = 0
    outside: int = 0


def described(path: Path, revision: str) -> Described:
    """What the `corpus.yaml` in a folder, or beside a file, says. Raises DataError."""
    folder = path if path.is_dir() else path.parent
    found = Described(
        name=path.resolve().stem or "corpus", source="not stated", revision=revision or "not stated"
    )
    file = folder / SETTINGS
    if not file.is_file():
        return found
    try:
        said = read_yaml(file.read_bytes().decode())
        if not isinstance(said, dict):
            raise BadRecordError("a mapping expected")
        meanings = dict(MEANINGS)
        for key, value in said.items():
            if key == "relations" and isinstance(value, dict):
                for header, meaning in value.items():
                    if words(str(meaning)) not in MEANINGS:
                        known = ", ".join(name.replace("_", " ") for name in RELATIONS)
                        problem = f"relations.{header}: {meaning!r} is no relation; known: {known}"
                        raise BadRecordError(f"{problem}, and `superseded by` and its like")
                    meanings[words(header)] = MEANINGS[words(str(meaning))]
            elif key in ("name", "source", "licence", "citation") and isinstance(value, str):
                setattr(found, key, value.strip() or getattr(found, key))
            else:
                expected = "name, source, licence, citation (texts) and relations (a mapping)"
                raise BadRecordError(f"{key!r}: expected are {expected}")
        found.meanings = meanings
    except (OSError, UnicodeDecodeError):
        raise DataError(file, None, "cannot be read as UTF-8 text") from None
    except BadRecordError as error:
        raise DataError(file, None, str(error)) from None
    return found


class _Plain(yaml.BaseLoader):
    """Every scalar as the text that it is; without aliases, which make little text much data."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases (*) are not read")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        if len(found) < len(node.value):
            problem = "a key stands twice"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return found


def read_yaml(text: str) -> Any:
    """What YAML holds, texts, lists and mappings alone. Raises BadRecordError."""
    try:
        return yaml.load(text, Loader=_Plain)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" (line {mark.line + 1} of the header)" if mark else ""
        said = error.problem or error.context
        if said == "mapping values are not allowed here":
            said = "a text with a colon and a blank in it needs quotes"
        raise BadRecordError(f"not YAML: {said}{where}") from None
    except (yaml.YAMLError, RecursionError, ValueError, TypeError):
        problem = "not YAML: nested too deeply, or with characters that it can't have"
        raise BadRecordError(problem) from None


def words(text: str) -> str:
    """`Superseded-By` as `superseded by`."""
    return " ".join(re.split(r"[\s_-]+", text.strip().casefold()))


def values_of(value: object, depth: int = 3) -> Iterator[str]:
    """The texts of a header's value, a text or a list; `[[name]]` of a wiki too."""
    if isinstance(value, list) and depth:
        for part in value:
            yield from values_of(part, depth - 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
    elif value is not None:
        raise BadRecordError("a text or a list of texts expected")


def links_in(fields: Mapping[str, object], about: Described, read: Iterable[str]) -> Iterator[Link]:
    """The links of headers; those that are neither such nor in `read` are counted as unread."""
    for key, value in fields.items():
        meaning = about.meanings.get(words(key))
        if meaning is None:
            if words(key) not in read:
                about.unread[key] += 1
            continue
        try:
            others = list(values_of(value))
        except BadRecordError as error:
            raise BadRecordError(f"{key}: {error}") from None
        for other in others:
            yield from links_of(other, meaning)


def links_of(text: str, meaning: tuple[str, bool]) -> Iterator[Link]:
    """The documents that a text names: targets of Markdown links, else the text itself."""
    relation, inverse = meaning
    linked = [target for _, target in _LINK.findall(text)]
    for other in linked or [text]:
        if other.strip().casefold() not in _NOTHING:
            yield Link(relation=relation, other=other.strip(), inverse=inverse)


def dated(text: str) -> str:
    """A date of a header in the form of `iso_date`. Raises BadRecordError."""
    try:
        return iso_date(text)
    except ValueError:
        raise BadRecordError(f"date: {text[:40]!r} is no ISO 8601 date") from None


def assemble(documents: Iterable[Document], about: Described, path: Path, faults: Faults) -> Corpus:
    """The corpus of these documents; raises DataError with the first ten of all faults.

    Links are looked at once every document is sound: one to a document with a fault is no fault.
    """
    kept: dict[str, Document] = {}
    known: dict[str, dict[str, None]] = {}
    for document in documents:
        name = document.node.id
        with faults.of(document.place):
            if name in kept:
                raise BadRecordError(f"a second document {name!r}, as {kept[name].place}")
            kept[name] = document
            for other in (name, *document.names):
                known.setdefault(_form(other), {})[name] = None
    faults.check()
    edges: dict[Edge, None] = {}
    for document in kept.values():
        for link in document.links:
            with faults.of(document.place):
                for named in _resolved(link.other, document, kept, known):
                    if named is None:
                        about.outside += 1
                        continue
                    ends = document.node.id, named
                    ends = ends[::-1] if link.inverse else ends
                    if ends[0] == ends[1]:
                        raise BadRecordError(f"{link.relation} itself ({link.other!r})")
                    edges[Edge(source=ends[0], relation=link.relation, target=ends[1])] = None
    faults.check()
    if not kept:
        raise DataError(path, None, "no documents")
    check_acyclic(dict.fromkeys(edges), path)
    return Corpus(
        name=about.name,
        source=about.source,
        revision=about.revision,
        licence=about.licence,
        citation=about.citation,
        nodes={name: document.node for name, document in kept.items()},
        edges=tuple(sorted(edges, key=lambda e: (e.relation, e.source, e.target))),
    )


def written(corpus: Corpus, target: Path, about: Described | None = None) -> str:
    """Write a corpus and say what it holds, and what was left out."""
    write_corpus(corpus, target)
    counts = Counter(edge.relation for edge in corpus.edges)
    edges = ", ".join(f"{n} {relation}" for relation, n in sorted(counts.items()))
    said = [f"{counted(len(corpus.nodes), 'document')}, {edges or 'no edge between them'}"]
    if about and about.no_document:
        said.append(f"{counted(about.no_document, 'file')} without a header left out")
    if about and about.outside:
        said.append(f"{counted(about.outside, 'link')} to the outside left out")
    if about and about.unread:
        unread = ", ".join(f"{key} ({n})" for key, n in about.unread.most_common(6))
        said.append(f"headers not read: {unread}")
    return "; ".join(said)


def names_of(place: str) -> tuple[str, ...]:
    """What a file is called by others: its path, with and without its ending, and its name."""
    path = PurePosixPath(place)
    return (place, path.with_suffix("").as_posix(), path.stem)


def _form(text: str) -> str:
    """`ADR-0007`, `adr 7` and `ADR_007` alike."""
    return "-".join(part.lstrip("0") or "0" for part in _PART.findall(text.casefold()))


def _resolved(
    said: str, document: Document, kept: Mapping[str, Document], known: Mapping[str, Iterable[str]]
) -> Iterator[str | None]:
    """The ids that a text names, None for one outside the corpus. Raises BadRecordError."""
    if _OUTSIDE.fullmatch(said):
        yield None
        return
    found = _one(said, document, kept, known)
    parts = [part.strip() for part in re.split(r"[,;]", said)]
    if found is None and len(parts) > 1:
        for part in parts:
            if part.casefold() not in _NOTHING:
                yield from _resolved(part, document, kept, known)
    elif found is None:
        raise BadRecordError(f"no document {said[:60]}, which its header names")
    else:
        yield found


def _one(
    said: str, document: Document, kept: Mapping[str, Document], known: Mapping[str, Iterable[str]]
) -> str | None:
    if said in kept:
        return said
    bare = said.strip("[]\"'` ").partition("|")[0].partition("#")[0].strip()
    if bare in kept:
        return bare
    path = PurePosixPath(bare)
    beside = (PurePosixPath(document.place).parent / path).as_posix()
    stem = path.stem if path.suffix.lower() in (".md", ".markdown", ".mdx", ".rst") else path.name
    for form in dict.fromkeys((_form(beside), _form(bare), _form(stem))):
        ids = list(known.get(form, ()))
        if len(ids) > 1:
            raise BadRecordError(f"names {said[:60]!r}, which may be {' or '.join(ids[:3])}")
        if ids:
            return ids[0]
    return None
