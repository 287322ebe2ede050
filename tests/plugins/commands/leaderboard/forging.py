"""Bundles of a real sweep, and kinds of tampering with them."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.store import JOURNAL
from framework.store.directory import ANSWERS
from framework.store.event import FINISHED, GENESIS, encode
from framework.text.canonical import canonical_bytes, digest_bytes, digest_file
from plugins.commands.leaderboard import bundle

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Json = dict[str, Any]
FILLER = " The weather was fair on that day and nothing else of note was written down."


@dataclass
class Forger:
    """A submitter who changes runs before, or bundles after, they are signed with the own key."""

    runs: list[Path]
    key: Ed25519PrivateKey
    target: Path

    @classmethod
    def of(cls, runs: list[Path], key: Ed25519PrivateKey, place: Path) -> Forger:
        """One with copies of the runs of their own."""
        copies = []
        for run in runs:
            copy = place / run.name
            copy.mkdir(parents=True)
            for name in bundle.KEPT:
                shutil.copy(run / name, copy)
            copies.append(copy)
        return cls(copies, key, place / "forged.bundle")

    def signed(self) -> Path:
        """The bundle of the runs as they are now."""
        bundle.write(self.runs, "A lab", self.key, self.target)
        return self.target

    def packed(self, changed: Callable[[dict[str, bytes]], None], comment: bytes = b"") -> Path:
        """The signed bundle whose files were changed afterwards."""
        with zipfile.ZipFile(self.signed()) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        changed(files)
        with zipfile.ZipFile(self.target, "w") as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name), content)
            archive.comment = comment
        return self.target

    def sealed(
        self,
        *,
        started: Callable[[Json], object] | None = None,
        row: Callable[[Json], object] | None = None,
        record: Callable[[Json, Json], object] | None = None,
        events: Callable[[list[Json]], list[Json]] | None = None,
        all_runs: bool = False,
    ) -> Path:
        """A bundle in which every chain, digest and signature is right again.

        started : changes the run's first payload. row : the first row. record : the first row and
        its answer's record. events : the events, each with its `line` of answers where it has one.
        """
        for run in self.runs if all_runs else self.runs[:1]:
            found = read_events(run)
            if started is not None:
                started(found[0]["payload"])
            case = next(event for event in found if event["type"] == "case.finished")
            if row is not None:
                row(case["payload"]["row"])
            if record is not None:
                record(case["payload"]["row"], case["line"])
            write_events(run, found if events is None else events(found))
        return self.signed()


def read_events(run: Path) -> list[Json]:
    """The events of a journal, those of cases with their records of the answers."""
    lines = [json.loads(line) for line in (run / JOURNAL).read_bytes().splitlines()]
    answers = [json.loads(line) for line in (run / ANSWERS).read_bytes().splitlines()]
    for event in lines:
        if event["type"] == "case.finished":
            event["line"] = answers.pop(0)
    return lines


def write_events(run: Path, events: list[Json]) -> None:
    """Write journal and answers again, with all that binds one to the other."""
    answers, head = b"", GENESIS
    for event in events:
        if "line" in event:
            line = canonical_bytes(event["line"]) + b"\n"
            answers += line
            event["payload"] |= {"answers_end": len(answers), "record": digest_bytes(line)}
    (run / ANSWERS).write_bytes(answers)
    journal = b""
    for seq, event in enumerate(events):
        payload = event["payload"]
        if event["type"] == FINISHED:
            payload["files"][ANSWERS] = digest_file(run / ANSWERS)
            payload |= {"n_events": len(events), "rows": len(events) - 2}
        line, head = encode(
            seq=seq, time=event["time"], actor=event["actor"], type=event["type"],
            payload=canonical_bytes(payload), prev_hash=head,
        )  # fmt: skip
        journal += line
    (run / JOURNAL).write_bytes(journal)


def put(name: str, value: Any) -> Callable[[Json], object]:
    """Sets a value by its keys, `a.b.c`."""
    *outer, last = name.split(".")

    def change(found: Json) -> None:
        for key in outer:
            found = found[key]
        assert found.get(last) != value
        found[last] = value

    return change


def flip(row: Json) -> None:
    row["axes"]["eda"] = 1.0 - row["axes"]["eda"]
    row["success"] = row["axes"]["eda"]


def ranked_first(row: Json, record: Json) -> None:
    before = record["ranks"]
    record["ranks"] = {event: i for i, event in enumerate(reversed(list(before)), start=1)}
    assert record["ranks"] != before


def retraced(row: Json, record: Json) -> None:
    record["trace"][0]["item_id"] = "another"


def other_decision(row: Json, record: Json) -> None:
    given = "DENY" if row["decision"] == "APPROVE" else "APPROVE"
    row["decision"] = record["answer"]["decision"] = given


def shorter_view(row: Json, record: Json) -> None:
    dropped = record["view"].pop()
    row["view_tokens"] -= _tokens(dropped["text"])


def longer_view(row: Json, record: Json) -> None:
    record["view"][0]["text"] += FILLER * 10
    row["view_tokens"] += _tokens(FILLER) * 10


def said_to_hold_all(row: Json, record: Json) -> None:
    assert not all(record["retained"].values())
    record["retained"] = dict.fromkeys(record["retained"], True)


def prompt(name: str) -> Callable[[Json, Json], object]:
    def change(row: Json, record: Json) -> None:
        record["prompts"][0][name] += " "

    return change


def reasoned(row: Json, record: Json) -> None:
    row["reasons"] = [*row["reasons"], "UP-1"]


def _tokens(text: str) -> int:
    from framework.text.tokens import count_tokens

    return count_tokens(text)


def without_first_case(events: list[Json]) -> list[Json]:
    return [events[0], *events[2:]]


def first_case_twice(events: list[Json]) -> list[Json]:
    return [events[0], json.loads(json.dumps(events[1])), *events[1:]]


def renamed_case(events: list[Json]) -> list[Json]:
    for holder in (events[1]["payload"]["row"], events[1]["line"]):
        if "case_id" in holder:
            holder["case_id"] = "loan-s101-000099"
        else:
            holder["key"][0] = "loan-s101-000099"
    return events


def one_more_case(events: list[Json]) -> list[Json]:
    return [*events[:1], *renamed_case([events[0], json.loads(json.dumps(events[1]))])[1:],
            *events[1:]]  # fmt: skip


def swapped_answers(events: list[Json]) -> list[Json]:
    one, two = events[1]["line"], events[2]["line"]
    one["answer"], two["answer"] = two["answer"], one["answer"]
    assert one["answer"] != two["answer"]
    return events


def _edit(name: str, old: bytes, new: bytes) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        file = next(n for n in files if n.endswith(name))
        assert old in files[file]
        files[file] = files[file].replace(old, new, 1)

    return change


def _drop(name: str) -> Callable[[dict[str, bytes]], None]:
    def change(files: dict[str, bytes]) -> None:
        del files[next(n for n in files if n.endswith(name))]

    return change


def _add(name: str) -> Callable[[dict[str, bytes]], None]:
    return lambda files: files.update({name: b"more"})


def _cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-200])
    return path


def _around(path: Path, before: bytes, after: bytes) -> Path:
    path.write_bytes(before + path.read_bytes() + after)
    return path


def _unchained(forger: Forger) -> Path:
    """The journal edited, nothing that binds it made again, and signed."""
    path = forger.runs[0] / JOURNAL
    path.write_bytes(path.read_bytes().replace(b'"eda":1.0', b'"eda":0.0', 1))
    return forger.signed()


def _unsealed(forger: Forger) -> Path:
    path = forger.runs[0] / ANSWERS
    path.write_bytes(path.read_bytes().replace(b"APPROVE", b"DENY", 1))
    return forger.signed()


def _of_another(forger: Forger, name: str) -> Path:
    """The bundle with a file of a bundle that another key signed."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    other = Forger(forger.runs, Ed25519PrivateKey.generate(), forger.target.with_name("x.bundle"))
    with zipfile.ZipFile(other.signed()) as archive:
        content = archive.read(name)
    return forger.packed(lambda files: files.update({name: content}))


def _renamed_key(forger: Forger) -> Path:
    """Another public key in the contents, the signature left as it is."""

    def change(files: dict[str, bytes]) -> None:
        contents = json.loads(files[bundle.CONTENTS])
        contents["key"] = "00" * 32
        files[bundle.CONTENTS] = canonical_bytes(contents)

    return forger.packed(change)


def _without_seed(forger: Forger) -> Path:
    forger.runs = forger.runs[:1]
    return forger.signed()


def _one_seed_as_two(forger: Forger) -> Path:
    first, second = forger.runs
    for name in bundle.KEPT:
        shutil.copy(first / name, second / name)
    return forger.signed()


TAMPERED: Mapping[str, Callable[[Forger], Path]] = {
    "a byte of the journal": lambda f: f.packed(_edit(JOURNAL, b"actor", b"actoR")),
    "a byte of the answers": lambda f: f.packed(_edit(ANSWERS, b"answer", b"answeR")),
    "a file left out": lambda f: f.packed(_drop(ANSWERS)),
    "a file added": lambda f: f.packed(_add("runs/x/journal.jsonl")),
    "a file outside": lambda f: f.packed(_add("../outside")),
    "a comment": lambda f: f.packed(lambda files: None, b"hello"),
    "bytes before": lambda f: _around(f.signed(), b"#!/bin/sh\n", b""),
    "bytes after": lambda f: _around(f.signed(), b"", b"more"),
    "cut off": lambda f: _cut(f.signed()),
    "no signature": lambda f: f.packed(_drop(bundle.SIGNATURE)),
    "another's signature": lambda f: _of_another(f, bundle.SIGNATURE),
    "another's contents": lambda f: _of_another(f, bundle.CONTENTS),
    "another key": _renamed_key,
    "another name": lambda f: f.packed(_edit(bundle.CONTENTS, b"A lab", b"B lab")),
    "another format": lambda f: f.packed(_edit(bundle.CONTENTS, b"bundle/1", b"bundle/2")),
    "journal edited": _unchained,
    "answers edited": _unsealed,
    "journal not closed": lambda f: f.sealed(events=lambda e: e[:-1]),
    "a seed left out": _without_seed,
    "one seed as two": _one_seed_as_two,
    "another seed": lambda f: f.sealed(started=put("config.seed", 999)),
    "another budget": lambda f: f.sealed(started=put("config.budget.ratio", 0.9)),
    "an easier domain": lambda f: f.sealed(started=put("config.domain.tokens", 1000)),
    "another reader": lambda f: f.sealed(started=put("config.reader.undetermined", "abstain")),
    "more repeats": lambda f: f.sealed(started=put("config.repeats", 5)),
    "fewer cases": lambda f: f.sealed(started=put("config.n_cases", 2)),
    "other data": lambda f: f.sealed(started=put("data.digest", "sha256:" + "0" * 64)),
    "another arm's label": lambda f: f.sealed(started=put("config.labels.arch", "mine")),
    "a hard case left out": lambda f: f.sealed(events=without_first_case),
    "a case twice": lambda f: f.sealed(events=first_case_twice),
    "another case": lambda f: f.sealed(events=renamed_case),
    "a case added": lambda f: f.sealed(events=one_more_case),
    "answers swapped": lambda f: f.sealed(events=swapped_answers),
    "a score": lambda f: f.sealed(row=flip),
    "a score of another axis": lambda f: f.sealed(row=put("axes.surface_ceiling", 1.0)),
    "the gold decision": lambda f: f.sealed(row=put("expected", "REFER")),
    "the stratum": lambda f: f.sealed(row=put("stratum", "easy")),
    "the domain's version": lambda f: f.sealed(row=put("domain_version", "0")),
    "what the view suffices for": lambda f: f.sealed(row=put("sufficient", True)),
    "the row's decision": lambda f: f.sealed(row=put("decision", "REFER")),
    "the row's reasons": lambda f: f.sealed(record=reasoned),
    "the answer": lambda f: f.sealed(record=other_decision),
    "a shorter view": lambda f: f.sealed(record=shorter_view),
    "a longer view": lambda f: f.sealed(record=longer_view),
    "the view's tokens": lambda f: f.sealed(row=put("view_tokens", 1)),
    "what the view holds": lambda f: f.sealed(record=said_to_hold_all),
    "gold ranked first": lambda f: f.sealed(record=ranked_first),
    "a trace of another view": lambda f: f.sealed(record=retraced),
    "the prompt": lambda f: f.sealed(record=prompt("user")),
    "the response": lambda f: f.sealed(record=prompt("response")),
    "fewer tokens": lambda f: f.sealed(row=put("usage.answer.tokens_in", 1)),
    "a negative price": lambda f: f.sealed(row=put("usage.answer.cost_usd", -1.0)),
    "a negative time": lambda f: f.sealed(row=put("timing.recall_s", -1.0)),
}
"""Kinds of tampering by name: each makes a bundle that must be refused."""
