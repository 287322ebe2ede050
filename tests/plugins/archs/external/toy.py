"""A memory by words in common, as another's program: JSON lines, and one fault on request.

    python toy.py [--fault NAME] [--store FILE]

On the standard library alone, as a stranger would write it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FAULTS = {
    "empty_recall": "a search finds nothing",
    "lost_writes": "every fifth event is dropped",
    "only_newest": "all but the last ten events are dropped",
    "newest_hundred": "all but the last hundred events are dropped",
    "same_answer": "every search gives the events written first",
    "digits_lost": "the last digit of every number is dropped",
    "no_case": "texts come back in lower case",
    "one_line": "line breaks become spaces",
    "one_stretch": "a search whose words are not one stretch of a text finds nothing",
    "no_distinction": "of events that begin alike only the first is kept",
    "dropped_dates": "dates are taken out of the texts",
    "leaked_tenant": "all histories are in one store",
    "ignored_limit": "a search gives everything",
    "capped": "a search gives ten results at most",
    "limit_as_text": "as many results come as numbers are before the limit in the alphabet",
    "stale_store": "the store outlives the home, and is read again at the start",
    "deaf_reset": "reset does nothing",
    "deaf_forget": "forget does nothing",
    "forgets_all": "forget deletes everything",
    "late_index": "what is written is found half a second later",
    "truncated_text": "texts are cut at 200 characters",
    "ascii_only": "letters that are not ASCII become question marks",
    "wrong_order": "the best result comes last",
    "twice": "every result comes twice",
    "forgets_found": "what a search found is gone",
    "shuffled": "the order of results is drawn at random",
    "frozen_index": "what is written after the first search is not found",
    "swapped_ids": "results have each other's ids",
    "invents": "where nothing is stored, something is found",
    "crash": "it ends at the first search",
    "hang": "it never answers a search",
    "flood": "it answers a search without end",
    "talks": "it writes a log line to stdout",
}


class Toy:
    """The memory, and its fault. `store` is a file for what outlives the process."""

    def __init__(self, fault: str = "", store: str = "") -> None:
        self.fault, self.store = fault, Path(store)
        self.events: list[dict[str, str]] = []
        self.frozen: list[dict[str, str]] | None = None
        self.due = list[float]()
        if fault == "stale_store":
            self._load()

    def _load(self) -> None:
        lines = self.store.read_text().splitlines() if self.store.exists() else []
        self.events = [json.loads(line) for line in lines]

    def write(self, event: dict[str, str]) -> None:
        """Keep an event."""
        text = event["text"]
        if self.fault == "digits_lost":
            text = re.sub(r"\d\b", "", text)
        if self.fault == "no_case":
            text = text.lower()
        if self.fault == "one_line":
            text = text.replace("\n", " ")
        if self.fault == "dropped_dates":
            text = re.sub(r"\d{4}-\d\d-\d\d", "", text)
        if self.fault == "truncated_text":
            text = text[:200]
        if self.fault == "ascii_only":
            text = text.encode("ascii", "replace").decode()
        self.events.append({"id": event["id"], "text": text})
        self.due.append(time.monotonic() + 0.5)
        if self.fault == "lost_writes" and len(self.events) % 5 == 0:
            self.events[-1]["text"] = ""
        if self.fault == "only_newest":
            del self.events[:-10]
        if self.fault == "newest_hundred":
            del self.events[:-100]
        if self.fault == "no_distinction":
            kept: dict[str, dict[str, str]] = {}
            for one in self.events:
                kept.setdefault(one["text"][12:30], one)
            self.events = list(kept.values())
        if self.fault in ("leaked_tenant", "stale_store"):
            with self.store.open("a") as file:
                file.write(json.dumps(self.events[-1]) + "\n")

    def search(self, query: str, limit: int) -> list[dict[str, Any]]:
        """Those with most words of the query first."""
        if self.fault == "crash":
            raise SystemExit("out of memory")
        if self.fault == "hang":
            time.sleep(3600)
        if self.fault == "leaked_tenant":
            self._load()
        if self.fault == "frozen_index":
            self.frozen = list(self.events) if self.frozen is None else self.frozen
        events = self.events if self.frozen is None else self.frozen
        if self.fault == "late_index":
            events = events[: sum(due < time.monotonic() for due in self.due)]
        wanted = words(query)
        scored = [(len(wanted & words(one["text"])), one) for one in events if one["text"]]
        found = [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score]
        if self.fault == "one_stretch":
            found = [one for one in found if query.lower() in one["text"].lower()]
        if self.fault == "empty_recall":
            found = []
        if self.fault == "same_answer":
            found = list(events)
        if self.fault == "invents" and not found:
            found = [{"id": "x", "text": "The code is 0000."}]
        if self.fault == "capped":
            found = found[:10]
        if self.fault == "limit_as_text":
            found = [one for n, one in enumerate(found) if str(n) < str(limit)][:limit]
        if self.fault != "ignored_limit":
            found = found[:limit]
        if self.fault == "wrong_order":
            found.reverse()
        if self.fault == "shuffled":
            random.shuffle(found)
        if self.fault == "twice":
            found = [one for one in found for _ in range(2)][:limit]
        if self.fault == "forgets_found":
            self.events = [one for one in self.events if one not in found]
        if self.fault == "swapped_ids":
            ids = [one["id"] for one in found]
            pairs = zip(ids[1:] + ids[:1], found, strict=True)
            found = [{"id": name, "text": one["text"]} for name, one in pairs]
        return found

    def forget(self, id_: str) -> None:
        """Delete an event."""
        if self.fault == "forgets_all":
            self.events = []
        if self.fault != "deaf_forget":
            self.events = [one for one in self.events if one["id"] != id_]

    def reset(self) -> None:
        """Forget everything."""
        if self.fault != "deaf_reset":
            self.events = []


def words(text: str) -> set[str]:
    """The words of a text, lower case."""
    return set(re.findall(r"\w+", text.lower()))


def main() -> None:
    """Answer each line of standard input by one line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="", choices=["", *FAULTS])
    parser.add_argument("--store", default="")
    parser.add_argument(
        "--tells", default="", choices=["", "environment", "keys", "home", "network"]
    )
    parser.add_argument("--leaves", default="", help="a child that outlives it, and its file")
    args = parser.parse_args()
    toy = Toy(args.fault, args.store)
    if args.leaves:
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        child = subprocess.Popen(command, start_new_session=True)
        Path(args.leaves).write_text(f"{os.getpid()} {child.pid} {Path.cwd()}")
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {"ok": True}
        if request["op"] == "write":
            toy.write(request)
            if args.fault == "talks":
                print("INFO stored", flush=True)
        elif request["op"] == "retrieve":
            if args.fault == "flood":
                while True:
                    sys.stdout.write("x" * 65536)
            told = telling(args.tells)
            answer = {"items": told or toy.search(request["query"], request["limit"])}
        elif request["op"] == "forget":
            toy.forget(request["id"])
        elif request["op"] == "reset":
            toy.reset()
        else:
            return
        print(json.dumps(answer), flush=True)


def telling(what: str) -> list[dict[str, str]]:
    """What it sees of the machine it runs on; values backwards, as keys would be refused."""
    if what == "environment":
        return [{"text": json.dumps({name: value[::-1] for name, value in os.environ.items()})}]
    if what == "keys":
        return [{"text": json.dumps(dict(os.environ))}]
    if what == "home":
        kept = Path.home() / "kept"
        found = kept.exists()
        kept.write_text("x")
        return [{"text": f"{Path.cwd()} {Path.home()} {found}"}]
    if what == "network":
        import socket

        try:
            socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), timeout=2).close()
        except OSError as error:
            said = f"closed: {error}"
        else:
            said = "open"
        namespace = sorted(name for _, name in socket.if_nameindex()) if said == "open" else []
        return [{"text": f"{said} {namespace} {Path('/proc/self/ns/net').readlink()}"}]
    return []


if __name__ == "__main__":
    main()
