"""JSON and YAML are read in one place, which bounds them and refuses a key that stands twice."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
OWN: Final = {
    "framework/text/reading.py": "the place",
    "framework/sandbox/_launcher.py": "a job of ours, in a process that imports nothing of ours",
    "framework/models/carrier.py": "what this process and the one that it started pickle",
    "framework/store/journal.py": "the bytes that it has just written",
    "framework/rows.py": "rows that this process has packed",
    "hydra_plugins/_decisionbench_composing.py": "options that this process has pickled",
    "framework/testing/batches.py": "a server for tests",
    "framework/testing/server.py": "a server for tests",
    "framework/testing/wire.py": "a server for tests",
    "plugins/archs/external/systems/bridge.py": "in another environment, without our packages",
    "plugins/archs/external/systems/langmem_tools.py": "in another environment",
    "plugins/domains/cards.py": "a file of the package",
    "plugins/domains/codebase/corpus.py": "a file of the package",
    "plugins/domains/codebase/data/project/running.py": "a program that a case is about",
    "plugins/domains/corpus/assemble.py": "texts alone, without aliases, every key once",
    "plugins/domains/governance/lexicon.py": "files of the package",
    "plugins/domains/longmemeval/wording.py": "a file of the package",
    "plugins/models/rule_based/clauses.py": "a file of the package",
    "plugins/models/rule_based/reading/decisions.py": "a file of the package",
    "plugins/models/rule_based/rules/decide.py": "a file of the package",
    "plugins/recipes/_paper_values.py": "a file of the package",
    "plugins/targets/retrieval.py": "a file of the package",
}
"""Files that parse by themselves, and why they may."""


def test_nothing_else_parses_json_or_yaml() -> None:
    found: Counter[str] = Counter()
    for room in ("framework", "plugins", "hydra_plugins"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Attribute)
                    and node.attr in ("load", "loads", "safe_load", "unsafe_load")
                    and isinstance(node.value, ast.Name)
                    and node.value.id in ("json", "yaml", "pickle")
                ):
                    found[str(path.relative_to(ROOT))] += 1
    assert found.keys() == OWN.keys()


def test_nothing_else_parses_python() -> None:
    """`read_python` does it one thread at a time, which Python 3.11 needs."""
    found = set()
    for room in ("framework", "plugins", "hydra_plugins"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and ast.unparse(node) == "ast.parse":
                    found.add(str(path.relative_to(ROOT)))
    assert found == {"framework/text/reading.py"}
