"""Valid inputs of loaders whose files no fixture has."""

from __future__ import annotations

import struct
from typing import Final

FRONT: Final = b"""---
id: H-1
title: Berths
date: 2020-03-10
status: accepted
supersedes: [H-2]
---

# Berths

Berths are booked by telephone.
"""
OTHER: Final = b"---\nid: H-2\ntitle: Paper\ndate: 2019-03-10\n---\n\nOn paper.\n"
ADR: Final = b"""# 1. Use a ledger

Date: 2019-05-13

## Status

Accepted. Supersedes [2. Use paper](0002-paper.md)

## Context

An append-only ledger.
"""
PEP: Final = b"""PEP: 8801
Title: Berths
Author: A. Harbour
Status: Final
Type: Process
Created: 10-Mar-2020
Replaces: 8802

Abstract
========

Berths are booked by telephone.
"""
EIP: Final = b"""---
eip: 9001
title: Berths
status: Final
type: Standards Track
created: 2020-03-10
requires: 9002
---

## Abstract

Berths are booked by telephone.
"""
LINE: Final = (
    b'{"id": "a", "title": "Berths", "date": "2020-03-10", "text": "By telephone.", '
    b'"supersedes": ["b"], "requires": "b"}\n'
    b'{"id": "b", "title": "Paper", "date": "2019-03-10", "text": "On paper."}\n'
)
SCRIPT: Final = b"""CREATE TABLE members (name TEXT, city TEXT, email TEXT);
INSERT INTO members VALUES ('Ann', 'Ash', NULL), ('Ben', 'Dale', 'b@x.org');
"""
QUESTIONS: Final = b"""notes:
  - {id: donors, text: "`donor` means members.email IS NOT NULL."}
questions:
  - {id: members_in, kind: filter, question: "Who lives in {v}?", held_out: "Names in {v}?",
     sql: "SELECT name FROM members WHERE city = '{v}'", v: [Ash, Dale]}
  - {id: donors, kind: aggregate, question: "How many donors are there?", held_out: "Donors?",
     sql: "SELECT COUNT(*) FROM members WHERE email IS NOT NULL", notes: [donors]}
"""
HYPOTHESES: Final = b"""title: x
stop: fixed
hypotheses:
  - {name: a, claim: c, role: primary, arm: bm25, against: [none], axis: eda, budget: tight,
     direction: higher, margin: 0.1, test: paired, alpha: 0.05, n: 20}
"""
RULES: Final = b"""title: Loans
run: [domain=loan, budget=tight]
seeds: [1, 2]
n_cases: 20
axis: eda
submitters: {me: "00ff"}
"""
MAPPING: Final = b"""address: http://127.0.0.1:8000/v1
headers: {Authorization: "Bearer {env.MY_MEMORY_KEY}"}
add:
  path: /memories
  fields: {user_id: "{tenant}", messages: [{role: user, content: "{text}"}]}
  id: results.0.id
search:
  path: /memories/search
  fields: {user_id: "{tenant}", query: "{query}", top_k: "{limit}"}
answer: {items: results, text: memory, id: id, score: score}
version: 2.2.1
timeout_seconds: 60
"""


def _of(text: bytes) -> bytes:
    return struct.pack("<Q", len(text)) + text


GGUF: Final = (
    struct.pack("<4sIQQ", b"GGUF", 3, 1, 4)
    + _of(b"general.architecture") + struct.pack("<I", 8) + _of(b"llama")
    + _of(b"general.file_type") + struct.pack("<II", 4, 3)
    + _of(b"llama.context_length") + struct.pack("<II", 4, 2048)
    + _of(b"tokens") + struct.pack("<IIQ", 9, 8, 2) + _of(b"a") + _of(b"b")
    + _of(b"weight") + struct.pack("<IQQIQ", 2, 8, 4, 0, 0)
)  # fmt: skip
AUDITED: Final = (
    b'[{"question_id": "q1", "question": "Where?", "golden_answer": "Paris", "category": 4,'
    b' "generated_answer": "Rome", "llm_judgments": {"judgment_1": true, "judgment_2": false}}]'
)
CALIBRATED: Final = (
    b'{"set": "s", "identity": "x", "overrides": ["judge=rules"],'
    b' "right": {"passed": 9, "n": 10}, "wrong": {"passed": 1, "n": 10}}'
)
