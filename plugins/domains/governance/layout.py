"""Which record of a corpus stands where.

A corpus is one path of records: chains laid end to end in random order, each record linked to the
next one up. So every record has the same links whatever its role: where a chain begins and ends,
and which record governs a task, is told by vocabulary and constraints alone.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from random import Random
from typing import Final, Literal

from plugins.domains.governance.lexicon import Lexicon, Setting
from plugins.domains.governance.settings import GovernanceSettings

FIRST_DAY: Final = date(2016, 1, 4)
DAYS: Final = 3_400
PARTS: Final = 24
"""Most events that one record can become."""
_SCALE: Final = 2.0**64


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Records `start` to `start + length - 1`: entry, what lies between, versions of the decision.

    task : the task that it is gold or a look-alike for; -1 for padding.
    """

    index: int
    start: int
    depth: int
    versions: int
    role: Literal["gold", "look_alike", "padding"]
    task: int = -1

    @property
    def length(self) -> int:
        return self.depth + self.versions

    @property
    def head(self) -> int:
        """The record in force at its end."""
        return self.start + self.length - 1


class Layout:
    """The records 0 to `items` - 1 of one corpus: their chains, links, identifiers and dates."""

    def __init__(self, settings: GovernanceSettings, words: Lexicon, seed: int, block: int) -> None:
        self.settings = settings
        self.words = words
        self.key = f"governance/{seed}/{block}"
        self.chains = _chains(settings, block)
        self._starts = [chain.start for chain in self.chains]
        rng = self.stream("layout")
        self._names = rng.sample(range(words.names), settings.items)
        self._components = _Permutation(16**5, rng)
        order = list(range(len(self.chains)))
        rng.shuffle(order)
        self._after = dict(pairwise(order))
        self._before = {b: a for a, b in self._after.items()}

    def stream(self, *what: object) -> Random:
        """A generator for one purpose."""
        return Random("/".join(map(str, (self.key, *what))))

    def share(self, *what: object) -> float:
        """A number in [0, 1) that hangs on the purpose alone."""
        return int.from_bytes(self._digest(*what), "big") / _SCALE

    def _digest(self, *what: object) -> bytes:
        key = "/".join(map(str, (self.key, *what))).encode()
        return hashlib.blake2b(key, digest_size=8).digest()

    def chain_of(self, record: int) -> Chain:
        """The chain that the record is part of."""
        return self.chains[bisect_right(self._starts, record) - 1]

    def up(self, record: int) -> int | None:
        """The next record up the path: of the same chain, or the entry of the chain after it.

        Links leave a decision from its first version; its later versions have none but to the
        version before.
        """
        chain = self.chain_of(record)
        if record < chain.start + chain.depth:
            return record + 1
        if record > chain.start + chain.depth or chain.index not in self._after:
            return None
        return self.chains[self._after[chain.index]].start

    def down(self, record: int) -> int | None:
        """The record whose `up` this one is."""
        chain = self.chain_of(record)
        if record == chain.start:
            before = self._before.get(chain.index)
            if before is None:
                return None
            return self.chains[before].start + self.chains[before].depth
        return record - 1 if record <= chain.start + chain.depth else None

    def older_version(self, record: int) -> int | None:
        """The version that this one replaces."""
        chain = self.chain_of(record)
        return record - 1 if record > chain.start + chain.depth else None

    def event_id(self, record: int, part: int = 0, *again: str) -> str:
        """The id of a record's event: a digest, which tells neither seed, role nor record.

        again : what tells a second event of the same part from the first.
        """
        return f"ev-{self._digest('event', record, part, *again).hex()}"

    def name(self, record: int) -> str:
        return self.words.name(self._names[record])

    def called(self, record: int, from_above: bool) -> str:
        """How another record calls it: by its name, or by one of its two aliases."""
        if self.settings.naming == "explicit":
            return self.name(record)
        return self.words.alias(self._names[record], int(from_above))

    def label(self, setting: Setting) -> str:
        """How records call a setting."""
        return setting.label if self.settings.naming == "explicit" else setting.alias

    def component(self, record: int) -> str:
        """The component built under the record."""
        return f"cx-{self._components(record):05x}"

    def day(self, record: int) -> float:
        """When it was decided, in days: uniform, the versions of one decision in order."""
        chain = self.chain_of(record)
        first = chain.start + chain.depth
        if record < first or chain.versions == 1:
            return DAYS * self.share("day", record)
        days = sorted(self.share("day", first + i) for i in range(chain.versions))
        return DAYS * days[record - first]

    def time(self, record: int, part: int = 0) -> str:
        """The ISO date that an event bears; parts of one record follow within a quarter."""
        late = 90 * self.share("part", record, part) if part else 0.0
        return (FIRST_DAY + timedelta(days=int(self.day(record) + late))).isoformat()


class _Permutation:
    """A one-to-one map of 0 to n - 1 onto itself, of which no table is kept.

    Three rounds of an odd multiplier and a shift on the next power of two, walked until below n.
    """

    def __init__(self, n: int, rng: Random) -> None:
        self._n = n
        self._bits = max(2, (n - 1).bit_length())
        self._rounds = [(rng.getrandbits(64) | 1, rng.getrandbits(64)) for _ in range(3)]

    def __call__(self, i: int) -> int:
        mask, shift = (1 << self._bits) - 1, (self._bits + 1) // 2
        while True:
            for factor, offset in self._rounds:
                i = (i * factor + offset) & mask
                i ^= i >> shift
            if i < self._n:
                return i


def _chains(settings: GovernanceSettings, block: int) -> list[Chain]:
    """The chains of the tasks, then as many more as it takes to hold `items` records."""
    chains: list[Chain] = []
    start = 0

    def lay(
        depth: int, versions: int, role: Literal["gold", "look_alike", "padding"], task: int
    ) -> None:
        nonlocal start
        chain = Chain(
            index=len(chains), start=start, depth=depth, versions=versions, role=role, task=task
        )
        chains.append(chain)
        start += chain.length

    depths = settings.depths_in(block)
    for task, depth in enumerate(depths):
        lay(depth, settings.versions, "gold", task)
    for task, depth in enumerate(depths):
        for _ in range(settings.distractors):
            lay(depth, settings.versions, "look_alike", task)
    turn = 0
    while (left := settings.items - start) > 0:
        depth = depths[turn % len(depths)]
        turn += 1
        if settings.length_of(depth) <= left:
            lay(depth, settings.versions, "padding", -1)
        else:
            lay(left - 1, 1, "padding", -1)
    return chains
