"""What is kept of a provider's batches: no paid one is lost, none is taken for another's."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from framework.contracts import Prompt
from framework.errors import UserError
from framework.models.cache import Response
from framework.models.transport import CallFailed
from plugins.models import _batches
from plugins.models._batches import Batched, BatchedSettings, Found, Outcome, Record, lines_of

PARENT = os.getppid()
"""A process that is alive and is not this one."""


@dataclass
class Desk:
    """A provider without names of batches: what it holds, and what it says instead of answers."""

    batches: dict[str, Found] = field(default_factory=dict)
    submitted: int = 0
    refuses: list[CallFailed] = field(default_factory=list)
    answer: Any = "said"


class Provider(Batched[BatchedSettings]):
    provider = "desk"
    sdk = "openai"
    client = "AsyncOpenAI"
    path = ""
    name = "desk"

    def __init__(self, settings: BatchedSettings, desk: Desk) -> None:
        super().__init__(settings)
        self.desk = desk

    def request(
        self, operation: str, prompt: Prompt, schema: Mapping[str, Any] | None, sample: int
    ) -> dict[str, Any]:
        raise NotImplementedError

    def response(self, answer: Any, request: Mapping[str, Any]) -> Response:
        return Response(text=answer["text"], stop="end", tokens_in=1, tokens_out=1)

    async def submit(self, name: str, requests: Mapping[str, Mapping[str, Any]]) -> str:
        self.desk.submitted += 1
        id_ = f"sent-{self.desk.submitted}"
        body = {"text": self.desk.answer} if self.desk.answer else {}
        self.desk.batches[id_] = {key: Outcome(status=200, body=body) for key in requests}
        return id_

    async def find(self, record: Record) -> str | None:
        left = (id_ for id_ in self.desk.batches if id_ not in record.not_ours)
        return next(left, None)

    async def collect(self, id_: str) -> Found | None:
        if self.desk.refuses:
            raise self.desk.refuses.pop(0)
        return self.desk.batches[id_]


@pytest.fixture
def settings(tmp_path: Path) -> BatchedSettings:
    return BatchedSettings(
        name="m",
        base_url="http://127.0.0.1:1",
        batch=True,
        batch_window_s=0.001,
        batch_poll_s=0.001,
        cache=str(tmp_path / "responses.sqlite"),
    )


def keep(settings: BatchedSettings, **values: Any) -> Path:
    """A batch of one request that an earlier process left."""
    place = Path(f"{settings.cache}.batches")
    place.mkdir()
    path = place / "left.json"
    record = {
        "provider": "desk", "base_url": settings.base_url, "name": "left",
        "created": time.time(), "requests": ["k"], "id": None,
    }  # fmt: skip
    path.write_text(json.dumps(record | values))
    return path


def asked(settings: BatchedSettings, desk: Desk, timeout_s: float = 10.0) -> str:
    """What the request `k` is answered."""

    async def ask() -> str:
        made = Provider(settings, desk)
        return (await asyncio.wait_for(made.send_as("sha256:k", {}), timeout_s)).text

    return asyncio.run(ask())


def ours(text: str) -> Found:
    return {"k": Outcome(status=200, body={"text": text})}


@pytest.mark.parametrize("status", ["400", "401", "403"])
def test_a_refusal_to_tell_of_a_batch_does_not_forget_it(
    settings: BatchedSettings, status: str
) -> None:
    path = keep(settings, id="paid")
    desk = Desk({"paid": ours("paid once")}, refuses=[CallFailed(status, "no", again=False)])
    with pytest.raises(CallFailed, match=status) as raised:
        asked(settings, desk)
    assert raised.value.maybe_billed
    assert path.exists()
    assert asked(settings, desk) == "paid once"
    assert desk.submitted == 0


def test_a_batch_that_is_gone_is_forgotten(settings: BatchedSettings) -> None:
    path = keep(settings, id="gone")
    desk = Desk(refuses=[CallFailed("404", "no such batch", again=False)])
    with pytest.raises(CallFailed, match="404"):
        asked(settings, desk)
    assert not path.exists()


def test_lines_end_where_json_lines_end() -> None:
    text = '{"text": "one\u2028two\u0085three"}\n\n{"text": "four"}\n'
    assert [entry["text"] for entry in lines_of(text)] == ["one\u2028two\u0085three", "four"]


def test_a_provider_that_stays_out_of_reach_is_told_of_and_ends_the_wait(
    settings: BatchedSettings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_batches, "_UNREACHED_S", 0.05, raising=False)
    path = keep(settings, id="paid")
    refuses = [CallFailed("503", "down", again=True) for _ in range(10**5)]
    with caplog.at_level(logging.WARNING), pytest.raises(CallFailed, match="503") as raised:
        asked(settings, Desk({"paid": ours("late")}, refuses=refuses), timeout_s=5)
    assert not raised.value.again
    assert len(caplog.messages) == 1
    assert "paid" in caplog.messages[0]
    assert path.exists(), "resumed, it is asked again"


def test_a_batch_of_others_is_put_back_and_ours_is_looked_for(settings: BatchedSettings) -> None:
    path = keep(settings)
    theirs: Found = {"other": Outcome(status=200, body={"text": "theirs"})}
    desk = Desk({"theirs": theirs, "expired": {"another": None}, "ours": ours("ours")})
    assert asked(settings, desk) == "ours"
    assert desk.submitted == 0
    kept = json.loads(path.read_text())
    assert (kept["id"], kept["not_ours"]) == ("ours", ["theirs", "expired"])


def test_only_what_is_found_nowhere_is_sent(settings: BatchedSettings) -> None:
    keep(settings)
    theirs: Found = {"other": Outcome(status=200, body={"text": "theirs"})}
    desk = Desk({"theirs": theirs})
    assert asked(settings, desk) == "said"
    assert desk.submitted == 1


def test_an_answer_that_is_none_can_be_asked_again(settings: BatchedSettings) -> None:
    desk = Desk(answer=None)
    with pytest.raises(CallFailed, match="body"):
        asked(settings, desk)
    desk.answer = "well formed"
    assert asked(settings, desk) == "well formed"
    assert desk.submitted == 2


def test_two_that_wait_for_one_batch_send_nothing_and_leave_its_record_whole(
    settings: BatchedSettings,
) -> None:
    path = keep(settings, id="paid", requests=["k", "m", "n"])
    body = Outcome(status=200, body={"text": "paid once"})
    failed = Outcome(status=500, body={"error": {"message": "no"}})
    desk = Desk({"paid": {"k": body, "m": body, "n": failed}})

    async def both() -> list[Any]:
        # Each has records of its own, as two processes have.
        first, second = Provider(settings, desk), Provider(settings, desk)
        asked = (first.send_as("sha256:k", {}), second.send_as("sha256:m", {}))
        twice = (first.send_as("sha256:n", {}), second.send_as("sha256:n", {}))
        return await asyncio.gather(*asked, *twice, return_exceptions=True)

    *answers, one, other = asyncio.run(both())
    assert [answer.text for answer in answers] == ["paid once"] * 2
    assert isinstance(one, CallFailed)
    assert isinstance(other, CallFailed)
    assert desk.submitted == 0
    assert json.loads(path.read_text())["requests"] == ["k", "m"]
    assert list(path.parent.iterdir()) == [path]


def test_a_record_that_another_process_removes_is_none(
    settings: BatchedSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = keep(settings, id="paid")
    listed = Path.glob

    def removed(self: Path, pattern: str) -> Any:
        found = list(listed(self, pattern))
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Path, "glob", removed)
    assert asked(settings, Desk()) == "said"


@pytest.mark.parametrize(
    "held",
    [b"0", b"[]", b"{}", b"\xff", b'{"provider": "desk", "base_url": "u", "name": "b"}',
     b'{"provider": "desk", "base_url": "u", "name": "b", "created": 1, "requests": 3}'],
)  # fmt: skip
def test_a_record_that_is_none_is_one_line(settings: BatchedSettings, held: bytes) -> None:
    place = Path(f"{settings.cache}.batches")
    place.mkdir(parents=True)
    (place / "b.json").write_bytes(held)
    with pytest.raises(UserError, match=r"b\.json: can't be read: ") as told:
        Provider(settings, Desk())._known("k")
    assert "\n" not in str(told.value)


def test_a_batch_that_a_living_process_is_sending_is_waited_for(settings: BatchedSettings) -> None:
    path = keep(settings, sending=PARENT)
    desk = Desk()

    async def ask() -> str:
        answer = asyncio.ensure_future(Provider(settings, desk).send_as("sha256:k", {}))
        await asyncio.sleep(0.1)
        assert path.exists()
        assert desk.submitted == 0
        desk.batches["theirs"] = ours("sent by them")
        path.write_text(json.dumps(json.loads(path.read_text()) | {"id": "theirs"}))
        path.write_text(json.dumps(json.loads(path.read_text()) | {"sending": None}))
        return (await asyncio.wait_for(answer, 10)).text

    assert asyncio.run(ask()) == "sent by them"
    assert desk.submitted == 0


@pytest.mark.parametrize("sending", [os.getpid(), 2**22 + 1], ids=["this process", "none"])
def test_a_batch_whose_sender_is_gone_is_sent(settings: BatchedSettings, sending: int) -> None:
    """Also where a later process, this one, has the number of the one that was killed."""
    keep(settings, sending=sending)
    desk = Desk()
    assert asked(settings, desk) == "said"
    assert desk.submitted == 1
