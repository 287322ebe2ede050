"""Questions over a database with their reference queries, and notes on it, from a YAML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from framework.contracts import Provenance
from framework.errors import DataError
from framework.text.reading import no_stream, read_yaml
from plugins.domains.data_file import BadRecordError, Faults, check_text, provenance_in, text_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of the database beside its schema: a word's meaning, an example, a fact."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question. `ordered`: it asks for an order of rows. `notes`: ids it can't do without.

    text, held_out : its development wording, and one that the rule-based writer was not written
        against; empty where there is none. turn : alternates between the questions of a template
        and between templates, so that either half has every kind.
    """

    id: str
    template: str
    kind: str
    text: str
    held_out: str
    turn: bool
    sql: str
    ordered: bool
    notes: tuple[str, ...]


def load(path: Path) -> tuple[tuple[Note, ...], tuple[Asked, ...], Provenance]:
    """Notes and questions of a file (YAML, of which JSON is a part), and where it says it is from.

    A file is a list of questions, or an object with `questions`, and `notes` and `provenance`
    where it has them. A question has `id`,
    `question` and `sql`, and may have `held_out` (another wording), `kind`, `ordered` and `notes`.
    Where it has `v`, a list, it is a template: one question for each value, which takes the place
    of `{v}`; further lists of the same length fill further slots, and `notes_by` names the notes of
    each.

    Raises DataError naming file and record.
    """
    try:
        data = read_yaml(no_stream(path).read_text(encoding="utf-8"))
        check_text(data)
    except FileNotFoundError:
        raise DataError(path, None, "no such file") from None
    except BadRecordError as error:
        raise DataError(path, None, str(error)) from None
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = str(error).partition(";")[0]  # of a huge number more is told than helps
        raise DataError(path, None, f"not readable as YAML: {problem}") from None
    if isinstance(data, list):
        data = {"questions": data}
    if not isinstance(data, dict) or not isinstance(data.get("questions"), list):
        raise DataError(path, None, "a list of questions expected, or an object with `questions`")
    faults = Faults(path)
    notes: list[Note] = []
    asked: list[Asked] = []
    for n, entry in enumerate(data.get("notes") or [], start=1):
        with faults.of(f"note {n}"):
            notes.append(_note(entry))
    faults.check()  # before the questions, which name them
    known = {note.id for note in notes}
    for n, entry in enumerate(data["questions"], start=1):
        named = f" (id {entry['id']!r})" if isinstance(entry, dict) and entry.get("id") else ""
        with faults.of(f"question {n}{named}"):
            asked += _questions(n, entry, known)
    faults.check()
    for name, ids in (("note", [n.id for n in notes]), ("question", [a.id for a in asked])):
        twice = next((id_ for id_ in ids if ids.count(id_) > 1), None)
        if twice is not None:
            raise DataError(path, None, f"two {name}s of the id {twice!r}")
    if not asked:
        raise DataError(path, None, "no questions")
    return tuple(notes), tuple(asked), provenance_in(path, data.get("provenance"))


def _note(entry: Any) -> Note:
    if not isinstance(entry, dict):
        raise BadRecordError("an object expected")
    return Note(id=text_in(entry, "id"), text=text_in(entry, "text"))


def _questions(number: int, entry: Any, known: set[str]) -> Iterator[Asked]:
    if not isinstance(entry, dict):
        raise BadRecordError("an object expected")
    id_, question, sql = (text_in(entry, key) for key in ("id", "question", "sql"))
    held_out = text_in(entry, "held_out") if "held_out" in entry else ""
    ordered = entry.get("ordered", False)
    if not isinstance(ordered, bool):
        raise BadRecordError("ordered: true or false expected")
    fillings = _fillings(entry)
    notes_by = entry.get("notes_by", [entry.get("notes", [])] * len(fillings))
    if not isinstance(notes_by, list) or len(notes_by) != len(fillings):
        raise BadRecordError(f"notes_by: {len(fillings)} lists expected")
    for place, (slots, notes) in enumerate(zip(fillings, notes_by, strict=True), start=1):
        strangers = sorted(set(map(str, notes)) - known)
        if strangers:
            raise BadRecordError(f"no note {strangers[0]!r}")
        yield Asked(
            id=f"{id_}.{place}" if len(fillings) > 1 else id_,
            template=id_,
            kind=str(entry.get("kind", "all")),
            text=_filled(question, slots),
            held_out=_filled(held_out, slots),
            turn=bool((number + place) % 2),
            sql=_filled(sql, slots),
            ordered=ordered,
            notes=tuple(map(str, notes)),
        )


def _fillings(entry: Mapping[str, Any]) -> list[dict[str, str]]:
    lists = {k: v for k, v in entry.items() if isinstance(v, list) and not k.startswith("notes")}
    if not lists:
        return [{}]
    lengths = {len(values) for values in lists.values()}
    if "v" not in lists or len(lengths) != 1 or 0 in lengths:
        raise BadRecordError("a list `v` and others of its length expected")
    return [
        {name: str(values[place]) for name, values in lists.items()}
        for place in range(len(lists["v"]))
    ]


def _filled(text: str, slots: Mapping[str, str]) -> str:
    for name, value in slots.items():
        text = text.replace(f"{{{name}}}", value)
    return text
