"""A service with decisions that its code does not state, and patches that must honour them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, ClassVar, Final, Literal

from framework.bounds import Bounded, at_least
from framework.contracts import Domain, Provenance
from framework.records import (
    Answer,
    Case,
    Event,
    Gold,
    GoldItem,
    Retired,
    Span,
    TaskCard,
)
from framework.registry import register
from framework.text.canonical import canonical_json, digest
from framework.text.reading import read_json
from framework.text.tokens import count_tokens
from plugins.domains.codebase.answering_back import (
    NOTHING_CHANGED,
    RUN_CHECKS,
    TOOLS,
    found_in,
    references,
)
from plugins.domains.codebase.checking import Checker
from plugins.domains.codebase.corpus import SERVICE, TOOLBOX, Corpus, Forms, Task, data_digest

HISTORY: Final = "project"
"""The one history: of all that was decided and said."""

INSTRUCTION: Final = (
    "You change a small service, a lending library of tools. Decisions that were taken over the "
    "years may govern the change; the ticket names none of them. A decision also governs what is "
    "below it: what implements it, what is derived from it, what it constrains. One that was "
    "replaced no longer holds. Change the function that the ticket names, so that what the code "
    "does honours the decision that governs it, and change nothing else. Tests stay as they are."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodebaseSettings(Bounded):
    """What is handed over and how it is said.

    spec : `stripped`, code that states no decision; `full`, each rule as a comment above the
        functions that it governs.
    forms : wording of the rules: `development`, which the rule-based patcher was written against,
        `held_out`, or `mixed`, with every second rule held out (tag `form`).
    padding : number of decisions on other programs, besides the 47 on this service (41 in force).
    """

    spec: Literal["stripped", "full"] = "stripped"
    forms: Forms = "mixed"
    padding: Annotated[int, at_least(0)] = 160


@register("domain", "codebase")
class Codebase(Domain[CodebaseSettings]):
    """Change a service as a recorded decision requires (Depth 6 and 12, on a service of our own).

    42 tasks: each of 14 rules governs three functions, one at each causal depth 1 to 3, so that no
    depth has harder rules than another. The depth is the number of links from the decision nearest
    to the ticket up to the one with the rule. Six rules have a retired version with another figure.
    All cases share one history; the seed sets their order, in turns through the depths. Stratum:
    the depth; cluster: the rule; tags: depth, rule, weight (1 to 3: how grave a breach is), form.

    An answer's edit is a patch (`plugins.models.rule_based.patching`). `checks` runs the rule's
    invariant on the patched files, and the service's own tests, in `framework.sandbox`.

    Where the platform can't isolate the code of a patch, only protocols without answers run.
    """

    provenance: Provenance = Provenance(
        source="generated",
        revision="1",
        licence="MIT",
        citation="written for DecisionBench, after the purpose-built repository of Depth, 6",
    )
    provides: ClassVar[tuple[str, ...]] = ("chain", "edit", "success", "evidence", "items")
    success_axis: ClassVar[str] = "compliance"
    version: ClassVar[str] = "3"
    headline: ClassVar[tuple[str, ...]] = (
        "compliance",
        "merge_ready",
        "asserted_only",
        "kappa",
        "p_ret",
        "recall",
        "chain_recovery",
    )
    runs_code: ClassVar[bool] = True

    def __init__(self, settings: CodebaseSettings) -> None:
        super().__init__(settings)
        self._corpus = Corpus(settings.forms, settings.padding)
        self._files = self._corpus.files(settings.spec)
        self._checker = Checker(self._files)
        self._by_target = {task.target: task for task in self._corpus.tasks}

    @cached_property
    def nominal_tokens(self) -> int:
        """Tokens of the history."""
        return sum(count_tokens(event.text) for event in self.history(HISTORY))

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        rng = random.Random(f"codebase/{seed}")
        by_depth: dict[int, list[Task]] = {}
        for task in self._corpus.tasks:
            by_depth.setdefault(task.depth, []).append(task)
        columns = [rng.sample(tasks, len(tasks)) for _, tasks in sorted(by_depth.items())]
        turns = [task for turn in zip(*columns, strict=True) for task in turn]
        for task in turns[: len(turns) if n is None else n]:
            yield self._case(task)

    def history(self, history_id: str) -> Iterator[Event]:
        if history_id != HISTORY:
            raise KeyError(history_id)
        yield from self._corpus.history()

    def digest(self) -> str:
        return digest(data_digest())

    def success(self, answer: Answer, gold: Gold) -> bool:
        """Whether the invariant holds on the patched files."""
        tree = self._checker.patched(answer.edit)
        target = read_json(gold.invariant)["target"]
        return tree is not None and self._checker.invariant(tree, target).passed

    def checks(self, answer: Answer, case: Case) -> Mapping[str, bool | None]:
        """See the contract. merge_ready : the invariant holds and the service's own tests pass."""
        tree = self._checker.patched(answer.edit)
        if tree is None:
            return {"compliance": False, "merge_ready": False, "asserted_only": False}
        task = self._by_target[read_json(case.gold.invariant)["target"]]
        complies = self._checker.invariant(tree, task.target).passed
        rule = self._corpus.rule(task.rule)
        return {
            "compliance": complies,
            "merge_ready": complies and self._checker.tests(tree).passed,
            "asserted_only": self._checker.is_only_asserted(
                tree, task.target, rule, answer.rationale
            ),
        }

    def reply(self, case: Case, answer: Answer) -> tuple[bool, str]:
        """What the rule's invariant and the service's own tests say of the patched files."""
        tree = self._checker.patched(answer.edit)
        if tree is None:
            return False, "The patch can't be made: its text to replace is not in the files."
        target = read_json(case.gold.invariant)["target"]
        for verdict in (self._checker.invariant(tree, target), self._checker.tests(tree)):
            if not verdict.passed:
                return False, f"The checks fail: {verdict.problem}"
        return True, "All checks pass."

    def reference(self, case: Case) -> Answer | None:
        """A patch written by hand."""
        edits = references()[read_json(case.gold.invariant)["target"]]
        return Answer(edit=canonical_json({"edits": edits}))

    def tools(self, case: Case) -> Mapping[str, str]:
        return TOOLS

    def use(self, case: Case, tool: str, argument: str, answer: Answer | None) -> str:
        if tool == RUN_CHECKS:
            return self.reply(case, answer or Answer(edit=NOTHING_CHANGED))[1]
        return found_in(self._files, argument)

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        tasks, decisions = self._corpus.tasks, self._corpus.decisions
        return {
            "tasks": float(len(tasks)),
            "decisions_in_force": float(len(decisions) - len(self._corpus.retired)),
            "decisions_retired": float(len(self._corpus.retired)),
            "mean_depth": sum(task.depth for task in tasks) / len(tasks),
        }

    def _case(self, task: Task) -> Case:
        modules = dict.fromkeys((task.file, *(f"{SERVICE}/{name}.py" for name in TOOLBOX)))
        return Case(
            id=task.id,
            history_id=HISTORY,
            task=TaskCard(
                instruction=INSTRUCTION,
                query=task.ticket,
                operation="write_patch",
                material={path: self._files[path] for path in modules},
            ),
            gold=self._gold(task),
            stratum=f"depth_{task.depth}",
            depth=task.depth,
            cluster=f"rule_{task.rule}",
            tags={
                "depth": str(task.depth),
                "rule": str(task.rule),
                "weight": str(self._corpus.decisions[task.rule].weight),
                "form": self._corpus.form(task.rule),
            },
        )

    def _gold(self, task: Task) -> Gold:
        """The rule (critical), and on the way to it the entry and every link."""
        corpus = self._corpus
        chain = corpus.chain(task)
        governing, rule = corpus.decisions[task.rule], corpus.id(task.rule)
        entry = corpus.decisions[task.entry]
        items = [_item("entry", "rule", corpus.id(task.entry), entry.text)]
        for k, (below, above) in enumerate(pairwise(chain), start=1):
            stated_by, sentence = corpus.link(below, above)
            items.append(_item(f"hop:{k}", "rule", corpus.id(stated_by), sentence))
        items.append(_item("decision", "rule", rule, corpus.rule(task.rule), critical=True))
        ids = tuple(map(corpus.id, chain))
        old = governing.replaces
        return Gold(
            items=tuple(items),
            governing=(rule,),
            chain=ids,
            entry=corpus.id(task.entry),
            evidence=ids,
            distractors=(corpus.id(old),) if old else (),
            retired=(
                (
                    Retired(
                        key="rule", type="", value=corpus.rule(old), source_ids=(corpus.id(old),)
                    ),
                )
                if old
                else ()
            ),
            invariant=canonical_json({"rule": task.rule, "target": task.target}),
        )


def _item(name: str, kind: str, source: str, text: str, *, critical: bool = False) -> GoldItem:
    span = Span(source_id=source, text=text)
    return GoldItem(id=name, kind=kind, key=name, spans=(span,), critical=critical)


def _retired(source: str, text: str) -> Retired:
    return Retired(key="rule", type="", value=text, source_ids=(source,))
