"""A third party's package is found by its entry point and its options by Hydra's search path."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import installing
from tests.installing import install

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = Path(__file__).resolve().parent / "sample_package"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the sample package was installed into, with no network and no build tools."""
    source = tmp_path_factory.mktemp("source") / "sample"
    shutil.copytree(SAMPLE, source, ignore=shutil.ignore_patterns("__pycache__"))
    return install(source, tmp_path_factory.mktemp("installed"))


def python(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return installing.python(cwd, [installed, ROOT], *arguments)


def test_what_is_installed_is_a_namespace_with_its_options(installed: Path) -> None:
    assert not (installed / "hydra_plugins" / "__init__.py").exists()
    assert (installed / "sample_decisionbench/conf/arch/sample_headlines_oldest.yaml").is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "name", "setting"),
    [
        ("arch", "sample_headlines", "newest_first: bool = True"),
        ("domain", "sample_guests", "notes: int = 6"),
        ("operation", "sample_headline", ""),
        ("rule", "sample_headline", ""),
    ],
)
def test_its_plugins_are_listed(
    installed: Path, tmp_path: Path, group: str, name: str, setting: str
) -> None:
    listed = python(installed, tmp_path, "-m", "framework", "list", group)
    assert listed.returncode == 0, listed.stderr
    assert f"\n  {name} " in listed.stdout
    assert setting in listed.stdout


@pytest.mark.slow
def test_a_run_of_its_domain_and_arm(installed: Path, tmp_path: Path) -> None:
    run = python(
        installed,
        tmp_path,
        str(ROOT / "run.py"),
        *("domain=sample_guests", "arch=sample_headlines", "arch.newest_first=false"),
        *("budget=absolute", "budget.tokens=60", "n_cases=6", "tracking=none"),
    )
    assert run.returncode == 0, run.stderr
    directory = tmp_path / run.stdout.splitlines()[-1].removeprefix("run: ")
    summary = json.loads((directory / "summary.json").read_text())
    assert summary["run"]["arch"] == "sample_headlines(newest_first=false)"
    assert summary["errors"]["n"] == 0
    assert summary["ledger"]["ingest"]["calls"] == 6 * 8
    # The form and the policy's last sentence lead; the rule itself is not its last sentence.
    assert summary["axes"]["surface_ceiling"]["mean"] == 1.0
    assert summary["axes"]["p_ret"]["mean"] == 0.0


@pytest.mark.slow
def test_its_options_build_on_its_plugins(installed: Path, tmp_path: Path) -> None:
    """A plugin needs no file; an option of another name says what it changes."""
    for option, first in (("sample_headlines", "true"), ("sample_headlines_oldest", "false")):
        words = (f"arch={option}", "domain=sample_guests", "--cfg", "job")
        shown = python(installed, tmp_path, str(ROOT / "run.py"), *words)
        assert shown.returncode == 0, shown.stderr
        assert f"arch:\n  plugin: sample_headlines\n  newest_first: {first}\n" in shown.stdout
        assert "domain:\n  plugin: sample_guests\n  notes: 6\n" in shown.stdout


@pytest.mark.slow
def test_its_operation_has_prompts_of_its_own(installed: Path, tmp_path: Path) -> None:
    """They are found where the package is, counted in its runs' identity, and can be replaced."""
    words = ("domain=sample_guests", "arch=sample_headlines", "budget=absolute")
    words += ("budget.tokens=60", "n_cases=2", "tracking=none")
    mine = tmp_path / "mine" / "sample_headline"
    mine.mkdir(parents=True)
    (mine / "user.md").write_text("A much longer way of asking for the same: {document}\n")
    found = []
    for chosen in ("null", "mine"):
        done = python(
            installed, tmp_path, str(ROOT / "run.py"), *words, f"prompt_set={chosen}",
            f"run_name=run-{chosen}",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        run = tmp_path / "runs" / f"run-{chosen}"
        manifest = json.loads((run / "manifest.json").read_text())
        usage = json.loads((run / "summary.json").read_text())["ledger"]["ingest"]
        found.append((manifest["prompts"], manifest["identity"], usage["tokens_in"]))
    (own, identity, tokens), (other, other_identity, more) = found
    assert set(own) == set(other) >= {"sample_headline", "decide"}
    assert {name for name in own if own[name] != other[name]} == {"sample_headline"}
    assert identity != other_identity
    assert more > tokens
    elsewhere = python(
        installed, tmp_path, str(ROOT / "run.py"), "n_cases=1", "tracking=none", "run_name=ours"
    )
    assert elsewhere.returncode == 0, elsewhere.stderr
    manifest = json.loads((tmp_path / "runs" / "ours" / "manifest.json").read_text())
    assert "sample_headline" not in manifest["prompts"], "it has no part in this run"


@pytest.mark.slow
def test_an_operation_without_a_rule_is_told_in_one_line(installed: Path, tmp_path: Path) -> None:
    without = shutil.copytree(installed, tmp_path / "without")
    file = without / "sample_decisionbench" / "headline.py"
    file.write_text(file.read_text().split('@register("rule"')[0])
    words = ("domain=sample_guests", "arch=sample_headlines", "budget=absolute")
    words += ("budget.tokens=60", "n_cases=2", "tracking=none")
    said = "the operation 'sample_headline' has no rule to answer it"
    run = python(without, tmp_path, str(ROOT / "run.py"), *words)
    assert run.returncode == 1
    assert f"{run.stdout}\n{run.stderr}".count(said) == 1
    assert "Traceback" not in run.stderr
    planned = python(without, tmp_path, str(ROOT / "run.py"), *words, "dry_run=true")
    assert planned.returncode == 2
    assert planned.stderr.count("\n") == 1
    assert said in planned.stderr


@pytest.mark.slow
def test_its_mistakes_are_told_like_ours(installed: Path, tmp_path: Path) -> None:
    run = python(
        installed,
        tmp_path,
        str(ROOT / "run.py"),
        *("domain=sample_guests", "+arch.newest=true", "arch=sample_headlines"),
    )
    assert run.returncode == 2
    assert run.stderr.strip().count("\n") == 0
    assert "did you mean 'newest_first'?" in run.stderr


@pytest.mark.slow
def test_without_the_package_its_options_are_unknown(tmp_path: Path) -> None:
    run = python(tmp_path, tmp_path, str(ROOT / "run.py"), "domain=sample_guests")
    assert run.returncode == 2
    assert "sample_guests" in run.stderr
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_its_author_can_run_the_conformance_suites(installed: Path, tmp_path: Path) -> None:
    checks = (
        "from framework.testing.arch_conformance import check_arch\n"
        "from framework.testing.domain_conformance import check_domain\n"
        "from sample_decisionbench.guests import Guests, GuestsSettings\n"
        "from sample_decisionbench.headlines import Headlines, HeadlinesSettings\n"
        "for newest in (True, False):\n"
        "    check_arch(Headlines, HeadlinesSettings(newest_first=newest))\n"
        "check_domain(Guests, GuestsSettings())\n"
        "check_domain(Guests, GuestsSettings(notes=0))\n"
    )
    done = python(installed, tmp_path, "-c", checks)
    assert done.returncode == 0, done.stderr


ODD = """
from framework.contracts import Arch, Axis
from framework.registry import register


@register("{group}", "sample_odd")
class Odd({base}):
    {body}

    def recall(self, query, k):
        return []

    def score(self, scored):
        return self.undefined()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "base", "body", "asks", "why"),
    [
        ("axis", "Axis", "pass", "extra_axes=[sample_odd]", "not declared: names"),
        ("arch", "Arch", "pass", "arch=sample_odd", "not implemented: ingest"),
        ("arch", "object", "pass", "arch=sample_odd", "Odd is no Arch"),
    ],
)
def test_a_class_of_the_wrong_form_hurts_only_who_asks_for_it(
    installed: Path, tmp_path: Path, group: str, base: str, body: str, asks: str, why: str
) -> None:
    odd = shutil.copytree(installed, tmp_path / "odd")
    text = ODD.format(group=group, base=base, body=body)
    (odd / "sample_decisionbench" / "odd.py").write_text(text)
    words = ("domain=sample_guests", "budget=absolute", "n_cases=2", "tracking=none")
    run = python(odd, tmp_path, str(ROOT / "run.py"), *words)
    assert run.returncode == 0, run.stderr
    run = python(odd, tmp_path, str(ROOT / "run.py"), *words, asks)
    assert run.returncode == 2
    assert run.stderr.strip().count("\n") == 0
    assert f"{group}=sample_odd: sample_decisionbench.odd failed to import" in run.stderr
    assert why in run.stderr


@pytest.mark.slow
def test_an_axis_with_a_column_of_another_is_told_by_every_command_that_knows_columns(
    installed: Path, tmp_path: Path
) -> None:
    words = ("domain=sample_guests", "budget=absolute", "n_cases=2", "tracking=none")
    swept = (*words, "-m", "arch=newest_first,none", "hydra.sweep.dir=runs/before")
    ran = python(installed, tmp_path, str(ROOT / "run.py"), *swept)
    assert ran.returncode == 0, ran.stderr
    odd = shutil.copytree(installed, tmp_path / "odd")
    body = 'higher_is_better = {"frp": False, "surface_ceiling": False}'
    text = ODD.format(group="axis", base="Axis", body=body)
    (odd / "sample_decisionbench" / "odd.py").write_text(text)
    said = "axis sample_odd (sample_decisionbench.odd): column frp belongs to axis frp ("
    for command in (
        (str(ROOT / "run.py"), *words),
        ("-m", "framework", "list"),
        ("-m", "framework", "verify", "runs/before"),
        ("-m", "framework", "report", "runs/before"),
    ):
        told = python(odd, tmp_path, *command)
        assert told.returncode == 2, (command, told.stdout, told.stderr)
        assert told.stderr.strip().count("\n") == 0
        assert said in told.stderr
