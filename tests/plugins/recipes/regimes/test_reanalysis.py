"""The recorded Regimes loops give the published tables, and what corrects them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from framework.errors import DataError, UserError
from framework.statistics.proportions import mcnemar_p
from plugins.commands.reanalyze import not_reproduced
from plugins.recipes.regimes._recorded import Loop, read_loops
from plugins.recipes.regimes._tables import changes, published_tables, seeds_as_units
from plugins.recipes.regimes.sections import by_seam, intervals, localised, paired
from tests.launching import framework


@pytest.fixture(scope="module")
def directory(data_dir: Path) -> Path:
    path = data_dir / "recorded"
    if not path.is_dir():
        pytest.skip(f"no recorded runs: {path}")
    return path


@pytest.fixture(scope="module")
def loops(directory: Path) -> tuple[Loop, ...]:
    return read_loops(directory)


def recorded(**changed: object) -> dict[str, object]:
    """A loop of two promotions; the second puts right what the first already had."""
    promotion = {
        "type": "reader-prompt-transform",
        "confirm_delta": 0.1,
        "confirm_transitions": [["a", "assemble-internal", "correct"]],
    }
    return {
        "seed": 3,
        "n_confirm": 10,
        "opt_base": 0.5,
        "confirm_base_final": 0.6,
        "promotions": [promotion, promotion],
        "log": [["reader-prompt-transform", "promoted", 0.1, -1, 0.1]] * 2,
        **changed,
    }


def write(directory: Path, **changed: object) -> Path:
    (directory / "regimes_seed3.json").write_text(json.dumps(recorded(**changed)))
    return directory


@pytest.mark.parametrize(
    ("seed", "delta", "gained", "lost", "p"),
    [
        (7, 0.08, 10, 2, 0.0386),
        (11, 0.06, 8, 2, 0.109),
        (23, 0.05, 7, 2, 0.180),
        (5, 0.10, 11, 1, 0.0063),
        (101, 0.01, 7, 6, 1.0),
    ],
)
def test_final_states(
    loops: tuple[Loop, ...], seed: int, delta: float, gained: int, lost: int, p: float
) -> None:
    (loop,) = [loop for loop in loops if loop.seed == seed]
    assert loop.delta == pytest.approx(delta)
    assert (len(loop.final.gained), len(loop.final.lost)) == (gained, lost)
    assert mcnemar_p(gained, lost) == pytest.approx(p, abs=0.0005)


def test_only_the_funnel_differs_from_print(loops: tuple[Loop, ...]) -> None:
    missing = not_reproduced(published_tables(loops))
    assert [line.split(": ", 1)[0] for line in missing] == [
        "Table 1c, seed 11, authored",
        "Table 1c, seed 11, on OPTIMIZE",
        "Table 1c, total, authored",
        "Table 1c, total, on OPTIMIZE",
    ]
    assert "printed 44, the rows give 43" in missing[2]


def test_five_seeds_cannot_reach_five_percent(loops: tuple[Loop, ...]) -> None:
    test = seeds_as_units(loops)
    assert (test.p, test.smallest_p) == (0.0625, 0.0625)
    assert any("significant at .05: seed 5; no longer: seed 7" in line for line in changes(loops))


def test_the_command_prints_both(directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = framework(capsys, "reanalyze", "regimes", str(directory))
    assert done.status == 0, done.err
    for line in ("all five seeds    43    13    7.3e-05", "without seed 101  36    7     9.0e-06"):
        assert line in done.out
    assert "86 of 90 printed numbers reproduced" in done.out
    as_json = json.loads(framework(capsys, "reanalyze", "regimes", str(directory), "--json").out)
    assert as_json["corrected"][1]["rows"][0][1][2]["value"] == 0.0625


def test_a_question_put_right_twice_is_told(tmp_path: Path) -> None:
    loops = read_loops(write(tmp_path))
    assert any("Seed 3: 1 times a question" in line for line in changes(loops))
    assert loops[0].delta == pytest.approx(0.1)


def test_mistakes_name_the_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no regimes_seed"):
        read_loops(tmp_path)
    write(tmp_path, promotions=[])
    with pytest.raises(DataError, match=r"regimes_seed3\.json.*promoted nothing"):
        read_loops(tmp_path)
    write(tmp_path, seed="three")
    with pytest.raises(DataError, match="not a record of a loop"):
        read_loops(tmp_path)
    (tmp_path / "regimes_seed3.json").write_text("{}")
    with pytest.raises(DataError, match="has no 'seed'"):
        read_loops(tmp_path)


def test_results_without_a_number_are_as_printed(loops: tuple[Loop, ...]) -> None:
    tables = [make(loops) for make in (intervals, paired, localised, by_seam)]
    found = [cell for table in tables for _, _, cell in table.cells if cell.printed]
    assert len(found) == 3 + 4 + 3 + 5
    assert all(cell.reproduced for cell in found)
    for table, total in ((paired(loops), 100), (by_seam(loops), None)):
        for _, cells in table.rows:
            numbers = [cell.value or 0 for cell in cells]
            assert sum(numbers) == total if total else numbers[0] == sum(numbers[1:])
    seams = {label: cells[0].value for label, cells in by_seam(loops).rows}
    assert seams == {"reader-prompt-transform": 30, "score-transform": 13}
