"""The toy memory behind the Model Context Protocol over stdio, without its SDK.

    python server.py [--fault NAME] [--store FILE]
    python server.py --graph

Tools: remember(content, key), look_up(words, most), forget_all(). The answer of look_up is
structured; that of remember is a text. With --graph, the three tools and the answers of
@modelcontextprotocol/server-memory that its mapping uses.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from toy import FAULTS, Toy

TOOLS = {
    "remember": ["content", "key"],
    "look_up": ["words", "most"],
    "forget_all": [],
    "create_entities": ["entities"],
    "search_nodes": ["query"],
    "delete_entities": ["entityNames"],
}
GRAPH: list[dict[str, Any]] = []


def main() -> None:
    """Answer each JSON-RPC request that has an id."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", default="", choices=["", *FAULTS])
    parser.add_argument("--store", default="")
    parser.add_argument("--graph", action="store_true")
    args = parser.parse_args()
    for name in list(TOOLS)[:3] if args.graph else list(TOOLS)[3:]:
        del TOOLS[name]
    toy = Toy(args.fault, args.store)
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        result = answered(toy, request["method"], request.get("params") or {})
        if result is None:
            answer["error"] = {"code": -32601, "message": "no such method"}
        else:
            answer["result"] = result
        print(json.dumps(answer), flush=True)


def answered(toy: Toy, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for a method that there is not."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "toy", "version": "1"},
        }
    if method == "tools/list":
        return {
            "tools": [
                {"name": name, "inputSchema": {"type": "object", "required": fields}}
                for name, fields in TOOLS.items()
            ]
        }
    if method == "tools/call":
        return called(toy, params["name"], params.get("arguments") or {})
    return None


def called(toy: Toy, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool."""
    if name not in TOOLS or set(given) != set(TOOLS[name]):
        return {"content": [{"type": "text", "text": f"bad call of {name}"}], "isError": True}
    if name == "remember":
        toy.write({"id": given["key"], "text": given["content"]})
        return {"content": [{"type": "text", "text": json.dumps({"stored": given["key"]})}]}
    if name == "forget_all":
        toy.reset()
        return {"content": [{"type": "text", "text": "done"}]}
    if name == "create_entities":
        GRAPH.extend(given["entities"])
        return structured({"entities": given["entities"]})
    if name == "delete_entities":
        GRAPH[:] = [entity for entity in GRAPH if entity["name"] not in given["entityNames"]]
        return structured({"success": True})
    if name == "search_nodes":
        wanted = given["query"].lower()
        found = [e for e in GRAPH if wanted in " ".join([e["name"], *e["observations"]]).lower()]
        return structured({"entities": found, "relations": []})
    if toy.fault == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    return structured({"hits": toy.search(given["words"], given["most"])})


def structured(held: dict[str, Any]) -> dict[str, Any]:
    """The result of a tool, in both forms."""
    return {"content": [{"type": "text", "text": json.dumps(held)}], "structuredContent": held}


if __name__ == "__main__":
    main()
