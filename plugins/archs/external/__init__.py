"""Third-party memory systems as arms, without adapter code: a system is one YAML mapping.

    mapping (conf/arch/NAME.yaml) -> settings (_settings.py)
    events --write--> the system, behind process.py (JSON lines), mcp.py or http.py
    query --search--> texts and ids, read where the mapping says (_mapping.py)
    --> items traced to events by id or by their words (_trace.py) --> the path, like any arm's

A system that is started by us has a fresh home and working directory for every history, an
environment without keys, no network unless its mapping declares it, a deadline for each call and a
bound on what it says (_home.py, _keeper.py). With `exchanges` it is asked once, and a replay needs
it no more (_exchanges.py, _recorded.py). `_memory.py` is the arm around all of them;
`canaries.py` checks a mapping before any number is printed (`decisionbench probe NAME`).
docs/decisions/0019-any-memory.md follows one case through.
"""
