"""Edits as code: what the node allowlist refuses, and what the sandbox ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.contracts import Query
from framework.contracts.improve import SEAMS
from framework.records import Item
from framework.sandbox import available
from plugins.commands._loops import replay_events
from plugins.protocols.improve.code import assembly_code, check_code, probe, score_code
from plugins.protocols.improve.stack import Rejected, read_candidate
from tests.plugins.protocols.improve.scripted import run_script, script_plan

HEAD = "def score(query, item):\n    "

needs_sandbox = pytest.mark.skipif(available() is not None, reason=f"no sandbox: {available()}")

ESCAPES = [
    "import os\ndef score(query, item):\n    return 0",
    HEAD + "import os\n    return 0",
    HEAD + "from os import system\n    return 0",
    HEAD + "return __import__('os').system('id')",
    HEAD + "return eval('1')",
    HEAD + "return exec('1')",
    HEAD + "return compile('1', '', 'eval')",
    HEAD + "return open('/etc/passwd').read()",
    HEAD + "return input()",
    HEAD + "return print(1)",
    HEAD + "return globals()",
    HEAD + "return vars()",
    HEAD + "return getattr(item, 'x')",
    HEAD + "return setattr(item, 'x', 1)",
    HEAD + "return type(item)",
    HEAD + "return ().__class__.__bases__[0].__subclasses__()",
    HEAD + "return item.__class__",
    HEAD + "return query.format(item)",
    HEAD + "return query.format_map(item)",
    HEAD + "return f'{item.__class__}'",
    HEAD + "return '%s'.__mod__(item)",
    HEAD + "return (lambda: 0).__globals__",
    HEAD + "return (lambda x=open: x)('/etc/passwd')",
    HEAD + "return [x for x in [open]][0]('/etc/passwd')",
    HEAD + "return (1).real.__class__",
    HEAD + "return 9 ** 9 ** 9",
    HEAD + "while 1:\n        pass",
    HEAD + "try:\n        return 1\n    except Exception as e:\n        return 2",
    HEAD + "with item as x:\n        return 1",
    HEAD + "global x\n    return 1",
    HEAD + "yield 1",
    HEAD + "return (x := 1)",
    HEAD + "del item\n    return 1",
    HEAD + "raise SystemExit",
    HEAD + "assert 0",
    HEAD + "class A:\n        pass",
    HEAD + "def inner():\n        return 1\n    return inner()",
    HEAD + "return __builtins__",
    HEAD + "return _x",
    HEAD + "return [].sort()",
    HEAD + "return b'x'",
    HEAD + "return breakpoint()",
    HEAD + """return sorted(["__import__('os').getcwd()"], key=eval)""",
    HEAD + """return sorted(["import os; os.system('id')"], key=exec)""",
    HEAD + "len = eval\n    return len('1+1')",
    HEAD + "for str in [eval]:\n        return str('1+1')",
    HEAD + "str = open\n    return str('/etc/passwd')",
    HEAD + "return (lambda len: len('1+1'))(eval)",
    HEAD + "return sorted(['1+1'], key=lambda x: [eval][0])",
    HEAD + "return [[0 for eval in [1]], sorted(['1+1'], key=eval)]",
    HEAD + "return {'key': eval}",
    HEAD + "return [len]",
    HEAD + "return max(['/etc/passwd'], key=open)",
    HEAD + "return list(zip([eval], [query]))",
    "@print\ndef score(query, item):\n    return 0",
    "def score(query, item=open('/etc/passwd')):\n    return 0",
    "def score(query, item: print(1)):\n    return 0",
    "def score(query, item) -> print(1):\n    return 0",
    "def score(query, *item):\n    return 0",
    "def score(query, item, *, key=None):\n    return 0",
    "async def score(query, item):\n    return 0",
    "score = lambda query, item: 0",
    "def other(query, item):\n    return 0",
    "def score(query, item):\n    return 0\nprint(1)",
    "def score(query, item):\n    return 0\x00",
    "no python at all",
]


@pytest.mark.parametrize("source", ESCAPES)
def test_the_allowlist_looks_at_the_whole_tree(source: str) -> None:
    with pytest.raises(ValueError, match=r"code|allowed"):
        check_code("score", source)


def test_there_are_at_least_forty_attempts() -> None:
    assert len(set(ESCAPES)) >= 40


GOOD = (
    "def score(query, item):\n"
    "    words = set(query.lower().split())\n"
    "    said = item['text'].lower().split()\n"
    "    shared = sum(1 for word in said if word in words)\n"
    "    return shared + 0.1 * item['recency'] if shared else -item['similarity']\n"
)
BACKWARDS = (
    "def assemble(query, items):\n"
    "    order = sorted(range(len(items)), key=lambda i: -items[i]['position'])\n"
    "    return [i for i in order if 'drop' not in items[i]['text']]\n"
)
BY_KEY = (
    "def assemble(query, items):\n"
    "    longest = max(query.split(), key=len)\n"
    "    index = lambda i: items[i]['text'].count(longest)\n"
    "    return sorted(range(len(items)), key=index)\n"
)
ITEMS = [
    Item(id=f"i{n}", text=text, signals={"source_position": float(n), "source_time": float(n)})
    for n, text in enumerate(["cats", "the rent is due", "please drop it", "rent"])
]
QUERY = Query(text="What is the rent")


def test_code_is_taken_only_where_it_is_allowed() -> None:
    import json

    draft = json.dumps({"seam": "score", "code": GOOD})
    with pytest.raises(Rejected):
        read_candidate(draft, SEAMS, {})
    assert read_candidate(draft, SEAMS, {}, takes_code=True).code == GOOD
    with pytest.raises(Rejected, match="takes no code"):
        read_candidate(
            json.dumps({"seam": "reader_prompt", "code": GOOD}), SEAMS, {}, takes_code=True
        )


def test_a_listed_function_may_be_called_and_sorted_by_and_a_local_one_too() -> None:
    for seam, source in (("score", GOOD), ("assembly", BACKWARDS), ("assembly", BY_KEY)):
        check_code(seam, source)


@needs_sandbox
def test_code_orders_and_assembles_inside_the_sandbox() -> None:
    assert [i.id for i in score_code(GOOD)(QUERY, ITEMS)] == ["i1", "i3", "i2", "i0"]
    assert [i.id for i in assembly_code(BACKWARDS)(QUERY, ITEMS)] == ["i3", "i1", "i0"]


@pytest.mark.slow
@needs_sandbox
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / 0", "failed ZeroDivisionError"),
        ("return item['gold']", "failed KeyError"),
        ("return sum(1 for i in range(10000000000))", "timeout"),
        ("return len([0] * 10000000000)", "memory"),
        ("return 'x'", "one finite number"),
        ("return float('nan')", "one finite number"),
        ("return [0] * 100000", "the sandbox ended it|one finite number"),
    ],
)
def test_code_that_fails_hangs_or_fills_the_memory_is_ended(body: str, said: str) -> None:
    source = HEAD + body
    check_code("score", source)
    with pytest.raises(ValueError, match=said):
        score_code(source)(QUERY, ITEMS)


@needs_sandbox
def test_the_probe_says_what_is_wrong() -> None:
    assert probe("score", GOOD) == ""
    assert probe("assembly", BACKWARDS) == ""
    assert "each at most once" in probe(
        "assembly", "def assemble(query, items):\n    return [0, 0]"
    )


@pytest.mark.slow
@needs_sandbox
def test_a_loop_with_code_ends_and_replays_without_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = {"base": {"optimize": "0-7", "confirm": "0-9", "test": "0-4"}}
    drafts = [
        {"seam": "score", "code": GOOD},
        {"seam": "score", "code": HEAD + "return 1 / 0"},
        {"seam": "score", "code": HEAD + "import os\n    return 0"},
    ]
    plan = script_plan(right, drafts, routing={"plugin": "none"}, protocol={"code": True})
    done = run_script(plan, tmp_path / "run")
    stages = [c["stage"] for c in done.results["candidates"]]
    assert stages == ["optimize", "sandbox", "static"]
    assert [e["passed"] for e in done.of("transform.sandbox_probed")] == [True, False]
    monkeypatch.setattr(
        "plugins.protocols.improve.code._sandbox", lambda: pytest.fail("it was asked")
    )
    assert replay_events(done.path) == len(done.events)
