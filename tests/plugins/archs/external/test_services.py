"""The mappings of hosted services, each against a stub with the shapes that its API documents.

A stub does at once what the service may do later, and searches by shared words. What is tested is
that requests are those of the documents and the official clients, and that answers are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from framework.errors import UserError
from framework.records import Event
from framework.registry import find, settings_of
from plugins.archs.external.canaries import check
from plugins.archs.external.http import HttpMemory, HttpSettings, HttpSystem
from tests.plugins.archs.external.toy import Toy

CONF = Path(__file__).resolve().parents[4] / "conf/arch"
KEYS = {
    "letta": {"LETTA_API_KEY": "letta-secret", "LETTA_ARCHIVE": "archive-7"},
    "zep": {"ZEP_API_KEY": "zep-secret"},
    "supermemory": {"SUPERMEMORY_API_KEY": "sm-secret"},
}

Told = dict[str, Any]
Stub = Callable[[str, Told], Any]
"""The answer to a path and a body; KeyError: a field is missing; None: no such path."""


class Stores:
    """A store for each history, and ids of the service's own."""

    def __init__(self) -> None:
        self.toys: dict[str, Toy] = {}

    def add(self, name: str, text: str) -> str:
        toy = self.toys.setdefault(name, Toy())
        uid = f"{name}-{len(toy.events)}"
        toy.write({"id": uid, "text": text})
        return uid

    def search(self, name: str, told: Told) -> list[Told]:
        return self.toys.setdefault(name, Toy()).search(told["query"], told["limit"])


def letta(stores: Stores) -> Stub:
    def answer(path: str, told: Told) -> Any:
        if path == "/archives/archive-7/passages":
            uid = stores.add(told["tags"][0], told["text"])
            return {"id": uid, "text": told["text"], "archive_id": "archive-7"}
        if path == "/passages/search":
            assert (told["archive_id"], told["tag_match_mode"]) == ("archive-7", "all")
            found = stores.search(told["tags"][0], told)
            return [{"passage": dict(one), "score": 0.5, "metadata": {}} for one in found]
        return None

    return answer


def zep(stores: Stores) -> Stub:
    graphs = set[str]()

    def answer(path: str, told: Told) -> Any:
        if path == "/graph/create":
            graphs.add(told["graph_id"])
            return {"graph_id": told["graph_id"], "uuid": "g-1", "created_at": "2026-01-01"}
        if told["graph_id"] not in graphs:
            return None
        if path == "/graph":
            assert told["type"] == "text"
            uid = stores.add(told["graph_id"], told["data"])
            return {"uuid": uid, "content": told["data"], "created_at": "2026-01-01"}
        if path == "/graph/search":
            assert told["scope"] == "edges"
            assert told["limit"] <= 50
            found = stores.search(told["graph_id"], told)
            return {
                "edges": [
                    {"uuid": f"edge-{one['id']}", "fact": one["text"], "episodes": [one["id"]]}
                    for one in found
                ]
            }
        return None

    return answer


def supermemory(stores: Stores) -> Stub:
    def answer(path: str, told: Told) -> Any:
        parts = re.fullmatch("/ns/([^/]+)/(document|search)", path)
        if parts is None:
            return None
        if parts[2] == "document":
            stores.add(parts[1], told["content"])
            return {"id": told["id"], "status": "queued"}
        assert told["searchMode"] == "memories"
        found = stores.search(parts[1], told)
        results = [
            {"id": f"m-{one['id']}", "memory": one["text"], "similarity": 0.5, "metadata": {}}
            for one in found
        ]
        return {"results": results, "searchTime": 12.0}

    return answer


STUBS = {"letta": letta, "zep": zep, "supermemory": supermemory}


class AnyPath(str):
    """Every path."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def served(name: str, server: HTTPServer) -> HttpSettings:
    """The mapping, with the address of its stub."""
    stub, key = STUBS[name](Stores()), next(iter(KEYS[name].values()))

    def handle(request: Request) -> Response:
        if key not in request.headers.get("Authorization", ""):
            return Response("{}", status=401)
        try:
            answer = stub(request.path, json.loads(request.data))
        except (KeyError, AssertionError) as wrong:
            return Response(f"not as documented: {wrong!r}", status=400)
        return Response(json.dumps(answer), status=404 if answer is None else 200)

    server.expect_request(AnyPath()).respond_with_handler(handle)
    values = yaml.safe_load((CONF / f"{name}.yaml").read_text())
    assert values.pop("defaults") == ["http", "_self_"]
    made = settings_of(find("arch", "http"), {**values, "address": server.url_for("").rstrip("/")})
    assert isinstance(made, HttpSettings)
    return made


@pytest.fixture(params=sorted(STUBS))
def name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A service, its user's keys set."""
    found: str = request.param
    for variable, value in KEYS[found].items():
        monkeypatch.setenv(variable, value)
    return found


def test_its_requests_and_answers_are_as_documented(name: str, httpserver: HTTPServer) -> None:
    settings = served(name, httpserver)
    for canary in ("answers", "empty", "recalls", "limit", "late", "tenants", "fresh", "ids"):
        finding = check(canary, HttpMemory, settings)
        assert finding.passed, f"{canary}: {finding.text}"


def test_what_it_finds_is_an_event_where_it_says_so(name: str, httpserver: HTTPServer) -> None:
    settings = served(name, httpserver)
    system = HttpSystem(settings, "t1")
    system.write(Event(id="e1", text="The gate code is 17.", time="2026-03-01", kind="note"))
    (found,) = system.search("gate code", 5)
    system.close()
    assert found.text == "The gate code is 17."
    assert bool(found.ids) == (name != "supermemory")


def test_without_its_key_nothing_is_started(
    name: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = served(name, httpserver)
    monkeypatch.delenv(next(iter(KEYS[name])))
    with pytest.raises(UserError, match="is not set in the environment"):
        settings.require_calls()
