"""Every column that results print has a definition, from one place for terminal and page."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.analysis.columns import columns_of, defined_in, definitions
from framework.analysis.cost import MEASURES
from framework.registry import plugins
from tests.launching import HOTPOT, framework, read_json, run


def test_a_definition_is_a_line_at_the_margin_with_its_continuation() -> None:
    doc = """A measure.

    one, two : share of this
        and of that.
    three : a rank. Note : no definition.

    Prose that goes on.
    """
    assert defined_in(doc) == {
        "one": "share of this and of that.",
        "two": "share of this and of that.",
        "three": "a rank. Note : no definition.",
    }


SHIPPED = [p for p in plugins("axis") if p.cls.__module__.startswith("plugins.")]
"""Not the tests' own, which other files may have registered before this one."""


@pytest.mark.parametrize("plugin", SHIPPED, ids=lambda plugin: plugin.name)
def test_every_column_of_an_axis_is_defined(plugin: object) -> None:
    found = columns_of(plugin)  # type: ignore[arg-type]
    assert found
    assert [name for name, text in found.items() if len(text) < 15] == []


def test_every_column_of_a_result_is_listed_and_is_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    listed = " ".join(framework(capsys, "list", "axis").out.split())
    for name in (*definitions(), *MEASURES):
        if " " not in name:
            assert f"{name} : {' '.join(definitions()[name].split())}" in listed, name
    run(capsys, *HOTPOT, "arch=bm25", "hydra.run.dir=one")
    assert framework(capsys, "report", "one").status == 0
    page = (tmp_path / "one/report.html").read_text()
    for axis, entry in read_json(tmp_path / "one/summary.json")["axes"].items():
        if entry["n"]:
            assert f"{axis.replace('_', '_<wbr/>')}</th>" in page
            assert f'<th scope="row" title="{definitions()[axis][:12]}' in page, axis
    assert '<h2 id="columns">Columns</h2>' in page
