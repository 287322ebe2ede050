"""Composing with Hydra: shipped configurations, overrides, grids, and its errors in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import hydra
import pytest
from hydra._internal import config_loader_impl, defaults_list
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import ConfigRepository
from hydra._internal.core_plugins.file_config_source import FileConfigSource
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import OmegaConf

from framework.config import GROUPS, PROTOCOL_GROUPS
from framework.engine.compose import (
    CONF,
    check_options,
    compose_plan,
    compose_raw,
    composer,
    directory_of,
    grid,
    is_sweep,
    key_of,
    options,
    without_sweeps,
)
from framework.errors import UserError
from framework.registry import plugins
from hydra_plugins import _decisionbench_composing as composing
from tests.launching import HOTPOT

EXPERIMENTS = sorted(
    str(path.relative_to(CONF / "experiment").with_suffix(""))
    for path in (CONF / "experiment").rglob("*.yaml")
)

SMALL = ("language_model", "quickstart", "depth/causal_use", "improve/")
"""Experiments of few jobs; composing all of another takes seconds."""


def shipped(groups: Sequence[str]) -> list[tuple[str, str]]:
    """Every option of the groups, be it a file or a plugin's name."""
    ours = {(p.group, p.name) for p in plugins() if p.cls.__module__.startswith("tests.")}
    with composer():
        found = [(group, option) for group in groups for option in options(group)]
    return [each for each in found if each not in ours]


@pytest.fixture(autouse=True)
def set_up() -> Iterator[None]:
    with composer():
        yield


def test_the_defaults_compose() -> None:
    plan = compose_plan([])
    assert plan.option("domain") == "loan"
    assert plan.top.n_cases == 100
    assert plan.overrides == ()


def test_a_plan_is_composed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its labels need no second composition where no setting of an option was overridden."""
    composed: list[list[str]] = []
    plain = hydra.compose

    def counted(name: str, overrides: list[str], **more: bool) -> object:
        composed.append(overrides)
        return plain(name, overrides=overrides, **more)

    monkeypatch.setattr(hydra, "compose", counted)
    given = ["arch=bm25", "domain=hotpotqa", "budget=loose", "seed=8", "prereg=loan"]
    assert compose_plan(given) is compose_plan(tuple(given))
    assert len(composed) == 1
    for arm in ("none", "tfidf", "dense"):  # one more for the gate's own settings, whatever the arm
        compose_plan([f"arch={arm}", "domain=hotpotqa", "gate.baseline=bm25"])
    assert len(composed) == 1 + 3 + 1


@pytest.mark.slow
def test_nothing_composed_outlives_the_options_it_was_composed_of(tmp_path: Path) -> None:
    (tmp_path / "arch").mkdir()
    option = tmp_path / "arch" / "mine.yaml"
    given = ["arch=mine", f"hydra.searchpath=[file://{tmp_path}]"]
    GlobalHydra.instance().clear()
    for k1 in (1.0, 2.0):
        option.write_text(f"plugin: bm25\nk1: {k1}\n")
        with composer():
            assert compose_plan(given).parts["arch"].settings.k1 == k1
            assert compose_plan([*given, "arch.k1=2.0"]).label("arch") == (
                "mine" if k1 == 2 else "mine(k1=2.0)"
            )


@pytest.mark.slow
@pytest.mark.parametrize(("group", "option"), shipped(GROUPS))
def test_every_shipped_option_composes(group: str, option: str) -> None:
    plan = compose_plan([f"{group}={option}"])
    assert plan.option(group) == option
    assert set(plan.parts) == {*GROUPS, *plan.parts["protocol"].plugin.cls.groups}


@pytest.mark.slow
@pytest.mark.parametrize(("group", "option"), shipped(PROTOCOL_GROUPS))
def test_every_option_of_a_loop_composes(group: str, option: str) -> None:
    plan = compose_plan(["protocol=improve", f"{group}={option}"])
    assert plan.option(group) == option
    assert plan.option("gate") == "heldout"


def test_a_run_without_a_loop_has_no_part_of_one() -> None:
    plan = compose_plan([])
    assert not set(plan.config) & set(PROTOCOL_GROUPS)
    assert not set(plan.identity) & set(PROTOCOL_GROUPS)
    with pytest.raises(UserError, match="author=rules: protocol=evaluate has no author"):
        compose_plan(["author=rules"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [n if n.startswith(SMALL) else pytest.param(n, marks=pytest.mark.slow) for n in EXPERIMENTS],
)
def test_every_shipped_experiment_composes(name: str) -> None:
    overrides = [f"+experiment={name}"]
    config = compose_raw(overrides)
    jobs = grid(overrides, config) if is_sweep(config) else [overrides]
    plans = [compose_plan(job) for job in jobs]
    # Two jobs that differ in nothing but a part that their arm does not use are one.
    effective = {
        tuple(
            word for word in job if key_of(word).split(".")[0] not in plan.parts.keys() - plan.used
        )
        for job, plan in zip(jobs, plans, strict=True)
    }
    assert len({plan.digest for plan in plans}) == len(effective) > 0


def test_what_is_read_once_composes_as_what_hydra_reads_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jobs = [
        ["+experiment=longhorizon/main", *(f"{g}={o}" for g, o in chosen.items())]
        for chosen in (
            {"arch": "typed_graph", "budget": "tight"},
            {"arch": "bm25", "domain": "hotpotqa"},
            {"arch": "typed_graph", "arch.hops": "3", "n_cases": "5", "seed": "8"},
            {"arch": "typed_graph", "budget": "tight"},
        )
    ]
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "mine.yaml").write_text("defaults: [bm25, _self_]\nk1: 0.5\n")
    jobs.append([f"hydra.searchpath=[file://{tmp_path}]", "arch=mine"])
    quick = [OmegaConf.to_container(compose_raw(job)) for job in jobs]
    for _ in "again", "from what is merged":
        assert [OmegaConf.to_container(compose_raw(job)) for job in jobs] == quick
    known = compose_raw(jobs[0])
    assert known._metadata.object_type is dict
    assert OmegaConf.is_struct(known)
    assert all(known[k]._get_parent() is known for k in ("arch", "hydra"))
    assert quick[0] == quick[3] != quick[2]
    monkeypatch.setattr(composing, "compose_quickly", lambda: None)
    monkeypatch.setattr(config_loader_impl, "ConfigRepository", ConfigRepository)
    monkeypatch.setattr(ConfigLoaderImpl, "_load_configuration_impl", composing.COMPOSE)
    monkeypatch.setattr(FileConfigSource, "load_config", composing.PARSE)
    monkeypatch.setattr(ConfigLoaderImpl, "_load_single_config", composing.PLACE)
    monkeypatch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", composing.MERGE)
    monkeypatch.setattr(defaults_list, "_create_interpolation_map", composing.CHOICES)
    GlobalHydra.instance().clear()
    with composer():
        assert [OmegaConf.to_container(compose_raw(job)) for job in jobs] == quick
        assert type(GlobalHydra.instance().config_loader().repository) is ConfigRepository


def test_what_is_composed_for_the_mode_is_what_is_run(tmp_path: Path) -> None:
    loader = GlobalHydra.instance().config_loader()
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "mine.yaml").write_text("defaults: [bm25, _self_]\nk1: 0.5\n")
    for given, added, mode in (
        (["arch=bm25", "budget=tight", "hydra.run.dir=r"], ["hydra.mode=RUN"], RunMode.RUN),
        (["arch=bm25,none"], ["hydra.mode=MULTIRUN"], RunMode.MULTIRUN),
        (["+experiment=quickstart"], [], RunMode.MULTIRUN),
        ([f"hydra.searchpath=[file://{tmp_path}]", "arch=mine"], ["hydra.mode=RUN"], RunMode.RUN),
    ):
        for_the_mode = loader.load_configuration(
            "config", given, RunMode.MULTIRUN, validate_sweep_overrides=False
        )
        found = loader.load_configuration("config", [*given, *added], mode)
        assert found is for_the_mode
        plain = composing.COMPOSE(loader, "config", [*given, *added], mode)
        assert OmegaConf.to_container(found) == OmegaConf.to_container(plain)
        assert found.hydra.mode is plain.hydra.mode is mode
        assert loader.load_configuration("config", [*given, *added], mode) is not found
    for mistaken in (["arch=???"], ["arch=bm25,none"]):
        loader.load_configuration(
            "config", mistaken, RunMode.MULTIRUN, validate_sweep_overrides=False
        )
        with pytest.raises(HydraException):
            loader.load_configuration("config", [*mistaken, "hydra.mode=RUN"], RunMode.RUN)


@pytest.mark.slow
def test_what_an_overlay_changes_of_an_arm_is_in_its_label(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "sharp.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /arch: bm25\narch:\n  k1: 0.5\nn_cases: 3\n"
    )
    given = [f"hydra.searchpath=[file://{tmp_path}]", "+experiment=sharp"]
    assert compose_plan(given).label("arch") == "bm25(k1=0.5)"
    # What the command line says stands once, and another arm is not touched by it.
    assert compose_plan([*given, "arch.k1=0.9"]).label("arch") == "bm25(k1=0.9)"
    assert compose_plan([*given, "arch.b=0.1"]).label("arch") == "bm25(b=0.1,k1=0.5)"
    plain = compose_plan(["+experiment=quickstart", "arch=bm25"])
    assert plain.label("arch") == "bm25"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("models", "labels"),
    [
        ([], {"rule_based_noisy", "rule_based"}),
        (
            ["model=anthropic", "model.name=claude-haiku-4-5-20251001,claude-sonnet-4-5-20250929"],
            {"anthropic", "anthropic(name=claude-sonnet-4-5-20250929)"},
        ),
        (
            ["model=openai", "model.name=gpt-4.1-mini-2025-04-14,gpt-4.1-2025-04-14"],
            {"openai", "openai(name=gpt-4.1-mini-2025-04-14)"},
        ),
    ],
)
def test_the_cross_model_experiment_takes_any_two_models(
    models: list[str], labels: set[str]
) -> None:
    overrides = ["+experiment=cross_model", *models]
    plans = [compose_plan(job) for job in grid(overrides, compose_raw(overrides[:1]))]
    assert {plan.label("model") for plan in plans} == labels
    arms = [[p.label("arch") for p in plans if p.label("model") == label] for label in labels]
    assert arms[0] == arms[1]
    assert len(arms[0]) == len(set(arms[0])) > 4


def test_overrides_reach_the_settings() -> None:
    plan = compose_plan(["arch=bm25", "arch.k1=0.9", "n_cases=null", "seed=3"])
    assert plan.parts["arch"].settings.k1 == 0.9
    assert (plan.top.n_cases, plan.top.seed) == (None, 3)
    assert plan.label("arch") == "bm25(k1=0.9)"


def test_interpolations_are_resolved() -> None:
    plan = compose_plan(["arch=bm25", "arch.k1=${arch.b}"])
    assert plan.parts["arch"].settings.k1 == plan.parts["arch"].settings.b
    assert plan.overrides == ("arch=bm25", "arch.k1=${arch.b}")
    assert compose_plan(plan.overrides).digest == plan.digest


def test_a_plan_composes_again_from_its_overrides(tmp_path: Path) -> None:
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "sharp.yaml").write_text("defaults: [bm25, _self_]\nk1: 0.5\n")
    for overrides in (
        [*HOTPOT, "arch=random_context", "arch.trials=3"],
        [f"hydra.searchpath=[file://{tmp_path}]", "arch=sharp"],
    ):
        plan = compose_plan(overrides)
        again = compose_plan(plan.overrides)
        assert (again.digest, again.labels) == (plan.digest, plan.labels)


def test_a_setting_that_a_yaml_leaves_out_can_be_given(tmp_path: Path) -> None:
    """An incomplete option of a third party: the class's own settings decide what there is."""
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "short.yaml").write_text("plugin: bm25\n")
    found = [f"hydra.searchpath=[file://{tmp_path}]", "arch=short", "arch.k1=0.9"]
    plan = compose_plan(found)
    assert plan.parts["arch"].settings.k1 == 0.9
    assert plan.label("arch") == "short(k1=0.9)"
    with pytest.raises(UserError, match=r"arch\.k3 \(arch=short\): no such setting"):
        compose_plan([*found, "arch.k3=1", "arch.k4=1"])


def test_a_plugin_is_an_option_of_its_name_with_all_its_settings() -> None:
    """No file is needed, `+` neither, and what is composed is complete."""
    config = compose_raw(["arch=bm25", "arch.k1=2"])
    assert config.arch == {
        "plugin": "bm25", "k1": 2, "b": 0.75, "epsilon": 0.25, "tokenizer": "words", "cache": None
    }  # fmt: skip
    assert not (CONF / "arch" / "bm25.yaml").exists()
    with pytest.raises(UserError, match=r"arch\.k2 \(arch=bm25\): no such setting; did you mean"):
        compose_plan(["arch=bm25", "arch.k2=1"])


def test_an_option_inherits_what_it_does_not_say() -> None:
    config, base = compose_raw(["arch=typed_graph_walk"]).arch, compose_raw([]).arch
    assert {key for key in base if config[key] != base[key]} == {"hops"}
    assert compose_plan(["arch=typed_graph_walk", "arch.k1=2"]).label("arch") == (
        "typed_graph_walk(k1=2)"
    )


def test_another_program_of_hydra_has_none_of_the_options(tmp_path: Path) -> None:
    from hydra.core.global_hydra import GlobalHydra

    (tmp_path / "config.yaml").write_text("x: 1\n")
    GlobalHydra.instance().clear()
    with composer(tmp_path):
        assert options("arch") == []


def test_a_missing_value_is_named(tmp_path: Path) -> None:
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "open.yaml").write_text("plugin: bm25\nk1: ???\n")
    with pytest.raises(UserError, match=r"arch\.k1"):
        compose_plan([f"hydra.searchpath=[file://{tmp_path}]", "arch=open"])


def test_a_yaml_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "arch").mkdir()
    (tmp_path / "arch" / "torn.yaml").write_text("plugin: [bm25\n")
    with pytest.raises(UserError) as error:
        compose_plan([f"hydra.searchpath=[file://{tmp_path}]", "arch=torn"])
    assert "torn.yaml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        (["arch=bm25,none", "seed=1"], [["arch=bm25", "seed=1"], ["arch=none", "seed=1"]]),
        (["seed=range(1,3)"], [["seed=1"], ["seed=2"]]),
        (
            ["arch=choice(bm25,none)", "budget=loose,tight"],
            [
                ["arch=bm25", "budget=loose"],
                ["arch=bm25", "budget=tight"],
                ["arch=none", "budget=loose"],
                ["arch=none", "budget=tight"],
            ],
        ),
        (["arch=glob(retr_only*)"], [["arch=retr_only"], ["arch=retr_only_fifo"]]),
        (["arch=none"], [["arch=none"]]),
        (["arch=none,bm25", "arch=sam"], [["arch=sam"]]),
    ],
)
def test_a_grid_is_that_of_hydras_sweeper(overrides: list[str], expected: list[list[str]]) -> None:
    assert grid(overrides, compose_raw(without_sweeps(overrides))) == expected


def test_jobs_keep_where_groups_are_found_and_nothing_else_of_hydras(tmp_path: Path) -> None:
    found = f"hydra.searchpath=[file://{tmp_path}]"
    overrides = [found, "hydra.sweep.dir=x", "arch=none,bm25"]
    jobs = grid(overrides, compose_raw(without_sweeps(overrides)))
    assert jobs == [[found, "arch=none"], [found, "arch=bm25"]]


def test_a_sweep_of_a_configuration_gives_way_to_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "experiment").mkdir()
    (tmp_path / "experiment" / "two.yaml").write_text(
        "# @package _global_\n"
        "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params: {arch: 'none,bm25'}\n"
    )
    found = f"hydra.searchpath=[file://{tmp_path}]"
    given = [found, "+experiment=two"]
    config = compose_raw(given)
    assert is_sweep(config)
    assert grid(given, config) == [
        [found, "arch=none", "+experiment=two"],
        [found, "arch=bm25", "+experiment=two"],
    ]
    assert grid([*given, "arch=sam"], config) == [[found, "arch=sam", "+experiment=two"]]


def test_directories_are_resolved() -> None:
    assert directory_of(compose_raw([]).hydra, "run") is None
    assert directory_of(compose_raw([]).hydra, "sweep") is None
    config = compose_raw(["hydra.run.dir='a/${seed}'", "hydra.sweep.dir=/b"])
    assert directory_of(config.hydra, "run") == Path("a/7")
    assert directory_of(config.hydra, "sweep") == Path("/b")
    with pytest.raises(UserError, match="'nope' not found"):
        directory_of(compose_raw(["hydra.run.dir=${nope}"]).hydra, "run")


def test_options_are_those_of_the_group() -> None:
    assert {"bm25", "none"} <= set(options("arch"))
    assert options("no_group") == []


@pytest.mark.parametrize(
    ("override", "key"),
    [("arch=x", "arch"), ("+arch.k=1", "arch.k"), ("++a.b=c=d", "a.b"), ("~arch", "arch")],
)
def test_the_key_of_an_override(override: str, key: str) -> None:
    assert key_of(override) == key


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("arch=bm52", "arch: no option 'bm52'; did you mean 'bm25'? "),
        ("arhc=bm25", "arhc: no such key; did you mean 'arch'? allowed: "),
        ("arch.sedes=1", "arch.sedes (arch=typed_graph): no such setting; did you mean 'seeds'?"),
        ("arch=bm25,none", "arch=bm25,none: several values; add -m to sweep over them"),
        ("seed=range(1,3)", "seed=range(1,3): several values; add -m to sweep over them"),
        ("+arch=bm25", "arch: an option is chosen already; leave out the +"),
        ("+seed=8", "seed: there is a value already; leave out the +"),
        ("hydra.foo=1", "hydra.foo: no such key"),
        ("arch", "'arch' is not an override: key=value expected"),
        ("=1", "'=1' is not an override: it names no key"),
        ("", "'' is not an override"),
        ("arch=[", "'arch=[' is not an override"),
        ("arch=own_fading,", "'arch=own_fading,' is not an override: it ends with a comma"),
        ("arch=bm25 arch.k1=1e999", "arch.k1 (arch=bm25): inf given, a number expected"),
        (f"seed={'9' * 5000}", "'seed=999"),
        (f"seed={'[' * 3000}{']' * 3000}", "seed: nested too deeply"),
        ("seed=${nope}", "seed: Interpolation key 'nope' not found"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(override: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        compose_plan(override.split(" "))
    message = str(error.value)
    assert message.startswith(said), message
    assert "\n" not in message
    assert "search path" not in message.lower()
    assert "HYDRA_FULL_ERROR" not in message


@pytest.mark.parametrize("word", ["[{}]", "[file://{}]", "['pkg://other','{}']", "[file://x, {}]"])
def test_a_bomb_of_aliases_is_refused_wherever_options_are_found(tmp_path: Path, word: str) -> None:
    (tmp_path / "arch").mkdir()
    lists = "".join(f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 11))
    (tmp_path / "arch" / "bomb.yaml").write_text(f"a0: &a0 [1, 2]\n{lists}")
    with pytest.raises(UserError, match=r"bomb.yaml: aliases \(\*\) make more than"):
        check_options(overrides=["arch=bomb", f"hydra.searchpath={word.format(tmp_path)}"])
    check_options(overrides=["arch=bomb"])
