"""The improvement loop: diagnose, author, gate, promote or discard, every step an event (Regimes).

It knows a target only by its contract (`framework.contracts.Target`) and holds no word of any.
"""

from __future__ import annotations
