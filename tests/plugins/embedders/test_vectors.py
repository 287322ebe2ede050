"""Vectors on disk: stored once, the first one stays, whoever writes at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from framework.errors import UserError
from plugins.embedders._vectors import VectorCache

_FILL = """
import sys
from pathlib import Path
import numpy as np
from plugins.embedders._vectors import VectorCache
cache, own = VectorCache(Path(sys.argv[1]), "m"), float(sys.argv[2])
for i in range(100):
    cache.put("passage", f"own {sys.argv[2]} {i}", np.full(8, own, dtype=np.float32))
    cache.put("passage", f"shared {i}", np.full(8, own, dtype=np.float32))
"""


def test_processes_can_make_and_fill_one_file_at_once(tmp_path: Path) -> None:
    path, root = tmp_path / "e.sqlite", Path(__file__).resolve().parents[3]
    processes = [
        subprocess.Popen([sys.executable, "-c", _FILL, str(path), str(n)], cwd=root)
        for n in range(4)
    ]
    assert [process.wait(60) for process in processes] == [0] * 4
    cache = VectorCache(path, "m")
    for i in range(100):
        for n in range(4):
            assert cache.get("passage", f"own {n} {i}") == pytest.approx(np.full(8, n))
        shared = cache.get("passage", f"shared {i}")
        assert shared is not None
        assert len(set(shared.tolist())) == 1
    cache.close()


def test_a_vector_is_of_its_model_form_and_text(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "e.sqlite", "m")
    cache.put("passage", "a", np.ones(4, dtype=np.float32))
    cache.put("passage", "a", np.zeros(4, dtype=np.float32))
    assert cache.get("passage", "a") == pytest.approx(np.ones(4))
    assert cache.get("query", "a") is None
    assert cache.get("passage", "b") is None
    assert VectorCache(tmp_path / "e.sqlite", "n").get("passage", "a") is None
    assert VectorCache(None, "m").get("passage", "a") is None


def test_a_file_that_is_no_database_is_the_users_mistake(tmp_path: Path) -> None:
    path = tmp_path / "e.sqlite"
    path.write_text("not a database, but long enough to be taken for one" * 40)
    with pytest.raises(UserError, match="can't be used as a database"):
        VectorCache(path, "m").get("query", "a")
