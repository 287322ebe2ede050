"""Every shipped option of a plugin group: its plugin exists and takes all that it sets."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import yaml

from framework.registry import find, plugins, settings_of

CONF = Path(__file__).resolve().parents[2] / "conf"
OPTIONS = sorted(
    path
    for group in {plugin.group for plugin in plugins()}
    for path in (CONF / group).glob("*.yaml")
)


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """The plugin and the settings; those that come from another group's option are filled in."""
    values = yaml.safe_load(path.read_text())
    for entry in values.pop("defaults", []):
        if entry != "_self_":
            ((group, option),) = entry.items()
            if group.startswith("override "):  # another group's option, not this one's settings
                continue
            group, _, key = group.strip("/").partition("@")
            taken = yaml.safe_load((CONF / group / f"{option}.yaml").read_text())
            values[key] = {**taken, **values.get(key, {})}
    return values.pop("plugin"), values


def test_there_are_options() -> None:
    assert {"arch", "budget"} <= {path.parent.name for path in OPTIONS}


@pytest.mark.parametrize("path", OPTIONS, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_an_option_sets_what_its_plugin_has(path: Path) -> None:
    name, values = _read(path)
    plugin = find(path.parent.name, name)
    settings_of(plugin, {k: v for k, v in values.items() if v != "???"})
    assert set(values) == {field.name for field in dataclasses.fields(plugin.settings)}
    first = path.read_text().split("\n", 1)[0]
    assert first.startswith("# "), "an option begins with a line that says what it is"


@pytest.mark.parametrize("path", OPTIONS, ids=lambda p: f"{p.parent.name}={p.stem}")
def test_an_option_of_the_plugins_name_is_its_defaults(path: Path) -> None:
    name, values = _read(path)
    if name != path.stem:
        return
    plugin = find(path.parent.name, name)
    required = {k for k, v in values.items() if v == "???"}
    for field in dataclasses.fields(plugin.settings):
        defaults = {field.default, field.default_factory}
        assert (field.name in required) == (defaults == {dataclasses.MISSING})
    if not required:
        given, default = settings_of(plugin, values), plugin.settings()
        # Settings that hold a plugin's settings are equal when what they stand for is.
        assert given == default or given.identity() == default.identity()


@pytest.mark.parametrize("group", ["arch", "budget"])
def test_every_plugin_has_an_option_of_its_name(group: str) -> None:
    ours = (p for p in plugins(group) if p.cls.__module__.startswith("plugins."))
    names = {plugin.name for plugin in ours}
    assert names <= {path.stem for path in (CONF / group).glob("*.yaml")}
