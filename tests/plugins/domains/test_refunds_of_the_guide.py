"""The domain of docs/guide/adding-a-domain.md that reads a file: every bad line is told."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework import registry
from framework.errors import UserError
from tests.docs.markdown import blocks

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "adding-a-domain.md"
TEXTS = {block.title: block.text for block in blocks(PAGE) if block.title}
FIRST = json.loads(TEXTS["refunds.jsonl"].splitlines()[0])


@pytest.fixture
def refunds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    file = tmp_path / "refunds_of_the_guide.py"
    file.write_text(TEXTS["plugins/domains/refunds.py"], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    yield module
    registry._plugins.pop(("domain", "refunds"))


def line(*, document: dict[str, Any] | None = None, **changed: Any) -> bytes:
    """The first request of the page, changed; None leaves a key out."""
    request = json.loads(json.dumps(FIRST)) | changed
    request["documents"] = changed.get("documents", request["documents"])
    if document is not None:
        request["documents"][1] |= document
        request["documents"][1] = {
            k: v for k, v in request["documents"][1].items() if v is not None
        }
    return json.dumps({k: v for k, v in request.items() if v is not None}).encode()


MISTAKES = {
    "empty file": (b"", ": no requests"),
    "no JSON": (b"{", ":1: not JSON: Expecting property name"),
    "Latin-1": (line(id="r0") + b'\n{"id": "caf\xe9"}', ":2: not UTF-8 text"),
    "no object": (b"[1]", ":1: request: an object expected"),
    "a document without text": (line(document={"text": None}), ":1: text: text expected"),
    "documents a text": (line(documents="one"), ":1: documents: a list of objects expected"),
    "no date": (
        line(document={"date": "04/03/2026"}),
        ":1: date: Invalid isoformat string: '04/03/2026'",
    ),
    "another decision": (line(decision="MAYBE"), ":1: decision: text of the form APPROVE|DENY"),
    "days in words": (line(days="ten"), ":1: days: a whole number expected"),
    "a fact that no document says": (line(days=13), ":1: documents: none says 'Days since"),
    "no policy": (line(documents=FIRST["documents"][1:]), ":1: documents: none of kind policy"),
    "an id twice": (line() + b"\n" + line(), ":2: r1 appears twice"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_file_and_line(
    refunds: Any, tmp_path: Path, mistake: str
) -> None:
    data, told = MISTAKES[mistake]
    file = tmp_path / "bad.jsonl"
    file.write_bytes(data)
    with pytest.raises(UserError) as caught:
        refunds.Refunds(refunds.RefundsSettings(path=str(file)))
    assert str(caught.value).startswith(f"{file}{told}")


def test_a_line_separator_in_a_text_ends_no_line(refunds: Any, tmp_path: Path) -> None:
    file = tmp_path / "good.jsonl"
    text = FIRST["documents"][1]["text"] + " One line\u2028and the next."
    request = json.loads(line(document={"text": text}))
    file.write_text(json.dumps(request, ensure_ascii=False), encoding="utf-8")
    domain = refunds.Refunds(refunds.RefundsSettings(path=str(file)))
    assert [event.text for event in domain.history("r1")][1] == text
    assert next(domain.cases(1, 0)).gold.decision == "DENY"
