"""What the rules of memories share: words alone, nothing of the reader's parser."""

from __future__ import annotations
