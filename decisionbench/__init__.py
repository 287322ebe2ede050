"""What other harnesses find of DecisionBench by this name: `inspect eval decisionbench/domain`."""

from __future__ import annotations
