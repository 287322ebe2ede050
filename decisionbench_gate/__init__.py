"""A gate for pull requests: fails where a memory has become worse (docs/guide/gate.md).

`pytest` finds the fixture `memory_gate` by itself once DecisionBench is installed;
`python -m decisionbench_gate` compares a branch with its base, as the GitHub Action does.
"""

from __future__ import annotations

from decisionbench_gate.verdict import NoVerdict, Verdict, judge, measure

__all__ = ["NoVerdict", "Verdict", "judge", "measure"]
