"""No key gets into a configuration: not by the environment, not as it stands, not as a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.cli import main
from framework.engine.secrets import check_without_keys
from framework.errors import UserError
from tests.launching import HOTPOT, everything_in, framework, run

KEY = "a-key-of-more-than-twelve"
READS = "${oc.env:A_SERVICE_API_KEY}"
CLOSED = (
    "a configuration can't read the environment, as it is stored; name a key by api_key_env, "
    "or by {env.NAME} in a mapping"
)


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("A_SERVICE_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("override", "where"),
    [
        (f"run_name={READS}", "run_name"),
        (f"run_name='{READS}'", "run_name"),
        (f"model=openai model.name='{READS}'", "model.name"),
        (f"hydra.run.dir='runs/{READS}'", "hydra.run.dir"),
        ("run_name='${oc.decode:" + READS + "}'", "run_name"),
        ("run_name='${oc.${oc.decode:env}:A_SERVICE_API_KEY}'", "run_name"),
    ],
    ids=["bare", "value", "setting", "directory", "nested", "indirect"],
)
def test_the_environment_is_not_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, override: str, where: str
) -> None:
    done = run(capsys, *HOTPOT, *override.split())
    assert done.mistake == f"{where}: {CLOSED}"
    assert everything_in(tmp_path) == {}


@pytest.mark.slow
def test_an_escaped_interpolation_is_not_resolved_later(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Named by it, a run could not be resumed: `resume=DIR` would read the environment."""
    done = run(capsys, *HOTPOT, f"run_name=\\{READS}")
    assert done.mistake == f"run_name: {READS!r} given, a directory's name without / expected"
    assert everything_in(tmp_path) == {}
    given = ("tracking=mlflow", f"tracking.experiment=\\{READS}", "hydra.run.dir=r")
    done = run(capsys, *HOTPOT, "n_cases=1", *given)
    said = [done, run(capsys, "resume=r")]
    said += [framework(capsys, command, "r") for command in ("verify", "replay", "report", "sync")]
    assert [one.status for one in said] == [0] * 6, said
    assert not any(KEY in one.out + one.err for one in said)
    found = everything_in(tmp_path)
    assert READS.encode() in found["r/config.yaml"]
    assert not any(KEY in name or KEY.encode() in content for name, content in found.items())


def test_an_option_of_the_users_reads_none_either(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "mine" / "arch").mkdir(parents=True)
    (tmp_path / "mine" / "arch" / "sharp.yaml").write_text(
        f'defaults: [bm25, _self_]\nk1: "{READS}"\n'
    )
    before = everything_in(tmp_path)
    done = run(capsys, "--config-dir=mine", *HOTPOT, "arch=sharp")
    assert done.mistake == f"arch.k1: {CLOSED}"
    done = framework(capsys, "estimate", "--config-dir=mine", *HOTPOT, "arch=sharp")
    assert done.mistake == f"arch.k1: {CLOSED}"
    assert everything_in(tmp_path) == before


@pytest.mark.parametrize(
    ("override", "where"),
    [
        (f"run_name=x{KEY}", "run_name"),
        (f"hydra.run.dir=runs/{KEY}", "hydra.run.dir"),
        (f"domain.path={KEY}/questions.json", "domain.path"),
    ],
    ids=["name", "directory", "path"],
)
def test_a_key_as_it_stands_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, override: str, where: str
) -> None:
    done = run(capsys, *HOTPOT, override)
    assert done.mistake == (
        f"{where}: it holds the value of the environment variable A_SERVICE_API_KEY; a "
        "configuration is stored, so keep the key in the environment"
    )
    assert everything_in(tmp_path) == {}


@pytest.mark.parametrize(
    "words",
    [
        ["-m", *HOTPOT, "arch=none,bm25", f"hydra.sweep.dir={KEY}"],
        [*HOTPOT, f"run_name={KEY}", "--cfg", "job"],
        [f"--config-dir={KEY}", *HOTPOT],
        [f"resume={KEY}"],
        [f"arch={KEY}"],
        [f"+{KEY}"],
        ["verify", KEY],
    ],
    ids=["sweep", "shown", "folder", "resumed", "option", "bare", "command"],
)
def test_a_key_among_a_commands_words_is_not_repeated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: list[str]
) -> None:
    assert main(words) == 2
    said = "".join(capsys.readouterr())
    assert "it holds the value of the environment variable A_SERVICE_API_KEY" in said
    assert KEY not in said
    assert everything_in(tmp_path) == {}


@pytest.mark.parametrize("directory", [("run",), ("sweep", "-m", "arch=none,bm25")])
def test_a_file_of_options_names_no_directory_by_a_key(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, directory: tuple[str, ...]
) -> None:
    kind, *words = directory
    (tmp_path / "mine" / "experiment").mkdir(parents=True)
    text = f"# @package _global_\nhydra: {{{kind}: {{dir: of-{KEY}}}}}\n"
    (tmp_path / "mine" / "experiment" / "e.yaml").write_text(text)
    found = ["--config-dir=mine", *HOTPOT, "protocol=retrieve", "+experiment=e"]
    assert main(["run", *words, *found]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: hydra.{kind}.")
    assert "it holds the value of the environment variable A_SERVICE_API_KEY" in said
    assert KEY not in said
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_only_long_values_of_variables_named_like_keys_are_taken_for_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHORT_TOKEN", "loan")
    monkeypatch.setenv("A_PLACE", "somewhere-on-this-machine")
    check_without_keys({"a": ["loan", {"b": "somewhere-on-this-machine"}]})
    for name in ("DB_PASSWORD", "aws_secret", "GH_TOKEN", "CLOUD_CREDENTIALS"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "of-thirteen-c")
            with pytest.raises(UserError, match=rf"a\[0\]\.b: .* variable {name};"):
                check_without_keys({"a": [{"b": "x of-thirteen-c y"}]})


@pytest.mark.parametrize(
    "override",
    [
        f"model.api_key_env={KEY}",
        f"model.base_url=http://127.0.0.1:9/v1?key={KEY}x",
        f"model.base_url=localhost:9/v1?key={KEY}x",
        f"model.base_url=http://127.0.0.1:9/v1#key={KEY}x",
        f"model.base_url='http://127.0.0.1:9/v1#key={KEY}x'",
    ],
    ids=["name", "address", "no_scheme", "fragment", "quoted"],
)
def test_a_key_in_the_wrong_setting_is_not_printed(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    override: str,
) -> None:
    monkeypatch.delenv("A_SERVICE_API_KEY")
    done = run(capsys, "model=openai", override)
    assert "key" in done.mistake
    assert KEY not in done.err
    assert everything_in(tmp_path) == {}
