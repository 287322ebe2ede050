"""Executing plans: run directories, resume, sweeps and the gate's baseline."""

from __future__ import annotations
