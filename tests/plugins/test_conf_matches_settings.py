"""Every option of a plugin group: its plugin takes what it sets, and it means what it meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.config import GROUPS, PROTOCOL_GROUPS
from framework.engine.compose import compose_plan, composer, options
from framework.registry import canonical, find, identity_of, names

ROOT = Path(__file__).resolve().parents[2]
CONF = ROOT / "conf"
FILES = sorted(
    path for group in (*GROUPS, *PROTOCOL_GROUPS) for path in (CONF / group).glob("*.yaml")
)
RECORDED = ROOT / "tests" / "fixtures" / "options.jsonl"
"""By option, its plugin and the settings that may change a measured value, when each option still
spelled out all of them. A line changes only with the settings of its plugin."""


@pytest.fixture(scope="module", autouse=True)
def set_up() -> Iterator[None]:
    with composer():
        yield


def test_there_are_options() -> None:
    assert {"arch", "budget"} <= {path.parent.name for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_a_file_says_what_it_is_and_builds_on_its_plugin(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("# "), "an option begins with a line that says what it is"
    values = yaml.safe_load(text)
    group = path.parent.name
    bases = [entry for entry in values["defaults"] if isinstance(entry, str)]
    own = f"/settings/{group}/{path.stem}@_here_"
    with_own_name = canonical(group, path.stem) in names(group)
    assert own in bases if with_own_name else set(bases) & set(options(group))
    assert set(values) - {"defaults"} or len(values["defaults"]) > 1, "a file that changes nothing"


@pytest.mark.parametrize("group", [*GROUPS, *PROTOCOL_GROUPS])
def test_a_plugin_is_an_option_of_its_name(group: str) -> None:
    ours = [n for n in names(group) if find(group, n).cls.__module__.startswith("plugins.")]
    assert set(ours) <= set(options(group))


FORMER = (
    ("arch=random_context", "arch.trials", "arch.draws", 3),
    ("arch=typed_graph_rewired", "arch.trials", "arch.draws", 12),
    ("domain=governance", "domain.similarity", "domain.likeness", 0.25),
    ("domain=loan", "domain.pairs", "domain.twins", "protected"),
    ("model=rule_based", "model.follows_injections", "model.gullible", "true"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("option", "name", "former", "value"), FORMER)
def test_a_setting_by_its_former_name_means_the_same(
    option: str, name: str, former: str, value: object
) -> None:
    plan, old = (compose_plan([option, f"{key}={value}"]) for key in (name, former))
    assert plan.digest == old.digest != compose_plan([option]).digest


@pytest.mark.slow
@pytest.mark.parametrize("line", RECORDED.read_text().splitlines(), ids=lambda x: x.split('"')[3])
def test_an_option_means_what_it_meant(line: str) -> None:
    recorded: dict[str, Any] = json.loads(line)
    group, _, option = recorded.pop("option").partition("=")
    loop = ["protocol=improve"] if group in PROTOCOL_GROUPS else []
    part = compose_plan([*loop, f"{group}={option}"]).parts[group]
    identity = {"plugin": part.plugin.name, **identity_of(part.plugin, part.settings)}
    assert json.loads(json.dumps(identity, default=list)) == recorded
