"""MemPalace's own MCP server, with the run's embedder by its setting for endpoints of others.

The default downloads a model. Nothing else is changed.
"""

from __future__ import annotations

import os

import sockets

os.environ["MEMPALACE_EMBEDDING_MODEL"] = "openai-compat"
os.environ["MEMPALACE_EMBEDDING_API_URL"] = f"http://{sockets.HOST}/v1"
os.environ["MEMPALACE_EMBEDDING_API_MODEL"] = "embedder"

from mempalace.mcp_proxy import main

if __name__ == "__main__":
    main()
