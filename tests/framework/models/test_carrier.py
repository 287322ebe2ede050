"""Calls that outlive their run: what was asked for is stored and booked, whoever was killed."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from framework.models.spending import Spending, Spent
from tests.framework.models.test_stopping import wait_until

ASK = """
import asyncio, sys
from pathlib import Path
from framework.models.carrier import carried
from framework.models.spending import Spending, spent_on
from framework.records import Usage
from plugins.models.openai import OpenAI, OpenAISettings

async def main():
    model = OpenAI(OpenAISettings(
        name="counted", base_url=sys.argv[1], api_key_env=None, cache="responses", retries=0))
    body = {"model": "counted", "messages": [{"role": "user", "content": "say"}], "max_tokens": 9}
    try:
        with carried(), spent_on(Spending(Path("account"), "run")):
            asked = model.answer("chat", body, 0, Usage())
            response, usage = await asyncio.wait_for(asked, float(sys.argv[2]))
        print(response.text, usage.paid_calls)
    except Exception as error:
        print(type(error).__name__, error)
    await model.close()

asyncio.run(main())
"""


class Provider(ThreadingHTTPServer):
    """Answers when it may, and counts what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.asked, self.status = 0, 200
        self.may_answer = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked has gone."""


class _Answer(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        self.server.may_answer.wait(60)
        said = {"message": {"content": "said"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        body = json.dumps({"choices": [said], "usage": usage, "model": "counted"}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    monkeypatch.chdir(tmp_path)
    with Provider() as server:
        yield server
        server.may_answer.set()
        server.shutdown()


def ask(provider: Provider, within_s: float = 60.0) -> subprocess.Popen[str]:
    """A process that asks; the text and whether it was paid for are on its output."""
    address = f"http://127.0.0.1:{provider.server_port}/v1"
    command = [sys.executable, "-c", ASK, address, str(within_s)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def total() -> Spent:
    """What was spent, as a run that is resumed counts it."""
    account = Spending(Path("account"), "run")
    try:
        return account.total()
    finally:
        account.close()


def test_what_was_asked_for_when_its_process_was_killed_is_not_paid_for_again(
    provider: Provider,
) -> None:
    killed = ask(provider)
    wait_until(lambda: provider.asked == 1)
    killed.kill()
    killed.wait()
    again = ask(provider)  # while the answer is still under way
    provider.may_answer.set()
    assert again.communicate()[0] == "said 0\n"
    assert killed.communicate()[0] == ""
    assert provider.asked == 1
    assert (total().calls, total().lost_calls) == (1, 0)


def test_an_answer_is_stored_though_whoever_asked_does_nothing_any_more(
    provider: Provider,
) -> None:
    stopped = ask(provider)
    wait_until(lambda: provider.asked == 1)
    stopped.send_signal(19)  # SIGSTOP: it takes in nothing
    provider.may_answer.set()
    wait_until(lambda: total().calls == 1)
    stopped.kill()
    stopped.communicate()
    assert ask(provider).communicate()[0] == "said 0\n"
    assert provider.asked == 1


def test_a_call_that_is_cancelled_is_written_off_at_once(provider: Provider) -> None:
    asking = ask(provider, within_s=1.5)
    assert asking.communicate()[0] == "TimeoutError \n"
    assert (total().calls, total().lost_calls) == (0, provider.asked)


def test_a_refusal_comes_back_as_it_is(provider: Provider) -> None:
    provider.status = 401
    provider.may_answer.set()
    said = ask(provider).communicate()[0]
    assert said.startswith("StopRun model=openai counted at http://127.0.0.1:")
    assert "401" in said
    provider.status = 422
    assert ask(provider).communicate()[0].startswith("ModelError chat: 422")


def test_one_that_dies_itself_fails_the_call(provider: Provider) -> None:
    asking = ask(provider)
    wait_until(lambda: provider.asked == 1)
    children = Path(f"/proc/{asking.pid}/task/{asking.pid}/children").read_text().split()
    assert len(children) == 1
    subprocess.run(["kill", "-9", *children], check=True)
    assert asking.communicate()[0].startswith("StopRun ")
