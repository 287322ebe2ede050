"""The mappings of hosted services, each against a stub with the shapes that its API documents.

A stub does at once what the service may do later, and searches by shared words. What is tested is
that requests are those of the documents and the official clients, and that answers are read.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
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
    "honcho": {"HONCHO_API_KEY": "honcho-secret"},
    "memobase": {"MEMOBASE_API_KEY": "memobase-secret"},
    "mirix": {"MIRIX_API_KEY": "mirix-secret", "MIRIX_META_AGENT": "agent-3"},
    "memmachine": {},
}
TRACED = ("supermemory", "honcho", "memobase", "mirix")
"""Whose results name no event."""

Told = dict[str, Any]
Stub = Callable[[str, Told], Any]
"""The answer to a path and a body or parameters, none of which is left out: KeyError where a field
is missing; None: no such path."""


class Stores:
    """A store for each history, and ids of the service's own."""

    def __init__(self) -> None:
        self.toys: dict[str, Toy] = {}
        self.asked = Counter[str]()

    def add(self, name: str, text: str) -> str:
        toy = self.toys.setdefault(name, Toy())
        uid = f"{name}-{len(toy.events)}"
        toy.write({"id": uid, "text": text})
        return uid

    def search(self, name: str, query: str, limit: int | str) -> list[Told]:
        return self.toys.setdefault(name, Toy()).search(query, int(limit))

    def is_ready(self, what: str) -> bool:
        """Whether something is processed: not yet when it is first asked."""
        self.asked[what] += 1
        return self.asked[what] > 1


def letta(stores: Stores) -> Stub:
    def answer(path: str, told: Told) -> Any:
        if path == "/archives/archive-7/passages":
            uid = stores.add(told["tags"][0], told["text"])
            return {"id": uid, "text": told["text"], "archive_id": "archive-7"}
        if path == "/passages/search":
            assert (told["archive_id"], told["tag_match_mode"]) == ("archive-7", "all")
            found = stores.search(told["tags"][0], told["query"], told["limit"])
            return [{"passage": dict(one), "score": 0.5, "metadata": {}} for one in found]
        return None

    return answer


def zep(stores: Stores) -> Stub:
    graphs = set[str]()

    def answer(path: str, told: Told) -> Any:
        if path == "/graph/create":
            graphs.add(told["graph_id"])
            return {"graph_id": told["graph_id"], "uuid": "g-1", "created_at": "2026-01-01"}
        if episode := re.fullmatch("/graph/episodes/([^/]+)", path):
            return {"uuid": episode[1], "processed": stores.is_ready(episode[1])}
        if told["graph_id"] not in graphs:
            return None
        if path == "/graph":
            assert told["type"] == "text"
            uid = stores.add(told["graph_id"], told["data"])
            return {"uuid": uid, "content": told["data"], "created_at": "2026-01-01"}
        if path == "/graph/search":
            assert told["scope"] == "edges"
            assert told["limit"] <= 50
            found = stores.search(told["graph_id"], told["query"], told["limit"])
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
        parts = re.fullmatch("/ns/([^/]+)/(document|search)(?:/([^/]+))?", path)
        if parts is None:
            return None
        if parts[3]:
            dreaming = "done" if stores.is_ready(path) else "dreaming"
            return {"id": parts[3], "system": {"status": "done", "dreamingStatus": dreaming}}
        if parts[2] == "document":
            stores.add(parts[1], told["content"])
            return {"id": told["id"], "status": "queued"}
        assert told["searchMode"] == "memories"
        found = stores.search(parts[1], told["query"], told["limit"])
        results = [
            {"id": f"m-{one['id']}", "memory": one["text"], "similarity": 0.5, "metadata": {}}
            for one in found
        ]
        return {"results": results, "searchTime": 12.0}

    return answer


def honcho(stores: Stores) -> Stub:
    made = set[str]()

    def answer(path: str, told: Told) -> Any:
        if path == "/workspaces":
            made.add(told["id"])
            return {"id": told["id"], "metadata": {}, "created_at": "2026-01-01T00:00:00Z"}
        parts = re.fullmatch("/workspaces/([^/]+)/(.+)", path)
        if parts is None or parts[1] not in made:
            return None
        if parts[2] == "sessions/history/messages":
            (message,) = told["messages"]
            assert message.keys() == {"content", "peer_id", "metadata"}
            uid = stores.add(parts[1], message["content"])
            return [{**message, "id": uid, "session_id": "history", "token_count": 9}]
        if parts[2] == "queue/status":
            left = 0 if stores.is_ready(path) else 2
            units = {"total_work_units": 2, "completed_work_units": 2 - left}
            return {**units, "in_progress_work_units": 0, "pending_work_units": left}
        if parts[2] == "conclusions/query":
            assert told["filters"] == {"observer_id": "user", "observed_id": "user"}
            assert told["top_k"] <= 100
            found = stores.search(parts[1], told["query"], told["top_k"])
            return [{"id": f"c-{one['id']}", "content": one["text"]} for one in found]
        return None

    return answer


def memobase(stores: Stores) -> Stub:
    buffers: dict[str, list[str]] = {}

    def answer(path: str, told: Told) -> Any:
        if path == "/users":
            assert uuid.UUID(told["id"]).version == 4
            buffers[told["id"]] = []
            return {"data": {"id": told["id"]}, "errno": 0, "errmsg": ""}
        user = next(name for name in buffers if name in path)
        if path == f"/blobs/insert/{user}":
            assert told["blob_type"] == "chat"
            (message,) = told["blob_data"]["messages"]
            assert message["role"] == "user"
            buffers[user].append(message["content"])
            return {"data": {"id": "b-1"}, "errno": 0, "errmsg": ""}
        if path == f"/users/buffer/{user}/chat":
            assert told["wait_process"] == "true"
            for text in buffers[user]:
                stores.add(user, text)
            buffers[user].clear()
            return {"data": [], "errno": 0, "errmsg": ""}
        if path == f"/users/event_gist/search/{user}":
            found = stores.search(user, told["query"], told["topk"])
            gists = [{"id": "g-1", "gist_data": {"content": one["text"]}} for one in found]
            return {"data": {"gists": gists, "events": []}, "errno": 0, "errmsg": ""}
        return None

    return answer


def memmachine(stores: Stores) -> Stub:
    def answer(path: str, told: Told) -> Any:
        assert told["org_id"] == "decisionbench"
        project = told["project_id"]
        if path == "/projects":
            stores.toys[project] = Toy()
            return {"org_id": told["org_id"], "project_id": project, "description": ""}
        assert project in stores.toys
        assert told["types"] == ["episodic"]
        if path == "/memories":
            (message,) = told["messages"]
            return {"results": [{"uid": stores.add(project, message["content"])}]}
        if path == "/memories/search":
            found = stores.search(project, told["query"], told["top_k"])
            episodes = [{"uid": one["id"], "content": one["text"]} for one in found]
            both = {
                "long_term_memory": {"episodes": episodes[:-1]},
                "short_term_memory": {"episodes": episodes[-1:], "episode_summary": [""]},
            }
            return {"status": 0, "content": {"episodic_memory": both, "semantic_memory": None}}
        return None

    return answer


def mirix(stores: Stores) -> Stub:
    def answer(path: str, told: Told) -> Any:
        if path == "/users/create_or_get":
            assert told["name"] == told["user_id"]
            return {"id": told["user_id"], "name": told["name"]}
        if path == "/memory/add":
            assert (told["meta_agent_id"], told["async_add"]) == ("agent-3", False)
            (message,) = told["messages"]
            (part,) = message["content"]
            stores.add(told["user_id"], part["text"])
            return {"success": True, "message": "", "status": "done", "message_count": 1}
        if path == "/memory/search":
            assert (told["memory_type"], told["search_field"]) == ("episodic", "details")
            found = stores.search(told["user_id"], told["query"], told["limit"])
            results = [
                {"memory_type": "episodic", "id": "e-1", "summary": "", "details": one["text"]}
                for one in found
            ]
            return {"success": True, "results": results, "count": len(results)}
        return None

    return answer


STUBS = {
    "letta": letta,
    "zep": zep,
    "supermemory": supermemory,
    "honcho": honcho,
    "memobase": memobase,
    "memmachine": memmachine,
    "mirix": mirix,
}


class AnyPath(str):
    """Every path."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def served(name: str, server: HTTPServer) -> HttpSettings:
    """The mapping, with the address of its stub."""
    stub, key = STUBS[name](Stores()), next(iter(KEYS[name].values()), "")

    def handle(request: Request) -> Response:
        sent = request.headers.get("Authorization") or request.headers.get("X-API-Key", "")
        if key not in sent:
            return Response("{}", status=401)
        try:
            told = {**request.args, **(json.loads(request.data) if request.data else {})}
            answer = stub(request.path, told)
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
    monkeypatch.setattr("plugins.archs.external._calls._EVERY_S", 0.001)
    return found


@pytest.mark.slow
def test_its_requests_and_answers_are_as_documented(name: str, httpserver: HTTPServer) -> None:
    settings = served(name, httpserver)
    for canary in ("answers", "empty", "recalls", "limit", "late", "tenants", "fresh", "ids"):
        finding = check(canary, HttpMemory, settings)
        assert finding.passed, f"{canary}: {finding.text}"


def test_what_it_finds_is_an_event_where_it_says_so(name: str, httpserver: HTTPServer) -> None:
    settings = served(name, httpserver)
    system = HttpSystem(settings, str(uuid.uuid4()))
    system.write(Event(id="e1", text="The gate code is 17.", time="2026-03-01", kind="note"))
    (found,) = system.search("gate code", 5)
    system.close()
    assert found.text == "The gate code is 17."
    assert bool(found.ids) == (name not in TRACED)


@pytest.mark.parametrize("name", [name for name in sorted(STUBS) if KEYS[name]], indirect=True)
def test_without_its_key_nothing_is_started(
    name: str, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = served(name, httpserver)
    monkeypatch.delenv(next(iter(KEYS[name])))
    with pytest.raises(UserError, match="is not set in the environment"):
        settings.require_calls()
