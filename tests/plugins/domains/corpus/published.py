"""A small corpus in each published form, as files by name."""

from __future__ import annotations

import json
from pathlib import Path

from plugins.domains.corpus.adr import convert_adr
from plugins.domains.corpus.assemble import described
from plugins.domains.corpus.eips import convert_eips
from plugins.domains.corpus.front_matter import convert_front_matter
from plugins.domains.corpus.jsonl import convert_jsonl
from plugins.domains.corpus.peps import convert_peps
from plugins.domains.corpus.schema import Corpus

FRONT_MATTER = {
    "0001-spreadsheet.md": """\
---
id: H-1
title: Bookings in a spreadsheet
date: 2019-02-01
status: superseded by H-2
superseded_by: [H-2]
owner: office
---

# Bookings in a spreadsheet

> Superseded by [the service](0002-service.md).

## Context

Berths are booked by telephone.

## Decision

One shared spreadsheet.
""",
    "sub/0002-service.md": """\
---
id: H-2
title: "A booking service"
date: 2020-03-10T09:00:00+01:00
summary: Skippers book berths themselves.
requires: ["[[0003-ledger|the ledger]]"]
relates_to: https://example.org/tides, H-1
---
The office only approves.
""",
    "0003-ledger.md": """\
---
created: 2019-W20
depends-on: none
---

# An append-only ledger

What stands now is computed from its entries.
""",
    "README.md": "# About these decisions\n",
    ".hidden/0009-draft.md": "---\nno: header\n",
}
ADR = {
    "0001-record-decisions.md": """\
# 1. Record architecture decisions

Date: 2016-02-12

## Status

Superceded by [2. Use a wiki](0002-use-a-wiki.md)

## Context

We need to record the decisions that we make.

## Decision

Files beside the code.
""",
    "0002-use-a-wiki.md": """\
# 2. Use a wiki

Date: 2016-05-01

## Status

Accepted

Supercedes [1. Record architecture decisions](0001-record-decisions.md)

Amended by [3. Queue mail](0003-queue-mail.md)

## Context

Files beside the code are read by nobody.
""",
    "0003-queue-mail.md": """\
---
status: accepted
date: 2024-01-05
---
# Queue mail

## Context and Problem Statement

Mail is lost when the server restarts.

## Decision Outcome

A queue. It builds on [ADR-0002](0002-use-a-wiki.md).
""",
    "0004-drop-the-queue.md": """\
# Drop the queue

* Status: accepted
* Date: 2024-03-01

The provider keeps mail now.

## Links

* Supersedes [ADR-0003](0003-queue-mail.md)
* Depends on ADR-0002
""",
    "template.md": "# {title}\n",
}
PEPS = {
    "pep-8801.rst": """\
PEP: 8801
Title: A first way
Status: Superseded
Type: Standards Track
Created: 03-Feb-2001
Superseded-By: 8802

Abstract
========

The first way.
""",
    "pep-8802.rst": """\
PEP: 8802
Title: A second way
Status: Final
Type: Standards Track
Created: 03-Feb-2002
Requires: 8801

Abstract
========

The second way.
""",
}
EIPS = {
    "eip-9001.md": """\
---
eip: 9001
title: Receipts: a first form
description: How a receipt is written.
author: Nobody (@nobody)
status: Final
type: Standards Track
category: Core
created: 2020-01-31
---

## Abstract

A receipt has three fields.
""",
    "eip-9002.md": """\
---
eip: 9002
title: Receipts in pairs
description: Two receipts in one.
author: Nobody <nobody@example.org>
status: Draft
type: Standards Track
category: ERC
created: 2021-02-28
requires: 9001
replaces: 9001
---

## Abstract

Two receipts are written as one.

## Specification

They MUST be.
""",
    "eip-template.md": "---\neip: <to be assigned>\n---\n",
}
JSONL = {
    "decisions.jsonl": "".join(
        json.dumps(record) + "\n"
        for record in (
            {"id": "a", "title": "First", "text": "The first text.", "date": "20200101"},
            {
                "id": "b",
                "title": "Second",
                "text": "The second text.",
                "date": "2021-032",
                "supersedes": "a",
                "requires": ["c"],
                "team": "x",
            },
            {
                "id": "c",
                "title": "Third",
                "text": "The third text.",
                "date": 2022,
                "relates_to": ["a", "b"],
            },
        )
    )
}
FORMS = {"front_matter": FRONT_MATTER, "adr": ADR, "peps": PEPS, "eips": EIPS, "jsonl": JSONL}


def laid_out(form: str, folder: Path) -> Path:
    """The files of a form written below a folder; what its importer is given."""
    for name, text in FORMS[form].items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "decisions.jsonl" if form == "jsonl" else folder


def converted(form: str, path: Path) -> Corpus:
    """The corpus that the importer of this form makes of a path."""
    if form == "peps":
        return convert_peps(path)
    if form == "eips":
        return convert_eips(path)
    own = {"front_matter": convert_front_matter, "adr": convert_adr, "jsonl": convert_jsonl}
    return own[form](path, described(path, ""))
