"""No key gets into a configuration: not by the environment, not as it stands, not as a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework.engine.secrets import check_without_keys
from framework.errors import UserError
from tests.launching import HOTPOT, everything_in, framework, run

KEY = "a-key-of-more-than-twelve"
READS = "${oc.env:A_SERVICE_API_KEY}"
CLOSED = (
    "the environment is not read in a configuration, as that is stored; a key is named by "
    "api_key_env, or by {env.NAME} in a mapping"
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
        (f"hydra.run.dir=runs/{KEY}", "an override"),
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
        "configuration is stored, so a key stays in the environment"
    )
    assert everything_in(tmp_path) == {}


def test_only_long_values_of_variables_named_like_keys_are_taken_for_keys(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHORT_TOKEN", "loan")
    monkeypatch.setenv("A_PLACE", "somewhere-on-this-machine")
    check_without_keys({"a": ["loan", {"b": "somewhere-on-this-machine"}]}, ["domain=loan"])
    for name in ("DB_PASSWORD", "aws_secret", "GH_TOKEN", "CLOUD_CREDENTIALS"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "of-thirteen-c")
            with pytest.raises(UserError, match=rf"a\[0\]\.b: .* variable {name};"):
                check_without_keys({"a": [{"b": "x of-thirteen-c y"}]}, [])


@pytest.mark.parametrize(
    "override",
    [
        f"model.api_key_env={KEY}",
        f"model.base_url=http://127.0.0.1:9/v1?key={KEY}x",
        f"model.base_url=localhost:9/v1?key={KEY}x",
    ],
    ids=["name", "address", "no_scheme"],
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
