"""A memory behind a JSON API: what is declared is sent, and what comes back is read as declared."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from framework.errors import UserError
from framework.records import Event
from framework.registry import find, settings_of
from framework.testing.arch_conformance import ask, check_arch, history, open_arch
from plugins.archs.external._mapping import SystemFailed
from plugins.archs.external.canaries import Canaries, check
from plugins.archs.external.http import HttpMemory, HttpSettings, HttpSystem
from tests.plugins.archs.external.toy import Toy

APART: dict[str, Any] = {
    "add": {
        "path": "/v1/{tenant}/memories",
        "fields": {"content": "{text}", "meta": {"key": "{id}", "when": "{time}"}},
        "id": "memory.uid",
    },
    "search": {
        "path": "/v1/{tenant}/memories",
        "method": "GET",
        "fields": {"q": "{query}", "top": "{limit}"},
    },
    "answer": {"items": "results", "text": "memory.content", "id": "memory.uid", "score": "score"},
}


class Service:
    """A memory service: a store for each tenant, and ids of its own."""

    def __init__(self, fault: str = "") -> None:
        self.fault = fault
        self.stores: dict[str, Toy] = {}
        self.seen: list[Request] = []

    def __call__(self, request: Request) -> Response:
        self.seen.append(request)
        path, _, uid = request.path.partition("/uid-")
        store = self.stores.setdefault(path, Toy(self.fault))
        if request.method == "DELETE" and uid:
            store.forget(f"uid-{uid}")
            return Response(status=204)
        if request.method == "DELETE":
            self.stores.clear()
            return Response(status=204)
        if request.method == "POST":
            told = json.loads(request.data)
            uid = f"uid-{len(store.events)}"
            store.write({"id": uid, "text": told["content"]})
            return _json({"memory": {"uid": uid}})
        found = store.search(request.args["q"], int(request.args["top"]))
        results = [{"memory": {"uid": e["id"], "content": e["text"]}, "score": 0.5} for e in found]
        return _json({"results": results})


def _json(answer: Any) -> Response:
    return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def service(httpserver: HTTPServer) -> Service:
    found = Service()
    httpserver.expect_request(_Any()).respond_with_handler(found)
    return found


class _Any(str):
    """Every path."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def settings(server: HTTPServer, **given: Any) -> HttpSettings:
    values = {**APART, "address": server.url_for("").rstrip("/"), **given}
    made = settings_of(find("arch", "http"), values)
    assert isinstance(made, HttpSettings)
    return made


def test_it_keeps_the_laws_of_an_arm(httpserver: HTTPServer, service: Service) -> None:
    check_arch(HttpMemory, settings(httpserver))


@pytest.mark.slow
def test_it_passes_the_canaries(httpserver: HTTPServer, service: Service) -> None:
    found = {f.name: f for f in Canaries().run(HttpMemory, settings(httpserver), False)}
    assert [name for name, f in found.items() if f.passed is False] == []
    assert found["reset"].passed is None
    assert found["tools"].text == "POST /v1/{tenant}/memories, GET /v1/{tenant}/memories"


def test_requests_are_as_declared(
    httpserver: HTTPServer, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SERVICE_KEY", "secret")
    instance = open_arch(
        HttpMemory, settings(httpserver, headers={"X-Key": "{env.SERVICE_KEY}"}), history()
    )
    items = ask(instance, history(), 3, "credit score")
    assert all(r.headers["X-Key"] == "secret" for r in service.seen)
    assert len({r.path for r in service.seen}) == 1
    first = json.loads(service.seen[0].data)
    assert first["meta"] == {"key": "e1", "when": "2026-03-01"}
    assert dict(service.seen[-1].args) == {"q": "credit score", "top": "3"}
    # The ids are the service's own; those of its answers to the writes lead back to events.
    assert [item.signals["traced"] for item in items] == [1.0, 1.0, 1.0]
    assert {item.source_ids for item in items} == {("e1",), ("e3",), ("e6",)}


SHARED: dict[str, Any] = {
    "add": {**APART["add"], "path": "/memories"},
    "search": {**APART["search"], "path": "/memories"},
    "reset": {"path": "/memories", "method": "DELETE"},
}


def test_a_shared_store_is_reset_for_each_history_and_never_read_by_an_older(
    httpserver: HTTPServer, service: Service
) -> None:
    shared = settings(httpserver, **SHARED)
    for name in ("fresh", "reset", "recalls"):
        assert check(name, HttpMemory, shared).passed, name
    tenants = check("tenants", HttpMemory, shared)
    assert tenants.passed is False
    assert "another history was written to the same store since" in tenants.text


def test_a_reset_of_the_whole_store_keeps_no_histories_apart(
    httpserver: HTTPServer, service: Service
) -> None:
    wiped = settings(httpserver, reset=SHARED["reset"])
    finding = check("tenants", HttpMemory, wiped)
    assert finding.passed is False
    assert "another history was written to the same store since" in finding.text
    assert check("tenants", HttpMemory, settings(httpserver)).passed


_HOLDER = """
import sys, time
from plugins.archs.external._shared import Share
share = Share(sys.argv[1], "another", apart=False, seconds=5)
print("held", flush=True)
sys.stdin.read()
share.close()
print("closed", flush=True)
sys.stdin.close()
time.sleep(60)
"""


@pytest.mark.slow
def test_two_processes_never_share_a_store(httpserver: HTTPServer, service: Service) -> None:
    shared = settings(httpserver, **SHARED, timeout_seconds=1.0)
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, shared.address.replace("127.0.0.1", "localhost")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(SystemFailed, match=r"another process used the same store for 1 s"):
            HttpSystem(shared, "ours")
        assert service.seen == []
        threading.Timer(0.3, holder.stdin.close).start()
        HttpSystem(replace(shared, timeout_seconds=60), "ours").close()  # it waits
        assert holder.stdout.readline() == "closed\n"
    finally:
        holder.kill()
        holder.wait()
        holder.stdin.close()
        holder.stdout.close()


@pytest.mark.slow
def test_a_request_under_way_ends_before_another_history_resets_the_store(
    httpserver: HTTPServer,
) -> None:
    seen: list[str] = []
    under_way = threading.Event()

    def slow(request: Request) -> Response:
        if request.method == "POST":
            under_way.set()
            time.sleep(0.5)
        seen.append(request.method)
        return _json({"memory": {"uid": 1}})

    httpserver.expect_request(_Any()).respond_with_handler(slow)
    shared = settings(httpserver, **SHARED)
    older = HttpSystem(shared, "older")
    writes = threading.Thread(target=older.write, args=(history()[0],))
    writes.start()
    assert under_way.wait(60)
    newer = HttpSystem(shared, "newer")
    writes.join()
    assert seen == ["DELETE", "POST", "DELETE"]
    with pytest.raises(SystemFailed, match="another history was written"):
        older.write(history()[0])
    older.close()
    newer.write(history()[0])
    newer.close()


def test_a_key_is_in_no_error_and_no_result(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "not-a-key-12345678")
    given = settings(httpserver, headers={"Authorization": "Bearer {env.MY_KEY}"})

    def echo(request: Request) -> Response:
        said = request.headers["Authorization"]
        if request.method == "GET":
            return _json({"results": [{"memory": {"content": said, "uid": 1}, "score": 1}]})
        status = request.args.get("status", 401)
        text = f"{'.' * (190 if status == 401 else 70)}{said}"
        return Response(text, status=int(status))

    httpserver.expect_request(_Any()).respond_with_handler(echo)
    no_json = settings(
        httpserver,
        headers={"Authorization": "Bearer {env.MY_KEY}"},
        add={"path": "/{tenant}?status=200", "fields": {"t": "{text}"}},
    )
    for system in (HttpSystem(given, "t"), HttpSystem(no_json, "t")):
        with pytest.raises(
            SystemFailed, match=r"add: (status 401|the answer is no JSON)"
        ) as failed:
            system.write(history()[0])
        assert "sk-" not in str(failed.value)
    with pytest.raises(SystemFailed, match=r"a result holds the value of \{env\.MY_KEY\}"):
        HttpSystem(given, "t").search("x", 1)
    monkeypatch.setenv("MY_KEY", "not-a-key-12345678\nnext")
    with pytest.raises(SystemFailed, match=r"add: ValueError: Invalid header value") as failed:
        HttpSystem(given, "t").write(history()[0])
    assert "sk-" not in str(failed.value)


def test_an_address_may_name_variables(
    httpserver: HTTPServer, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_HOST", f"127.0.0.1:{httpserver.port}")
    given = settings(httpserver, address="http://{env.MEMORY_HOST}/v2")
    open_arch(HttpMemory, given, history())
    assert {request.path.split("/")[1] for request in service.seen} == {"v2"}
    monkeypatch.setenv("MEMORY_HOST", "me:pa55@127.0.0.1")
    with pytest.raises(UserError, match=r"arch\.address: .*MEMORY_HOST\}/v2' given, http") as told:
        open_arch(HttpMemory, given, history())
    assert "pa55" not in str(told.value)


def test_an_address_where_nothing_listens_is_named(httpserver: HTTPServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    given = settings(httpserver, address=f"http://127.0.0.1:{port}")
    with pytest.raises(SystemFailed, match=f"add: nothing listens at 127.0.0.1:{port}$"):
        HttpSystem(given, "t").write(history()[0])


def test_an_address_that_is_wrong_is_told(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secure = settings(httpserver, address=f"https://127.0.0.1:{httpserver.port}")
    with pytest.raises(SystemFailed, match=r"add: SSL\w*Error: .* \(the address says https\)$"):
        HttpSystem(secure, "t").write(history()[0])

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    nowhere = settings(httpserver, address="http://nowhere.invalid")
    with pytest.raises(SystemFailed, match=r"add: no host of the name nowhere\.invalid is known$"):
        HttpSystem(nowhere, "t").write(history()[0])


def test_a_limit_that_is_not_sent_is_told(httpserver: HTTPServer, service: Service) -> None:
    search = {**APART["search"], "fields": {"q": "{query}", "top": 10}}
    for name, came in (("limit", "3 results were asked for, 10 came"), ("plenty", "10 came, and")):
        finding = check(name, HttpMemory, settings(httpserver, search=search))
        assert came in finding.text
        assert finding.text.endswith(": {limit} is nowhere in `search`")


def test_an_answer_of_a_byte_now_and_then_ends_in_time_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            asked, _ = server.accept()
            with asked, contextlib.suppress(OSError):
                for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"x" * 1000:
                    asked.sendall(bytes([byte]))
                    time.sleep(0.1)

        thread = threading.Thread(target=trickle)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        given = settings_of(
            find("arch", "http"), {**APART, "address": address, "timeout_seconds": 0.5}
        )
        assert isinstance(given, HttpSettings)
        begun = time.monotonic()
        with pytest.raises(
            SystemFailed, match=r"add: no answer from 127\.0\.0\.1:\d+ within 0\.5 s"
        ):
            HttpSystem(given, "t").write(history()[0])
        assert time.monotonic() - begun < 60, "it drips for a hundred seconds"
        thread.join()


def test_parameters_are_written_as_in_json_and_a_list_is_one_for_each(
    httpserver: HTTPServer, service: Service
) -> None:
    fields = {"q": "{query}", "top": "{limit}", "full": True, "kind": ["a", "b"], "like": {"x": 1}}
    system = HttpSystem(settings(httpserver, search={**APART["search"], "fields": fields}), "t")
    system.search("score", 3)
    system.close()
    assert service.seen[-1].args.to_dict(flat=False) == {
        "q": ["score"],
        "top": ["3"],
        "full": ["true"],
        "kind": ["a", "b"],
        "like": ['{"x": 1}'],
    }


def test_closing_ends_every_request_that_is_under_way() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:  # which never answers
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        given = settings_of(find("arch", "http"), {**APART, "address": address})
        assert isinstance(given, HttpSettings)
        system = HttpSystem(given, "t")

        def write() -> None:
            with pytest.raises(SystemFailed, match="it was closed"):
                system.write(history()[0])

        writers = [threading.Thread(target=write, daemon=True) for _ in range(2)]
        for writer in writers:
            writer.start()
        connections = [server.accept()[0] for _ in writers]
        for connection in connections:
            connection.recv(1)  # it was sent, so nothing but an answer is missing
        system.close()
        for writer in writers:
            writer.join(20)
        assert not any(writer.is_alive() for writer in writers)
        for connection in connections:
            connection.close()


@pytest.mark.parametrize(
    ("header", "least_s"), [({"Retry-After": "1"}, 1), ({"Retry-After": "Fri, 31 Dec"}, 0), ({}, 0)]
)
def test_what_comes_too_fast_is_asked_again_when_the_server_says(
    header: dict[str, str],
    least_s: float,
    httpserver: HTTPServer,
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("plugins.archs.external.http._AGAIN_S", 0.01)
    refused: list[Request] = []

    def busy(request: Request) -> Response:
        if len(refused) < 2:
            refused.append(request)
            return Response("slow down", status=429, headers=header)
        return service(request)

    httpserver.clear()
    httpserver.expect_request(_Any()).respond_with_handler(busy)
    system, begun = HttpSystem(settings(httpserver), "t"), time.monotonic()
    assert system.write(history()[0]) == "uid-0"
    assert (len(refused), len(service.seen)) == (2, 1)
    assert time.monotonic() - begun >= 2 * least_s
    system.close()


def test_a_server_that_asks_for_more_time_than_there_is_is_told_at_once(
    httpserver: HTTPServer,
) -> None:
    answer = Response("slow down", status=429, headers={"Retry-After": "61"})
    httpserver.expect_request(_Any()).respond_with_response(answer)
    system, begun = HttpSystem(settings(httpserver), "t"), time.monotonic()
    with pytest.raises(SystemFailed, match="add: status 429: slow down"):
        system.write(history()[0])
    assert time.monotonic() - begun < 30
    system.close()


def test_a_field_of_metadata_may_be_part_of_a_path(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/t/0/a/b").respond_with_json({"memory": {"uid": 1}})
    httpserver.expect_request("/r/t").respond_with_json({})
    path = "/t/{metadata.turn}/{metadata.who}{metadata.none}"
    add = {"path": path, "fields": {"t": "{tenant}", "x": "{text}"}}
    system = HttpSystem(settings(httpserver, add=add, reset={"path": "/r/{tenant}"}), "t")
    told = {"turn": "0", "who": "a/b"}
    system.write(Event(id="e", text="x", time="", kind="", metadata=told))


@pytest.mark.parametrize(
    ("respond", "said"),
    [
        (
            lambda _: Response("no\n such <b>user", status=404),
            r"add: status 404: no such <b>user \(POST http://\S+:\d+/v1/\{tenant\}/memories\)$",
        ),
        (lambda _: Response(status=501), r"add: status 501 \(POST http://"),
        (lambda _: Response("<html>"), r"add: the answer is no JSON: '<html>' \(POST http://"),
        (
            lambda _: _json({"id": 1}),
            r"^add\.id: the answer has no 'memory.uid': 'memory' is not in \['id'\]",
        ),
        (lambda _: Response(b" " * (17 << 20)), "it answered more than 16,777,216 bytes"),
    ],
)
def test_what_goes_wrong_is_told(
    respond: Callable[[Request], Response], said: str, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(_Any()).respond_with_handler(respond)
    with pytest.raises(SystemFailed, match=said):
        open_arch(HttpMemory, settings(httpserver, timeout_seconds=60), history())
    httpserver.clear()


def test_an_answer_that_does_not_come_is_told(httpserver: HTTPServer) -> None:
    over = threading.Event()

    def never(_: Request) -> Response:
        over.wait(60)
        return Response("")

    httpserver.expect_request(_Any()).respond_with_handler(never)
    try:
        with pytest.raises(
            SystemFailed, match=r"add: no answer from 127\.0\.0\.1:\d+ within 0\.5 s"
        ):
            open_arch(HttpMemory, settings(httpserver, timeout_seconds=0.5), history())
    finally:
        over.set()
    httpserver.clear()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"address": "localhost:80"}, r"arch\.address: 'localhost:80' given, http\(s\)://host"),
        ({"search": None}, r"arch\.search: it has to be declared"),
        ({"headers": {"K": "{env.NO_SUCH_KEY}"}}, "NO_SUCH_KEY is not set"),
        (
            {"add": {**APART["add"], "path": "/{tenant}/{env.NO_SUCH_KEY}"}},
            r"arch\.add: \{env\.NO_SUCH_KEY\}: NO_SUCH_KEY is not set",
        ),
        ({"headers": {"X-Api-Key": "sk-0123456789"}}, r"arch\.headers: X-Api-Key: a mapping is st"),
        ({"address": "http://me:pa55@localhost"}, r"arch\.address: contains a name or password"),
        ({"address": "http://localhost/v1?key=1"}, r"arch\.address: contains parameters"),
        ({"add": {"path": "/{text}"}}, r"reset: a server keeps what it was told"),
        ({"add": {"path": "/add"}}, r"add: \{text\} is nowhere in it"),
        ({"search": {"path": "/{tenant}"}}, r"search: \{query\} is nowhere in it"),
        (
            {"add": {"path": "/", "fields": {"a": [{"text": None}]}}},
            r"add: \{text\} without quotes",
        ),
        ({"write": {"path": "/{text}"}}, r"arch\.write .*no such setting; allowed: add, address"),
        ({"add": {"path": "/{tenent}"}}, r"add: no placeholder \{tenent\}; did you mean 'tenant'"),
        ({"answer": {"itms": "x"}}, r"arch\.answer .*itms: no such key; did you mean 'items'"),
        ({"address": "http://h:80a"}, r"arch\.address: 'http://h:80a' given, http\(s\)://host"),
        ({"address": "http://h:{port}"}, r"address: \{port\} is of a server that a command"),
        ({"address": "http://{env.NO_SUCH}"}, r"\{env\.NO_SUCH\}: NO_SUCH is not set"),
        (
            {"search": {"path": "/{tenant}/{query}", "fields": {"token": "mine-0123456789"}}},
            r"arch\.search: token: a mapping is stored, so a key comes from the environment",
        ),
        (
            {"forget": {"path": "/one?api_key=mine-0123456789"}},
            r"arch\.forget: api_key: a mapping is stored",
        ),
        ({"until": {"done": True}}, "until: of the answer of settle, which is not declared"),
        ({"settle": {"path": "/{text}"}}, r"settle: no placeholder \{text\}"),
        (
            {"settle": {"path": "/{given}"}, "add": {"path": "/{tenant}/{text}"}},
            r"settle: \{given\} needs add\.id",
        ),
        (
            {"forget": {"path": "/{given}"}, "add": {"path": "/{tenant}/{text}"}},
            r"forget: \{given\} needs add\.id",
        ),
        ({"settle": {"path": "/{given}"}, "add": None}, r"arch\.add: it has to be declared"),
    ],
)
def test_a_mistake_in_a_mapping_is_one_line(
    given: dict[str, Any], said: str, httpserver: HTTPServer
) -> None:
    with pytest.raises(UserError, match=said):
        open_arch(HttpMemory, settings(httpserver, **given), ())


class Later:
    """A service that works on what it was told after its answer, and says for how long."""

    def __init__(self, asks: int) -> None:
        self.asks = asks
        self.left: dict[str, int] = {}
        self.settling: list[str] = []
        self.service = Service()

    def __call__(self, request: Request) -> Response:
        if "/state/" not in request.path:
            answer = self.service(request)
            if request.method == "POST":
                self.left[json.loads(answer.data)["memory"]["uid"]] = self.asks
            return answer
        uid = request.path.rpartition("/")[2]
        self.settling.append(uid)
        self.left[uid] -= 1
        return _json({"work": {"done": self.left[uid] <= 0}})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "declare `settle`, so that a search waits until writes are processed"),
        (
            {"settle": {"path": "/{tenant}/state", "method": "GET", "fields": {"q": "", "top": 0}}},
            "its `settle` ends too early; `until` says what its answer has to hold",
        ),
    ],
    ids=["no settle", "too early"],
)
def test_a_service_that_indexes_after_its_answer_is_told_with_the_setting(
    given: dict[str, Any], said: str, httpserver: HTTPServer
) -> None:
    httpserver.expect_request(_Any()).respond_with_handler(Service("late_index"))
    finding = check("late", HttpMemory, settings(httpserver, **given))
    assert finding.passed is False
    assert finding.text.endswith(f" s later: {said}")


@pytest.mark.parametrize(("fault", "passed"), [("", True), ("deaf_forget", False)])
def test_a_deletion_by_the_id_that_the_service_gave_is_probed(
    fault: str, passed: bool, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plugins.archs.external.canaries._SOON_S", 0.0)
    httpserver.expect_request(_Any()).respond_with_handler(Service(fault))
    gone = {"path": "/v1/{tenant}/memories/{given}", "method": "DELETE"}
    assert check("forget", HttpMemory, settings(httpserver, forget=gone)).passed is passed


SETTLE: dict[str, Any] = {
    "settle": {"path": "/{tenant}/state/{given}", "method": "GET"},
    "until": {"work.done": True},
}


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plugins.archs.external._calls._EVERY_S", 0.001)


def _told(server: HTTPServer, later: Later, **given: Any) -> HttpSystem:
    server.expect_request(_Any()).respond_with_handler(later)
    system = HttpSystem(settings(server, **{**SETTLE, **given}), "t")
    for event in history()[:2]:
        system.write(event)
    return system


@pytest.mark.usefixtures("quickly")
def test_a_search_waits_until_each_event_is_settled_and_the_next_does_not(
    httpserver: HTTPServer,
) -> None:
    later = Later(asks=3)
    system = _told(httpserver, later)
    assert later.settling == []
    assert system.search("anything", 5) is not None
    assert later.settling == ["uid-0"] * 3 + ["uid-1"] * 3
    system.search("more", 5)
    assert len(later.settling) == 6
    system.write(history()[2])
    system.search("more", 5)
    assert later.settling[6:] == ["uid-2"] * 3
    system.close()


@pytest.mark.usefixtures("quickly")
def test_without_a_condition_or_an_id_it_is_asked_once(httpserver: HTTPServer) -> None:
    later = Later(asks=99)
    later.left = {"flush": 99}
    system = _told(httpserver, later, settle={"path": "/{tenant}/state/flush"}, until={})
    system.search("anything", 5)
    system.search("anything", 5)
    assert later.settling == ["flush"]
    system.close()


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize(
    ("given", "within_s", "said"),
    [
        ({}, 0.2, r"settle: uid-0: not \{'work\.done': True\} within 0\.2 s"),
        ({"until": {"work.ready": True}}, 60.0, r"no 'work\.ready': 'ready' is not in \['done'\]"),
    ],
)
def test_what_never_settles_fails_and_is_no_empty_memory(
    given: dict[str, Any], within_s: float, said: str, httpserver: HTTPServer
) -> None:
    system = _told(httpserver, Later(asks=10**9), **given)
    # For settling alone: a call has the time that it needs.
    system._within_s = within_s
    with pytest.raises(SystemFailed, match=said):
        system.search("anything", 5)
    system.close()


@pytest.mark.usefixtures("quickly")
def test_a_deletion_waits_too_and_after_a_reset_nothing_is_waited_for(
    httpserver: HTTPServer,
) -> None:
    later = Later(asks=2)
    gone = {"path": "/{tenant}/one/{given}", "method": "DELETE"}
    system = _told(httpserver, later, forget=gone, reset={"path": "/all", "method": "DELETE"})
    system.forget(history()[0], "uid-0")
    assert later.settling == ["uid-0"] * 2 + ["uid-1"] * 2
    system.write(history()[2])
    system.reset()
    later.left.clear()  # to ask for the state of what is gone would be an error
    assert system.search("anything", 5) == []
    system.close()


@pytest.mark.usefixtures("quickly")
def test_closing_ends_the_wait(httpserver: HTTPServer) -> None:
    system = _told(httpserver, Later(asks=10**9))
    threading.Timer(0.2, system.close).start()
    begun = time.monotonic()
    with pytest.raises(SystemFailed, match="it was closed"):
        system.search("anything", 5)
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[1,"])
def test_closing_during_a_request_is_told_however_much_of_the_answer_came(sent: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        given = settings_of(find("arch", "http"), {**APART, "address": address})
        assert isinstance(given, HttpSettings)
        system = HttpSystem(given, "t")

        def close_during_the_answer() -> None:
            asked, _ = server.accept()
            with asked:
                asked.sendall(sent)
                time.sleep(0.2)  # what was sent has been read
                system.close()

        thread = threading.Thread(target=close_during_the_answer)
        thread.start()
        with pytest.raises(SystemFailed, match=r"add: it was closed$"):
            system.write(history()[0])
        thread.join()
