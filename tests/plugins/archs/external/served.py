"""The toy memory behind a JSON API, as a server that a mapping starts.

    python served.py PORT [--fault NAME] [--leaves FILE] [--late SECONDS]

POST /v1/add, POST /v1/search; GET /v1 says what it was started with.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from toy import Toy

STARTS = {
    "dead": "it ends before it listens",
    "deaf": "it never listens",
    "mute": "it takes connections and never answers",
    "busy": "it answers that it is not ready, for ever",
}
TOY = Toy()


class Api(BaseHTTPRequestHandler):
    """What is asked of it."""

    protocol_version = "HTTP/1.1"
    busy = False

    def do_GET(self) -> None:
        told = {name: os.environ.get(name, "") for name in ("HOME", "PORT", "DECISIONBENCH_SOCKET")}
        self.say(503 if self.busy else 200, told)

    def do_POST(self) -> None:
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/add":
            TOY.write(told)
            return self.say(200, {})
        try:
            return self.say(200, {"found": TOY.search(told["query"], told["limit"])})
        except SystemExit as fault:
            print(fault, file=sys.stderr, flush=True)
            os._exit(4)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: its standard error is for its last words."""

    def say(self, status: int, answer: Any) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Listen on the port."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--fault", default="")
    parser.add_argument("--leaves", default="", help="a child that outlives it, and its file")
    parser.add_argument("--late", type=float, default=0.0)
    args = parser.parse_args()
    print("x" * 20_000_000, flush=True)  # more than a program may say to whom it answers
    if args.fault != "dead":
        print("starting", file=sys.stderr, flush=True)
    if args.leaves:
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
        )
        Path(args.leaves).write_text(f"{os.getpid()} {child.pid} {Path.cwd()}")
    if args.fault == "dead":
        sys.exit("no model is there")
    time.sleep(600 if args.fault == "deaf" else args.late)
    if args.fault == "mute":
        with socket.create_server(("127.0.0.1", args.port)):
            time.sleep(600)
    Api.busy = args.fault == "busy"
    TOY.fault = "" if args.fault in STARTS else args.fault
    HTTPServer(("127.0.0.1", args.port), Api).serve_forever()


if __name__ == "__main__":
    main()
