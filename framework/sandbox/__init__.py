"""Running code that is not ours: namespaces, limits, nothing of the host's but the interpreter."""

from __future__ import annotations

from framework.sandbox._seccomp import program as call_filter
from framework.sandbox.box import Limits, Sandbox, SandboxResult, available, require

__all__ = ["Limits", "Sandbox", "SandboxResult", "available", "call_filter", "require"]
