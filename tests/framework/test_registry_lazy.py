"""Plugins are imported on use: what a package's files say is known without importing them."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from framework import registry
from framework.errors import UserError

PLUGIN = '''"""A module."""

from __future__ import annotations

from framework.registry import register


@register("kind", "{name}"{more})
class {cls}:
    """A plugin."""
'''


class Package:
    """A third party's package of plugins, announced by an entry point of its own."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.write("__init__", "")

    def write(self, module: str, text: str) -> None:
        """Write a module of the package."""
        path = self.folder / f"{module.replace('.', '/')}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)

    def plugin(self, module: str, name: str, more: str = "") -> None:
        """Write a module that registers a plugin."""
        cls = "".join(c for c in name.title() if c.isalnum()) or "Made"
        self.write(module, PLUGIN.format(name=name, cls=cls, more=more))

    def imported(self, module: str) -> bool:
        """Whether a module of the package has been imported."""
        return f"{self.name}.{module}" in sys.modules


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Package]:
    name = f"lazy_{tmp_path.name}"
    point = importlib.metadata.EntryPoint(name, name, registry.ENTRY_POINT_GROUP)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    monkeypatch.syspath_prepend(tmp_path)
    for cache in ("_plugins", "_aliases", "_broken"):
        monkeypatch.setattr(registry, cache, {})
    registry._announced.cache_clear()
    yield Package(name, tmp_path / name)
    registry._announced.cache_clear()


def test_only_the_module_of_the_name_is_imported(package: Package) -> None:
    package.plugin("one", "one")
    package.plugin("deep.two", "two")
    package.write("deep.__init__", "")
    assert registry.names("kind") == ["one", "two"]
    assert registry.find("kind", "two").cls.__name__ == "Two"
    assert package.imported("deep.two")
    assert not package.imported("one")
    assert [plugin.name for plugin in registry.plugins("kind")] == ["one", "two"]


def test_a_broken_module_is_told_only_where_it_is_asked_for(package: Package) -> None:
    package.plugin("good", "good")
    package.plugin("bad", "bad")
    package.write("bad", f"{(package.folder / 'bad.py').read_text()}\nimport no_such_module\n")
    assert registry.find("kind", "good").name == "good"
    module = f"{package.name}.bad"
    with pytest.raises(UserError) as told:
        registry.find("kind", "bad")
    why = "ModuleNotFoundError: No module named 'no_such_module'"
    assert str(told.value) == f"kind=bad: {module} failed to import ({why})"
    assert list(registry.broken()) == [f"{package.name}.bad"]


BARE = '''"""A module."""

from framework.contracts import Axis
from framework.registry import register


@register("axis", "bare")
class Bare(Axis):
    """Says of no column which direction is better."""

    def score(self, scored):
        return self.undefined()
'''


def test_a_class_that_is_not_what_its_contract_says_hurts_nobody_else(package: Package) -> None:
    package.write("bare", BARE)
    whole = BARE.replace("bare", "whole").replace(
        "    def", '    higher_is_better = {"w": True}\n\n    def'
    )
    package.write("whole", whole)
    assert [plugin.name for plugin in registry.plugins("axis")] == ["whole"]
    why = "TypeError: Bare: not declared: names, higher_is_better"
    with pytest.raises(UserError) as told:
        registry.find("axis", "bare")
    assert str(told.value) == f"axis=bare: {package.name}.bare failed to import ({why})"
    assert registry.broken() == {f"{package.name}.bare": why}


def test_a_name_that_two_modules_bear_is_an_error(package: Package) -> None:
    package.plugin("first", "same")
    package.plugin("second", "same")
    package.plugin("other", "other")
    assert registry.find("kind", "other").name == "other"
    with pytest.raises(UserError, match=r"kind=same is registered twice: .*first and .*second"):
        registry.find("kind", "same")
    assert "registered twice" in registry.broken()[f"{package.name}.second"]


def test_a_former_name_still_finds_the_plugin(package: Package) -> None:
    package.plugin("new", "new", ', aliases=("old", "older")')
    for name in ("new", "old", "older"):
        assert registry.find("kind", name).name == "new"
        assert registry.canonical("kind", name) == "new"
    assert registry.names("kind") == ["new"]
    with pytest.raises(UserError, match="did you mean 'new'"):
        registry.find("kind", "ne")


def test_a_registration_over_several_lines_is_read(package: Package) -> None:
    text = PLUGIN.format(name="wide", cls="Wide", more=', aliases=("broad",)')
    text = text.replace('("kind", ', "(\n    'kind',\n    ").replace("))", "),\n)")
    package.write("wide", text)
    assert registry._announced().opaque == []
    assert registry.find("kind", "broad").name == "wide"


def test_a_registration_that_can_not_be_read_is_found_all_the_same(package: Package) -> None:
    plain = PLUGIN.format(name="x", cls="Made", more="")
    package.write("made", plain.replace('@register("kind", "x")', '@register("kind", NAME)')
                  .replace("\n\n\n@", '\n\nNAME = "made"\n\n\n@'))  # fmt: skip
    package.plugin("plain", "plain")
    assert registry.find("kind", "plain").name == "plain"
    assert not package.imported("made")
    assert registry.find("kind", "made").cls.__name__ == "Made"


def test_a_package_that_is_not_there_is_told(
    package: Package, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = importlib.metadata.EntryPoint("x", "no_such_package.plugins", "any")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    assert "No module named 'no_such_package'" in registry.broken()["no_such_package.plugins"]


def test_the_shipped_plugins_say_their_names_where_they_stand() -> None:
    assert registry._announced().opaque == []
    read = set(registry._announced().modules)
    assert read == {(plugin.group, plugin.name) for plugin in registry.plugins()
                    if plugin.cls.__module__.startswith(("plugins.", "framework."))
                    and ".testing." not in plugin.cls.__module__}  # fmt: skip


def test_a_name_is_found_without_importing_the_others() -> None:
    code = (
        "import sys\n"
        "from framework.registry import find\n"
        "find('arch', 'none')\n"
        "print(*(m for m in sys.modules if m.startswith('plugins.')))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"plugins.archs", "plugins.archs.none"}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["run", "--help"], ["--help"]])
def test_help_imports_neither_numpy_nor_asyncio(words: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        "from framework.cli import main\n"
        "heavy = {'asyncio', 'numpy', 'pandas', 'mlflow', 'scipy'}\n"
        "atexit.register(lambda: print('found:', *(heavy & sys.modules.keys())))\n"
        f"sys.argv = ['run.py', '--help']\nmain({words})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].strip() == "found:", "each adds to what every start takes"


@pytest.mark.slow
def test_a_run_imports_no_pandas_and_copies_no_store_of_options(tmp_path: Path) -> None:
    code = (
        "import atexit, copy, sys\n"
        "from framework.cli.run import main\n"
        "from hydra.core.config_store import ConfigStore\n"
        "def told():\n"
        "    store = ConfigStore.instance()\n"
        "    print('found:', 'pandas' in sys.modules, copy.deepcopy(store) is store)\n"
        "atexit.register(told)\n"
        f"sys.argv = ['run.py', 'domain=loan', 'arch=none', 'n_cases=1', 'tracking=none',\n"
        f"            'report=false', 'hydra.run.dir={tmp_path / 'run'}']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (tmp_path / "run" / "rows.parquet").is_file()
    assert done.stdout.splitlines()[-1] == "found: False True"


@pytest.mark.parametrize(
    "name", ["My-Arch", "MyArch", "my arch", "mine/", "Mine/F1", "möglich", ""]
)
def test_a_name_of_another_form_is_refused(package: Package, name: str) -> None:
    package.plugin("wrong", name)
    package.plugin("right", "mine/F1")
    assert registry.find("kind", "mine/F1").name == "mine/F1"
    with pytest.raises(UserError) as told:
        registry.find("kind", name)
    refused = f"kind={name}: a name of lower case, digits and _ expected"
    assert f"wrong failed to import (ValueError: {refused})" in str(told.value)
    assert "\n" not in str(told.value)
