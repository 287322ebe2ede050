"""Recipes of the Depth paper from small measured sweeps of its own experiments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework import launch
from framework.reporting.recipes import recipes
from framework.reporting.recipes.depth_costs import edges_of
from framework.reporting.recipes.knobs import by_setting, jobs_of
from tests.launching import framework

SMALL = ("n_cases=6", "domain.items=400", "report=false")
"""Six tasks: a corpus of its own setting, too few for any interval."""

SWEEPS = {
    "phase": ("domain.rho=0.5,0.9", "arch=bm25,typed_graph", "n_cases=8"),
    "corpus_size": ("domain.items=300,400", "arch=bm25"),
    "distractors": ("domain.distractors=0,2", "arch=bm25"),
    "supersession": ("domain.versions=1,2", "arch=typed_graph"),
    "scatter": ("domain.scatter=1,2", "arch=typed_graph"),
    "hops": ("arch=typed_graph", "arch.hops=1,null"),
    "decay_ablation": ("arch=typed_graph", "arch.decay=0,1"),
    "pruning": ("arch=typed_graph,typed_graph_pruned", "n_cases=8"),
    "visibility": ("domain.visibility=0,1", "arch=bm25"),
    "fidelity": ("domain.fidelity=0.5,1", "arch=typed_graph"),
    "edge_noise": ("domain.edge_noise=dropped,stale", "arch=typed_graph"),
    "maintenance": ("domain.fidelity=0.5,1", "arch=bm25,typed_graph_pruned"),
    "seed_traversal": ("arch=bm25,typed_graph", "n_cases=8"),
    "budget_surface": ("domain.distractors=0,2", "budget.tokens=500,1000", "arch=dense"),
    "organisation": ("arch=bm25,typed_graph",),
    "capture": ("domain.capture=linked,raw", "extractor=none,rules", "arch=typed_graph_pruned"),
    "agentic": ("reader=commit,agentic", "arch=bm25", "n_cases=8"),
    "cross_model": ("model=extractive,extractive_noisy", "arch=none,bm25,oracle"),
    "intervention": ("arch=none,typed_graph",),
    "crossover": ("arch=bm25,typed_graph", "n_cases=16"),
    "paper_geometry": ("arch=none,bm25,typed_graph",),
}
"""By experiment: what is left of it here."""

CASES = [
    (recipe.name, name)
    for recipe in recipes()
    if recipe.name.startswith("depth/")
    for name in SWEEPS
    if recipe.needs.endswith(f"+experiment=depth/{name}")
]


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sweeps made so far, by experiment."""
    return {"": tmp_path_factory.mktemp("depth")}


def sweep(sweeps: dict[str, Path], name: str) -> Path:
    if name not in sweeps:
        sweeps[name] = sweeps[""] / name
        baseline = "baseline=null"
        sizes = [o for o in SMALL if o.split("=")[0] not in {s.split("=")[0] for s in SWEEPS[name]}]
        place = f"hydra.sweep.dir={sweeps[name]}"
        given = ["-m", f"+experiment=depth/{name}", *SWEEPS[name], *sizes, baseline, place]
        assert launch.main(given) == 0
    return sweeps[name]


def test_every_recipe_has_an_experiment_of_its_own_here() -> None:
    covered = {recipe for recipe, _ in CASES}
    depth = {recipe.name for recipe in recipes() if recipe.name.startswith("depth/")}
    assert depth - covered == {"depth/F049"}  # of the domain codebase: its own tests


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "name"), CASES)
def test_a_recipe_makes_a_page_of_its_experiment(
    recipe: str,
    name: str,
    sweeps: dict[str, Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = sweep(sweeps, name)
    done = framework(capsys, "report", "--recipe", recipe, str(path), "--to", str(tmp_path / "p"))
    assert done.status == 0, done.err
    page = (tmp_path / "p" / "report.html").read_text()
    assert "<table" in page or list((tmp_path / "p" / "figures").glob("*.svg"))
    assert "domain governance" in page
    assert "://" not in page


def test_repairs_are_counted_from_the_edges_that_the_arm_reports(
    sweeps: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sweep(sweeps, "maintenance")
    curve = by_setting(jobs_of([path]), "domain.fidelity", "recall")["typed_graph_pruned"]
    edges = edges_of(curve[-1].job)
    answers = (curve[-1].job.path / "answers.jsonl").read_text().splitlines()
    assert edges == json.loads(answers[0])["arch_report"]["edges"]
    target = ["--to", str(tmp_path / "p")]
    done = framework(capsys, "report", "--recipe", "depth/maintenance", str(path), *target)
    assert done.status == 0, done.err
    assert edges is not None
    page = (tmp_path / "p" / "report.html").read_text()
    assert f">{edges * 0.5:.0f}<" in page


def test_a_sweep_of_something_else_is_refused_in_one_line(
    sweeps: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(sweep(sweeps, "maintenance"))
    target = ["--to", str(tmp_path / "p")]
    twice = framework(capsys, "report", "--recipe", "depth/visibility", path, *target)
    assert "measured twice" in twice.mistake
    lacking = framework(capsys, "report", "--recipe", "depth/cross_model", path, *target)
    assert "at least two models" in lacking.mistake
