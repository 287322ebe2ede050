"""Evaluations by inspect_ai, each with its mock model: `python inspecting.py LOGS` < JSON.

A process of its own: inspect leaves streams open, which would fail the test after this one.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from inspect_ai import eval as inspect_eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

from framework.models.dry_run import prompt_key


def main(logs: str) -> None:
    """Evaluate what stdin lists, and print by its name the path of each log or the mistake."""
    found = {}
    for name, asked in json.load(sys.stdin).items():
        try:
            (log,) = inspect_eval(
                "decisionbench/domain",
                model=mock(asked["texts"]),
                solver=generate() if asked["other_solver"] else None,
                task_args=asked["given"],
                log_dir=logs,
                log_format="json",
                display="none",
            )
            found[name] = log.location
        except Exception as error:
            found[name] = f"{type(error).__name__}: {getattr(error, 'message', error)}"
    print(json.dumps(found))


def mock(texts: dict[str, str]) -> Any:
    """inspect's own mock model, which answers a prompt and its repair with the prompt's text."""

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        text = texts[prompt_key(messages[0].text, messages[1].text)]
        output = ModelOutput.from_content("mockllm", text)
        # It counts tokens with a file from the network, where nobody says how many there were.
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)


if __name__ == "__main__":
    main(sys.argv[1])
