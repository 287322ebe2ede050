"""Whether a bundle's runs are what the board asked for, and whether their rows are what they say.

No plugin that a bundle names is imported and nothing of it is run. Each row is made again from the
stored view, the model's stored responses and the board's own cases: what the view holds, what the
reader makes of the responses, and every axis.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from framework.contracts import Model, Operation, Reply, Req, Res, maybe_await
from framework.engine.protocols.rescore import RescoreProtocol, RescoreSource
from framework.errors import ModelError, StopRun, UserError
from framework.models.client import Ledger, ModelClient, track_usage
from framework.records import Case, Item, MemoryView, Row, TraceEntry, Usage
from framework.registry import NoSettings, canonical, find, identity_of, names, settings_of
from framework.retention import event_ranks, retained
from framework.store import JOURNAL, verify
from framework.store.answers import answer_records
from framework.store.state import State, data_differ, load_state
from framework.text.canonical import canonical_bytes, digest, digest_file
from framework.text.printable import brief
from framework.text.reading import read_json
from framework.text.tokens import count_tokens
from plugins.commands.leaderboard.bundle import Bundle, Refused, kept_of, unpack
from plugins.commands.leaderboard.rules import BoardRules, Drawn

_SCORED: Final = ("axes", "success", "sufficient", "all_retained", "determined", "expected")
_ASKED: Final = ("answer",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An arm of one submitter's, checked: its rows of all seeds, by seed.

    Rows of one `case_id` are of one case, whatever their seeds.
    """

    submitter: str
    key: str
    arm: str
    model: str
    rows: Mapping[int, Sequence[Row]]


class Recorded(Model[NoSettings]):
    """Answers with the responses that a record holds, to the prompts that they were given to.

    Tokens are those of our counter. Raises Refused for a prompt that was not recorded.
    """

    name = "recorded"
    kind = "llm"

    def __init__(self, prompts: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(NoSettings())
        self._responses: dict[tuple[str, str], list[str]] = defaultdict(list)
        for prompt in prompts:
            if prompt["phase"] in _ASKED:
                self._responses[prompt["system"], prompt["user"]].append(prompt["response"])

    async def run(self, operation: Operation[Req, Res], request: Req, sample: int) -> Reply[Res]:
        prompt = operation.prompt(request)
        known = self._responses.get((prompt.system, prompt.user))
        if not known:
            raise Refused("its model was not asked about the view that is stored")
        text = known.pop(0)
        sent = count_tokens(prompt.system) + count_tokens(prompt.user)
        usage = Usage(calls=1, tokens_in=sent, tokens_out=count_tokens(text))
        return Reply(response=operation.parse(text, request), text=text, usage=usage)


def checked(path: Path, rules: BoardRules, drawn: Mapping[int, Drawn], into: Path) -> list[Entry]:
    """The arms of a bundle, once all of it holds. Raises Refused, which says what does not."""
    bundle = unpack(path, into)
    _check_submitter(bundle, rules)
    found: dict[tuple[str, str], dict[int, Sequence[Row]]] = defaultdict(dict)
    for number, run in enumerate(bundle.runs, start=1):
        try:
            state = _state(run)
            seed = _seed(state, drawn)
            _check_conditions(state, rules, drawn[seed])
            arm, model = _labels(state)
            if seed in found[arm, model]:
                raise Refused(f"arm {arm} has two runs of one seed")
            found[arm, model][seed] = _rows(state, rules, drawn[seed], arm)
        except Refused as error:
            raise error.of_run(run, number) from None
        except (UserError, ModelError, StopRun) as error:
            problem = Refused(_short(error, into), "it can't be read again")
            raise problem.of_run(run, number) from None
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
                RecursionError) as error:  # fmt: skip
            form = "not the form of a run"
            problem = Refused(f"{form} ({_short(error, into)})", form)
            raise problem.of_run(run, number) from None
    for (arm, _), rows in found.items():
        if missing := len(drawn) - len(rows):
            raise Refused(f"arm {arm}: {missing} of the board's {len(drawn)} seeds are missing")
    return [
        Entry(submitter=bundle.submitter, key=bundle.key, arm=arm, model=model, rows=rows)
        for (arm, model), rows in sorted(found.items())
    ]


def _short(error: Exception, into: Path) -> str:
    return " ".join(str(error).replace(f"{into}/", "").split())[:200]


def _check_submitter(bundle: Bundle, rules: BoardRules) -> None:
    known = rules.submitters.get(bundle.submitter)
    if rules.submitters and known is None:
        raise Refused(f"the board names no submitter {bundle.submitter}")
    if known is not None and known.lower() != bundle.key:
        raise Refused(f"signed by another key than that of {bundle.submitter}")


def _state(run: Path) -> State:
    """The run of an intact, finished journal that names the answers beside it."""
    verdict = verify(run / JOURNAL)
    if not verdict.ok:
        raise Refused(f"{JOURNAL}: {verdict.problem}", f"{JOURNAL}: no whole chain of events")
    state = load_state(run)
    sealed = (state.finished or {}).get("files", {})
    for name in kept_of(run):
        if name != JOURNAL and sealed.get(name) != digest_file(run / name):
            raise Refused(f"{name} is not the file that the journal was closed with")
    return state


def _seed(state: State, drawn: Mapping[int, Drawn]) -> int:
    seed = state.started["config"]["seed"]
    if seed not in drawn or isinstance(seed, bool):
        raise Refused("its seed is none of the board's")
    return int(seed)


def _labels(state: State) -> tuple[str, str]:
    labels = state.started["config"]["labels"]
    found = tuple(labels[group] for group in ("arch", "model"))
    if any(not isinstance(label, str) or len(label) > 300 for label in found):
        raise Refused("an arm's label can't be shown")
    if any(not label.isprintable() or label != " ".join(label.split()) for label in found):
        raise Refused("an arm's label has characters that a page does not show as they are")
    return cast(tuple[str, str], found)


def _check_conditions(state: State, rules: BoardRules, own: Drawn) -> None:
    """Raise Refused where the run was made otherwise than the board asks."""
    config, expected = state.started["config"], own.plan.identity
    differ = []
    for key, value in expected.items():
        if key in own.plan.parts and key not in rules.free | {"gate"}:
            given = {k: v for k, v in config[key].items() if k != "plugin"}
            plugin = find(key, value["plugin"])
            same = canonical(key, config[key]["plugin"]) == plugin.name
            same = same and _identity(plugin, given) == _identity_only(value)
        elif key in config and key not in own.plan.parts:
            same = _plain(config[key]) == _plain(value)
        else:
            continue
        if not same:
            differ.append(key)
    if differ:
        raise Refused(f"made under other conditions than the board's: {', '.join(sorted(differ))}")
    if changed := data_differ(state.started.get("data"), own.data):
        raise Refused(f"made of other data than the board's: {changed}")


def _identity(plugin: Any, values: Mapping[str, Any]) -> str:
    return digest(_plain(identity_of(plugin, settings_of(plugin, values))))


def _identity_only(value: Mapping[str, Any]) -> str:
    return digest(_plain({k: v for k, v in value.items() if k != "plugin"}))


def _plain(value: Any) -> Any:
    return read_json(canonical_bytes(value))


def _rows(state: State, rules: BoardRules, own: Drawn, arm: str) -> Sequence[Row]:
    """The run's rows, each made again. Raises Refused for the first that is not what it says."""
    rows = {row.key: row for row in state.rows}
    if len(rows) < len(state.rows):
        raise Refused("a row is in it twice")
    trials = {key[2] for key in rows}
    wanted = {
        (case.id, arm, trial, repeat, 0)
        for case in own.cases
        for trial in range(max(len(trials), 1))
        for repeat in range(rules.k)
    }
    if rows.keys() != wanted:
        raise Refused(
            f"its rows are not those of {len(own.cases)} cases and k={rules.k}: "
            f"{len(wanted - rows.keys())} are missing, {len(rows.keys() - wanted)} are others"
        )
    records = _records(state.path)
    if records.keys() != rows.keys():
        raise Refused("its answers are not those of its rows")
    cases = {case.id: case for case in own.cases}
    model = _own_model(state)
    forms = None if model is None else model.reads_forms
    for key, row in rows.items():
        _check_case(row, cases[key[0]], own, forms)
        if not row.error and not row.state:
            _check_view(row, records[key], cases[key[0]], own)
    asyncio.run(_check_scores(state, own, rows, records, cases))
    return tuple(_on_board(row, own) for row in rows.values())


def _on_board(row: Row, own: Drawn) -> Row:
    """The row under the name that its case has on the board."""
    name = own.renamed.get(row.case_id)
    return row if name is None else replace(row, case_id=name)


def _of_case(own: Drawn, case_id: str, problem: str, shown: str | None = None) -> Refused:
    """What is wrong with a case. shown : the problem without values that follow from the gold."""
    return Refused(f"case {case_id}: {problem}", f"{own.place(case_id)}: {shown or problem}")


def _records(run: Path) -> dict[Any, Mapping[str, Any]]:
    found: dict[Any, Mapping[str, Any]] = {}
    for record in answer_records(run):
        key = tuple(record["key"])
        if key in found:
            raise Refused("an answer is in it twice")
        found[key] = record
    return found


def _check_case(row: Row, case: Case, own: Drawn, forms: frozenset[str] | None) -> None:
    """What a row says of its case, and amounts that no measurement can give.

    forms : of wording that its model was made to read; None for all.
    """
    form = case.tags.get("form")
    said = {
        "form_read": forms is None or form is None or form in forms,
        "history_id": case.history_id,
        "stratum": case.stratum,
        "cluster": case.cluster or case.id,
        "tags": dict(case.tags),
        "depth": case.depth,
        "expected": case.gold.decision,
        "domain_version": own.pipeline.domain.version,
        "budget_tokens": own.pipeline.budget_tokens,
    }
    for name, value in said.items():
        given = getattr(row, name)
        if (dict(given) if name == "tags" else given) != value:
            raise _of_case(own, row.case_id, f"its {name} is not the case's or the board's")
    amounts = [*row.timing.values(), row.view_tokens, row.available_tokens]
    for usage in row.usage.values():
        amounts += [usage.calls, usage.tokens_in, usage.tokens_out, usage.tokens_cached]
        amounts += [usage.cost_usd, usage.paid_usd, usage.seconds, *usage.call_seconds]
    if any(not math.isfinite(amount) or amount < 0 for amount in amounts):
        raise _of_case(own, row.case_id, "a time, a price or a count that is none")


def _check_view(row: Row, record: Mapping[str, Any], case: Case, own: Drawn) -> None:
    view = view_of(row, record)
    tokens = sum(count_tokens(item.text) for item in view.items)
    budget = own.pipeline.budget_tokens
    if tokens > budget:
        raise _of_case(own, case.id, f"a view of {tokens:,} tokens; the budget is {budget:,}")
    if tokens != row.view_tokens:
        raise _of_case(own, row.case_id, f"a view of {tokens:,} tokens, {row.view_tokens:,} said")
    if retained(case.gold, view, partial(own.pipeline.domain.states, case)) != record["retained"]:
        raise _of_case(own, case.id, "its view does not hold what it is said to hold")
    _check_ranks(record, case, own)


def _check_ranks(record: Mapping[str, Any], case: Case, own: Drawn) -> None:
    """The ranks of gold are those of the trace, and what the trace placed is the view.

    Of a long ranking the trace keeps the view, what follows it, and each item that carries gold:
    from the first item that is left out on, a rank is known to lie behind those before.
    """
    trace = sorted(record["trace"], key=lambda entry: entry["rank"])
    placed = [entry["item_id"] for entry in trace if entry["placed"] != "out"]
    if sorted(placed) != sorted(item["id"] for item in record["view"]):
        raise _of_case(own, case.id, "its trace is of another view")
    whole = [entry for at, entry in enumerate(trace, start=1) if entry["rank"] == at]
    known = event_ranks(
        MemoryView(
            items=(),
            tokens=0,
            budget_tokens=None,
            trace=tuple(TraceEntry(**{**e, "source_ids": tuple(e["source_ids"])}) for e in whole),
        )
    )
    behind = max(known.values(), default=0)
    carried = {event for entry in trace for event in entry["source_ids"]}
    for event, rank in record["ranks"].items():
        if rank != known[event] if event in known else event not in carried or rank <= behind:
            raise _of_case(own, case.id, "a rank that its trace does not give")


def view_of(row: Row, record: Mapping[str, Any]) -> MemoryView:
    """The view that a record holds."""
    items = tuple(Item(**{**i, "source_ids": tuple(i["source_ids"])}) for i in record["view"])
    return MemoryView(items=items, tokens=row.view_tokens, budget_tokens=row.budget_tokens)


async def _check_scores(
    state: State,
    own: Drawn,
    rows: Mapping[Any, Row],
    records: Mapping[Any, Mapping[str, Any]],
    cases: Mapping[str, Case],
) -> None:
    """Read every answer again from the stored responses, and score it again."""
    for key, row in rows.items():
        if not row.error and not row.state:
            await _check_answer(state, row, records[key], cases[key[0]], own)
    axes = [axis.name for axis in own.pipeline.axes]
    source = RescoreSource(
        run=".",
        identity="",
        head=str((state.finished or {})["hash"]),
        axes=tuple(axes),
        state=state,
    )
    protocol = RescoreProtocol(source, state.path)
    async for again, _ in protocol.drive(own.pipeline, own.cases, frozenset()):
        row = rows[again.key]
        if row.error or row.state:
            continue
        if again.error:
            unscored = "it can't be scored again"
            raise _of_case(own, row.case_id, f"{unscored}: {brief(again.error)}", unscored)
        for name in _SCORED:
            if _value(getattr(row, name)) != _value(getattr(again, name)):
                what, found, said = _differing(row, again, name)
                raise _of_case(
                    own,
                    row.case_id,
                    f"scored again, {what} is {found}, not {said}",
                    f"scored again, {what} is another",
                )


def _value(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _differing(row: Row, again: Row, name: str) -> tuple[str, Any, Any]:
    """What differs, as it was found and as the row says it: a field, or the first such axis."""
    if name != "axes":
        return name, getattr(again, name), getattr(row, name)
    both = sorted(row.axes.keys() | again.axes.keys())
    axis = next(a for a in both if row.axes.get(a, "") != again.axes.get(a, ""))
    return axis, again.axes.get(axis), row.axes.get(axis)


async def _check_answer(
    state: State, row: Row, record: Mapping[str, Any], case: Case, own: Drawn
) -> None:
    """The reader's answer to the stored view, by the responses that are stored.

    A rule-based model is asked again: the same view gives the same answer.
    """
    model = _own_model(state) or Recorded(record["prompts"])
    ledger = Ledger()
    choice = int(digest([own.plan.top.seed, case.id, "choice"])[7:23], 16)  # as the path draws it
    client = ModelClient(model, own.plan.prompts)
    with track_usage(ledger, "answer", row.repeat, keep_prompts=True, choice=choice):
        answer = await maybe_await(
            own.pipeline.reader.answer(case.task, view_of(row, record), client)
        )
    if _plain(answer) != record["answer"]:
        raise _of_case(own, case.id, "its answer is not what its model said")
    if row.decision != answer.decision or row.reasons != answer.reasons:
        raise _of_case(own, case.id, "its decision or reasons are not those of its answer")
    if Counter(map(_exchange, ledger.prompts)) != Counter(
        _exchange(p) for p in record["prompts"] if p["phase"] in _ASKED
    ):
        raise _of_case(own, case.id, "its model was asked other than what is stored")
    own_count, said = ledger.usage()["answer"], row.usage.get("answer")
    least = own_count.tokens_in if model.kind == "rule-based" else own_count.tokens_in // 2
    if said is None or said.tokens_in < least or said.calls < own_count.calls:
        raise _of_case(own, case.id, "fewer tokens or calls than its prompts take")


def _exchange(prompt: Mapping[str, str]) -> tuple[str, str, str]:
    return prompt["system"], prompt["user"], prompt["response"]


def _own_model(state: State) -> Model[Any] | None:
    """The run's model where it is rule-based and known here, so that it can be asked again."""
    config = state.started["config"]["model"]
    name = canonical("model", config["plugin"])
    if name not in names("model") or find("model", name).cls.kind != "rule-based":
        return None
    plugin = find("model", name)
    model: Model[Any] = plugin.cls(
        settings_of(plugin, {k: v for k, v in config.items() if k != "plugin"})
    )
    return model


def worst(row: Row, axis: str, value: float) -> Row:
    """A row that failed, or answered nothing, with the worst value of an axis; else itself."""
    if row.error or row.state:
        return replace(row, axes={**row.axes, axis: value})
    return row
