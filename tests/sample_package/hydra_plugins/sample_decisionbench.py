"""Tells Hydra where the sample package keeps its options: `arch=sample_headlines` and the like."""

from __future__ import annotations

from hydra.core.config_search_path import ConfigSearchPath
from hydra.plugins.search_path_plugin import SearchPathPlugin


class SampleSearchPath(SearchPathPlugin):
    """Adds the package's `conf` behind the benchmark's own, so it can add options, not replace."""

    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        """Append `sample_decisionbench/conf`."""
        search_path.append(provider="sample-decisionbench", path="pkg://sample_decisionbench.conf")
