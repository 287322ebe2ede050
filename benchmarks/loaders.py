"""What reads bytes that others wrote: every loader and parser by its name, with a valid input."""

from __future__ import annotations

import atexit
import gzip
import io
import json
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from yaml import YAMLError

from benchmarks import inputs
from benchmarks.sealed import KEY, SealedRun
from framework.analysis.sheets import read_labels
from framework.contracts import Operation
from framework.contracts.calibration import ErrorRates, calibration_in
from framework.contracts.importer import Importer
from framework.errors import UserError
from framework.models.prices import prices, prices_digest
from framework.registry import find, settings_of
from framework.store import Journal, verify
from framework.store.hypotheses import read_file
from framework.text.expressions import evaluate
from framework.text.hunks import hunks_of
from framework.text.reading import read_json, read_yaml
from plugins.archs.external._mapping import AnswerPaths, SystemFailed
from plugins.archs.external._recorded import Recorded
from plugins.authors.scripted import ScriptedSettings
from plugins.commands.leaderboard.bundle import CONTENTS, FORMAT, SIGNATURE, Refused, unpack
from plugins.commands.leaderboard.rules import RULES, read_rules
from plugins.domains.bank_support.actions import parsed
from plugins.domains.governance.invariant import values_of
from plugins.domains.regulated.hmda import margins_of
from plugins.domains.regulated.loading import load_spec
from plugins.judging.compare import judged_in_table
from plugins.models._batches import lines_of
from plugins.models.local.gguf import weights_of
from plugins.protocols.improve.stack import Rejected, read_candidate
from plugins.recipes.longhorizon._rows import read_rows

ROOT: Final = Path(__file__).resolve().parents[1]
FIXTURES: Final = ROOT / "tests" / "fixtures"


@dataclass(frozen=True, slots=True)
class Loader:
    """What reads bytes, valid ones, and the errors that it documents."""

    read: Callable[[bytes], object]
    valid: bytes
    refuses: tuple[type[Exception], ...] = (UserError,)


def _of_file(read: Callable[[Path], object], name: str) -> Callable[[bytes], object]:
    """A reader of files as one of bytes."""

    def given(data: bytes) -> object:
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / name
            path.write_bytes(data)
            return read(path)

    return given


def _text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode(errors="replace"))


def _domain(name: str, **more: Any) -> Callable[[Path], object]:
    """Making a domain of a file, its first case and that one's history."""

    def read(path: Path) -> object:
        plugin = find("domain", name)
        told = {"unknown_file": True} if hasattr(plugin.cls.Settings, "unknown_file") else {}
        domain = plugin.cls(settings_of(plugin, {"path": str(path), **told, **more}))
        case = next(iter(domain.cases(1, 7)), None)
        return None if case is None else list(domain.history(case.history_id))

    return read


def _journal() -> bytes:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "journal.jsonl"
        with Journal.create(path) as journal:
            journal.append("case.done", {"score": 1})
            journal.finish({})
        return path.read_bytes()


@cache
def _folder(name: str) -> Path:
    """A copy of a fixture's files, for as long as the process lives."""
    target = Path(tempfile.mkdtemp(prefix="fuzz-")) / name
    atexit.register(shutil.rmtree, target.parent, ignore_errors=True)
    shutil.copytree(FIXTURES / name, target)
    return target


def _among(domain: str, file: str, **settings: str) -> Loader:
    """A domain of several files, one of which is given; `settings` name files beside it."""
    folder, _, name = file.partition("/")

    def read(data: bytes) -> object:
        copy = _folder(folder)
        (copy / name).write_bytes(data)
        paths = {key: str(copy / value) for key, value in settings.items()}
        return _domain(domain, **paths)(Path(paths.pop("path", copy)))

    return Loader(read, (FIXTURES / file).read_bytes())


def _imported(form: str, name: str, valid: bytes, *others: bytes) -> Loader:
    """A corpus as it is published, of one document that is given, or more."""

    def read(path: Path) -> object:
        importer: Importer = find("importer", form).cls()
        for other in others:
            path.with_name(name.replace("1.", "2.").replace("1-", "2-")).write_bytes(other)
        source = path.parent if others else path
        return importer.write(source, path.parent / "corpus.out", "")

    return Loader(_of_file(read, name), valid)


def _mapping(data: bytes) -> object:
    """A mapping as an option's file holds it."""
    given = read_yaml(data.decode(errors="replace"))
    if not isinstance(given, dict):
        raise ValueError("a mapping expected")
    return settings_of(find("arch", "http"), given)


def _bundle(data: bytes) -> object:
    """A bundle with these contents, signed."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(CONTENTS, data)
        archive.writestr(SIGNATURE, KEY.sign(data).hex())
        for name in _KEPT:
            archive.writestr(name, b"{}")
    return _zip(packed.getvalue())


def _zip(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "b.zip"
        path.write_bytes(data)
        return unpack(path, Path(scratch) / "out")


def _batch(path: Path) -> object:
    """The records of batches beside a cache."""
    plugin = find("model", "openai")
    cache_file = path.parent.with_suffix("")
    given = {"cache": str(cache_file), "base_url": "http://127.0.0.1:9/v1", "batch": True}
    return plugin.cls(settings_of(plugin, given))._known("k")


def _batches(data: bytes) -> object:
    with tempfile.TemporaryDirectory(suffix=".batches") as scratch:
        path = Path(scratch) / "b.json"
        path.write_bytes(data)
        return _batch(path)


def _exchanges(data: bytes) -> object:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "exchanges.gz"
        path.write_bytes(gzip.compress(data))
        return Recorded(path, {}, ("a",))


def _asked(questions: bytes, script: bytes | None = None) -> object:
    """Questions asked of a database that a script makes."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "questions.yaml"
        file.write_bytes(questions)
        path = file.with_name("database.sql")
        path.write_bytes(inputs.SCRIPT if script is None else script)
        return _domain("text_to_sql", questions=str(file))(path)


def _audited(data: bytes) -> object:
    """A calibration set whose three files are this one."""
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("errors", "wrong_answers_v1", "wrong_answers_v2"):
            (Path(scratch) / f"{name}.json").write_bytes(data)
        plugin = find("calibration", "locomo_audit")
        return list(plugin.cls(settings_of(plugin, {"path": scratch})).answers())


def _calibrated(path: Path) -> object:
    return ErrorRates.read(str(path), "x"), calibration_in(str(path))


def _archive() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENTS, _CONTENTS)
        archive.writestr(SIGNATURE, KEY.sign(_CONTENTS).hex())
        for name in _KEPT:
            archive.writestr(name, b"{}")
    return packed.getvalue()


_KEPT: Final = ("runs/r/journal.jsonl", "runs/r/answers.jsonl")
_CONTENTS: Final = json.dumps(
    {
        "format": FORMAT, "submitter": "me", "key": KEY.public_key().public_bytes_raw().hex(),
        "files": {name: {"sha256": sha256(b"{}").hexdigest(), "bytes": 2} for name in _KEPT},
    }
).encode()  # fmt: skip
_BATCH: Final = json.dumps(
    {"provider": "openai", "base_url": "http://127.0.0.1:9/v1", "name": "b", "created": 1.5,
     "requests": ["k"], "id": None, "sending": None, "not_ours": []}
).encode()  # fmt: skip
_EDIT: Final = b'[{"component": "a", "setting": "b", "value": "3"}]'
LOADERS: Final[Mapping[str, Loader | SealedRun]] = {
    "json": Loader(read_json, b'{"a": [1, {"b": null}], "c": "x"}', (ValueError,)),
    "yaml": Loader(_text(read_yaml), b"a: &x [1, 2]\nb: {c: *x}\n", (YAMLError, ValueError)),
    "answer": Loader(
        _text(Operation.json_object), b'Sure: {"answer": "Paris", "evidence": ""}', (ValueError,)
    ),
    "patch": Loader(
        _text(hunks_of), b'{"edits":[{"file":"a","search":"b","replace":"c"}]}', (ValueError,)
    ),
    "settings": Loader(_text(lambda text: values_of(text, "a")), _EDIT, ()),
    "actions": Loader(_text(parsed), b'[{"name": "a", "arguments": {"b": 1}}]', ()),
    "journal": Loader(_of_file(verify, "journal.jsonl"), _journal()),
    "candidate": Loader(
        _text(lambda text: read_candidate(text, ["score"], {}, takes_code=False)),
        b'{"seam": "score", "expression": "recency + 1", "why": "x"}',
        (Rejected,),
    ),
    "formula": Loader(
        _text(lambda text: evaluate(text, {"a": 2, "b": 3})), b"a / (b - 1) + max(a, 2)",
        (ValueError,),
    ),
    "hypotheses": Loader(
        _of_file(read_file, "h.yaml"), inputs.HYPOTHESES
    ),
    "spec": Loader(
        _of_file(load_spec, "s.yaml"), (ROOT / "docs" / "guide" / "vendor_permit.yaml").read_bytes()
    ),
    **{
        name: Loader(_of_file(_domain(name), file.rpartition("/")[2]),
                     (FIXTURES / file).read_bytes())
        for name, file in (
            ("hotpotqa", "hotpotqa/questions.json"),
            ("musique", "musique/questions.jsonl"),
            ("two_wiki", "two_wiki/questions.json"),
            ("locomo", "locomo/two.json"),
            ("longmemeval", "longmemeval/questions.json"),
            ("beam", "beam/chats.jsonl"),
            ("dmr", "dmr/questions.jsonl"),
            ("memory_agent_bench", "memory_agent_bench/records.jsonl"),
        )
    },
    "veterans": Loader(
        _of_file(_domain("veterans", haystack=4), "decisions.json"),
        (FIXTURES / "veterans" / "decisions.json").read_bytes(),
    ),
    "airline_fees": _among("airline_fees", "airline_fees/synthesized_problems/comp_0.jsonl"),
    "airline_fees (rules)": _among("airline_fees", "airline_fees/reference_rules_textual.txt"),
    "regulation_updates": _among(
        "regulation_updates", "regulation_updates/regulation/2015-9_20160501.xml"
    ),
    "regulation_updates (notice)": _among(
        "regulation_updates", "regulation_updates/notice/2015-9.xml"
    ),
    "decision_corpus": Loader(
        _of_file(_domain("decision_corpus"), "corpus.jsonl"),
        (FIXTURES / "decision_corpus" / "harbour.jsonl").read_bytes(),
    ),
    "front_matter": _imported("front_matter", "h1.md", inputs.FRONT, inputs.OTHER),
    "adr": _imported("adr", "0001-ledger.md", inputs.ADR, inputs.ADR.replace(b"# 1.", b"# 2.")),
    "peps": _imported(
        "peps", "pep-8801.rst", inputs.PEP,
        inputs.PEP.replace(b"8801", b"8802").replace(b"Replaces: 8802\n", b""),
    ),
    "eips": _imported(
        "eips", "eip-9001.md", inputs.EIP,
        inputs.EIP.replace(b"9001", b"9002").replace(b"requires: 9002\n", b""),
    ),
    "jsonl": _imported("jsonl", "lines.jsonl", inputs.LINE),
    **{
        f"bank_support ({name})": _among(
            "bank_support", f"bank_support/{name}.json", path="documents.json",
            tasks="tasks.json", database="records.json",
        )
        for name in ("documents", "tasks", "records")
    },
    "spider": _among("spider", "spider/dev.json"),
    "spider (tables)": _among("spider", "spider/tables.json"),
    "text_to_sql": Loader(_asked, inputs.QUESTIONS),
    "text_to_sql (script)": Loader(lambda data: _asked(inputs.QUESTIONS, data), inputs.SCRIPT),
    "personamem": _among(
        "personamem", "personamem/questions.csv", path="questions.csv", contexts="contexts.jsonl"
    ),
    "personamem (contexts)": _among(
        "personamem", "personamem/contexts.jsonl", path="questions.csv", contexts="contexts.jsonl"
    ),
    **{
        f"swe_contextbench ({name})": _among(
            "swe_contextbench", f"swe_contextbench/{name}.jsonl", path="related.jsonl",
            experience="experience.jsonl", relationship="relationship.jsonl",
        )
        for name in ("related", "experience", "relationship")
    },
    "mapping": Loader(_mapping, inputs.MAPPING, (UserError, YAMLError, ValueError)),
    "mapping (answer)": Loader(
        lambda data: AnswerPaths(items="results", text="memory", id="id", score="score").read(
            read_json(data)
        ),
        b'{"results": [{"memory": "a", "id": "1", "score": 0.5},'
        b' {"memory": "b", "id": [2, 3], "score": 1}]}',
        (SystemFailed, ValueError),
    ),
    "exchanges": Loader(
        _exchanges,
        b'{"format": 1, "system": "x"}\n{"key": "k", "texts": ["b"], "found": [[0, ["1"], 0.5]]}\n',
    ),
    "batch": Loader(_batches, _BATCH),
    "batch (answers)": Loader(
        _text(lines_of), b'{"custom_id": "k", "response": {"status_code": 200, "body": {}}}\n',
        (ValueError,),
    ),
    "bundle": Loader(_bundle, _CONTENTS, (Refused,)),
    "bundle (archive)": Loader(_zip, _archive(), (Refused,)),
    "bundle (run)": SealedRun(),
    "hmda": Loader(_of_file(margins_of, "lar.csv"), (FIXTURES / "hmda" / "lar.csv").read_bytes()),
    "board": Loader(_of_file(lambda path: read_rules(path.parent), RULES), inputs.RULES),
    "gguf": Loader(_of_file(weights_of.__wrapped__, "m.gguf"), inputs.GGUF),
    "locomo_audit": Loader(_audited, inputs.AUDITED),
    "scripted": Loader(
        _of_file(lambda path: ScriptedSettings(path=str(path)).script, "drafts.yaml"),
        b"- seam: score\n  expression: recency + 1\n- some text\n",
    ),
    "judges": Loader(
        _of_file(judged_in_table, "judges.csv"), b"case_id,arm,a_FRP,b_FRP\nc1,x,0.5,1\nc2,x,0,1\n"
    ),
    "sheet": Loader(
        _of_file(lambda path: read_labels(path, float, "a number"), "sheet.csv"),
        b'id,text,label\na,"one\ntwo",1\nb,three,0.5\n',
    ),
    "longhorizon": Loader(
        _of_file(read_rows, "rows.csv"),
        b"stage,case_id,condition,budget,strictness,gt,decision,FRP,RCS,EDA,CRR\n"
        b"stage2,c1,raw,loose,,PAY,PAY in full,1,0.5,0,1\n",
    ),
    "prices": Loader(
        _of_file(lambda p: (prices.__wrapped__(p), prices_digest.__wrapped__(p)), "p.yaml"),
        b"models:\n  m: {input: 1.0, output: 2.0, cached: 0.1}\n",
    ),
    "calibration": Loader(_of_file(_calibrated, "c.json"), inputs.CALIBRATED),
}  # fmt: skip
"""Every loader by its name."""
