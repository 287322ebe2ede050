"""Dated sessions of a conversation read sentence by sentence."""

from __future__ import annotations
