"""A memory whose searches are paid for: each is a line in a file that outlives it.

    python counted.py FILE [SECONDS]

A search takes so long. A second line is written when the answer is out. The newest events that
share a word with the query come first.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Answer each line of standard input by one line."""
    events: list[dict[str, str]] = []
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, object] = {"ok": True}
        paid: dict[str, object] = {}
        if request["op"] == "write":
            events.append({"id": request["id"], "text": request["text"]})
        elif request["op"] == "retrieve":
            words = set(request["query"].lower().split())
            found = [one for one in reversed(events) if words & set(one["text"].lower().split())]
            answer = {"items": found[: request["limit"]]}
            paid = {"search": [len(events), events[0]["text"], request["query"]]}
            note({**paid, "time": time.time()})
            time.sleep(float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
        elif request["op"] == "reset":
            events.clear()
        else:
            return
        print(json.dumps(answer), flush=True)
        if paid:
            note({**paid, "answered": time.time()})


def note(line: dict[str, object]) -> None:
    """Add a line to the file."""
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
