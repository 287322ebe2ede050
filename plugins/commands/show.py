"""`show`: a case as a person would read it, and what became of it in a run."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from framework.contracts import REPORTED, Domain, Provenance, RowKey
from framework.contracts.command import Command
from framework.errors import DataError, UserError
from framework.records import Case, Event, Gold, GoldItem
from framework.registry import nearest, register
from framework.reporting.terminal import wrapped
from framework.retention.items import intact
from framework.rows import cases_of
from framework.store import JournalEvent
from framework.store.state import State, data_differ
from framework.text.printable import brief, printable

_SEARCHED: Final = 10_000
_OUT_SHOWN: Final = 12
_OF_ROW: Final = ("arm", "trial", "repeat")


@register("command", "show")
class Show(Command):
    """Show a case in readable form, or its outcome in a run."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.description = (
            "Show a case of a domain (show domain=loan case=3 [KEY=VALUE ...]) or its outcome in a "
            "run (show RUN case=3 [arm=LABEL]). A case is given by number or id."
        )
        parser.add_argument("what", nargs="+", metavar="RUN|KEY=VALUE", help="as above")

    def run(self, args: argparse.Namespace) -> int:
        return show(args)


def _print(text: str = "", end: str = "\n") -> None:
    print(printable(text), end=end)


def show(args: argparse.Namespace) -> int:
    """Show a case of a domain (`domain=loan case=3`) or of a run (`RUN case=3`).

    Of a domain without a case, where its data come from and what it measured of its corpus.
    """
    runs = [word for word in args.what if "=" not in word or Path(word).is_dir()]
    given = dict(word.split("=", 1) for word in args.what if word not in runs)
    case = given.pop("case", None)
    if runs:
        refuse_sweep(Path(runs[0]))
        if wrong := [*runs[1:], *(f"{key}={given[key]}" for key in given.keys() - {"arm"})]:
            raise UserError(
                f"show: {wrong[0]}: with a run give only case=ID and, if needed, arm=NAME"
            )
    if case is None and (runs or "domain" not in given):
        raise UserError("show: say which case, as case=3 or case=ID")
    if runs and case is not None:
        _show_in_run(Path(runs[0]), case, given.get("arm"))
    else:
        _show_in_domain(case, [f"{key}={value}" for key, value in given.items()])
    return 0


def _show_in_domain(wanted: str | None, overrides: Sequence[str]) -> None:
    from framework.engine.compose import compose_plan, composer

    if not any(o.startswith("domain=") for o in overrides):
        raise UserError("show: say which domain, as domain=loan, or give a run directory")
    with composer():
        plan = compose_plan(overrides)
    if wanted is None:
        part = plan.parts["domain"]
        try:
            domain = part.create()
        except DataError:
            raise
        except UserError as none:  # no file was given: this says which to get
            _print_provenance(part.plugin.cls.provenance)
            _print(wrapped(f"not read     {none}", rest=" " * 13))
            return
        _print_provenance(domain.provenance)
        _print_corpus(domain, plan.top.n_cases, plan.top.seed)
        _print(wrapped("case=N shows one of its cases, counted from 0, with history and gold"))
        return
    domain = plan.parts["domain"].create()
    case = _pick(domain, plan.top.seed, wanted)
    _print_case(case, domain.history(case.history_id))


def _print_provenance(provenance: Provenance) -> None:
    from framework.engine.prepare import stated

    known = [f"{name} {digest}" for name, digest in provenance.files.items()]
    for name, said in (*stated(provenance).items(), *(("known file", file) for file in known)):
        _print(wrapped(f"{name.replace('_', ' '):<12} {said}", rest=" " * 13))


def _print_corpus(domain: Domain[Any], n_cases: int | None, seed: int) -> None:
    report = domain.report(islice(domain.cases(n_cases, seed), REPORTED))
    for name, value in report.items():
        _print(f"{name:<34} {value:.4g}")


def _pick(domain: Domain[Any], seed: int, wanted: str) -> Case:
    """The case of an index counted from 0, or of an id among the first 10,000."""
    first = next(iter(domain.cases(1, seed)), None)
    is_index = wanted.isdecimal() and not (first is not None and first.id.isdecimal())
    found = None if is_index else _of_id(domain, seed, wanted)
    if found is None and wanted.isdecimal():
        found = next(islice(domain.cases(int(wanted) + 1, seed), int(wanted), None), None)
    if found is None:
        raise UserError(f"show: no case {wanted!r}")
    return found


def _of_id(domain: Domain[Any], seed: int, wanted: str) -> Case | None:
    return next((case for case in domain.cases(_SEARCHED, seed) if case.id == wanted), None)


def _print_case(case: Case, events: Iterable[Event]) -> None:
    _print(wrapped(f"case {case.id}   stratum {case.stratum}   {_pairs(case.tags)}"))
    _print(f"\nTASK\n{wrapped(case.task.instruction)}\n")
    _print(wrapped(case.task.query, "query: "))
    _print("\nHISTORY (gold between >> and <<)")
    marks: dict[str, list[tuple[str, str]]] = {}
    for item in case.gold.items:
        for span in item.spans:
            marks.setdefault(span.source_id, []).append((span.text, item.key or item.id))
    for event in events:
        text = event.text
        for span_text, key in marks.get(event.id, ()):
            text = text.replace(span_text, f">>{span_text}<<[{key}]", 1)
        edges = "".join(f"  {relation} -> {target}" for relation, target in event.edges)
        _print("\n" + wrapped(f"[{event.id}] {event.kind}{edges}", rest="  "))
        _print(wrapped(text))
    _print_gold(case.gold)


def _print_gold(gold: Gold) -> None:
    _print("\nGOLD")
    if gold.decision:
        amount = "" if gold.amount is None else f"   amount {gold.amount:,.2f}"
        open_ = "" if gold.decidable else "   (undecidable from the case)"
        _print(f"decision {gold.decision}{amount}{open_}")
    for item in gold.items:
        critical = " *" if item.critical else ""
        shown = " ".join(item.anchors) or (item.spans[0].text if item.spans else "")
        derived = f"  from {', '.join(item.derived_from)}" if item.derived_from else ""
        said = f"{item.kind:<8} {item.key:<22} {_short(shown, 90)}{derived}{critical}"
        _print(wrapped(said, "  ", " " * 11))
    for point in gold.reasons:
        _print(wrapped(f"reason   {point.text}", "  ", " " * 11))
    if gold.principal_reasons:
        _print(wrapped(f"principal reasons: {'; '.join(gold.principal_reasons)}", "  ", "    "))
    if gold.provisions:
        _print(wrapped(f"provisions: {', '.join(gold.provisions)}", "  ", "    "))
    for retired in gold.retired:
        _print(f"  retired  {retired.key:<22} {retired.value}")
    if gold.injected:
        _print(f"  injected {gold.injected[0]} in {gold.injected[1]}")
    if gold.answer:
        _print(f"  answer   {gold.answer}")
    _print("  (* the decision depends on it)")


def refuse_sweep(path: Path) -> None:
    """Raise UserError for a sweep, with the names of its runs."""
    from framework.store.directory import ANSWERS, SWEEP_PLAN

    if (path / SWEEP_PLAN).is_file():
        jobs = sorted(f.parent.name for f in path.glob(f"*/{ANSWERS}"))
        raise UserError(f"{path} is a sweep; name one of its runs: {', '.join(jobs) or 'none yet'}")


def _show_in_run(path: Path, case: str, arm: str | None) -> None:
    from framework.config import stored_part
    from framework.store.answers import answer_records
    from framework.store.state import load_state, protocol_events

    state = load_state(path)
    if case.isdigit() and all(row.case_id != case for row in state.rows):
        domain = stored_part(state, "domain").create()  # it tells the order: rows come as they end
        case = _pick(domain, state.started["config"]["seed"], case).id
    of_case = [row for row in state.rows if row.case_id == case]
    if not of_case:
        raise UserError(f"{path} has no case {case!r}{cases_of(state.rows)}")
    rows = [row for row in of_case if arm in (None, row.arm)]
    if not rows:
        raise UserError(f"{path} has no arm {arm!r}{nearest(str(arm), [r.arm for r in of_case])}")
    gold = _gold_of(state, case)
    keys = {row.key: row for row in rows}
    records: dict[RowKey, Mapping[str, Any]] = {}
    for record in answer_records(path):
        if (key := tuple(record["key"])) in keys:
            records[key] = record  # of a case that was run again the last one counts
    for key, record in records.items():
        row = keys[key]
        _print(f"case {row.case_id}   arm {row.arm}   trial {row.trial}   repeat {row.repeat}")
        _print(wrapped(f"stratum {row.stratum}   {_pairs(row.tags)}"))
        if row.error or row.state:
            _print(wrapped(f"ERROR {brief(row.error)}" if row.error else f"NOT ASKED {row.state}"))
        if "view" in record:
            _print_view(record, row.view_tokens, row.budget_tokens)
            _print_retained(record, gold)
        if session := record.get("session"):
            _print_turn(row.turn, session)
        if row.error:
            _print_replies(record)
        if "view" in record:
            _print_answer(record)
            _print_axes(record, row.axes)
    said = {}  # of one row the last event of a type counts
    for event in protocol_events(path):
        if event.payload.get("case_id") == rows[0].case_id:
            key = (event.type, *(event.payload.get(name) for name in _OF_ROW))
            said[key] = event
    for event in said.values():
        _print_event(event)


def _print_turn(number: int, session: Mapping[str, Any]) -> None:
    """What a turn of a session did, what came back, and whether it was the last."""
    turn = session["turn"] or {"action": "nothing", "argument": "", "reply": ""}
    _print(f"\nTURN {number + 1}: {turn['action']} {turn['argument']}".rstrip())
    _print(wrapped(f"what came back: {turn['reply']}"))
    if session["ended"]:
        _print(f"the session ended: {session['ended'].replace('_', ' ')}")


def _print_event(event: JournalEvent) -> None:
    """What the protocol wrote of the case into the journal, whose chain and seal hold it."""
    _print(f"\nEVENT {event.seq} {event.type}   {event.time[:19]}   {event.hash[:19]}")
    for name, value in event.payload.items():
        if name in ("case_id", *_OF_ROW):
            continue
        lines = value if isinstance(value, list) else [value]
        for i, line in enumerate(lines):
            said = _plain(line) if isinstance(line, dict) else line
            _print(wrapped(f"{name if i == 0 else '':<8} {said}", "  ", " " * 11))


def _plain(value: Mapping[str, Any]) -> str:
    """A record of an event in a line; of a list its members."""
    listed = {k: ", ".join(map(str, v)) if isinstance(v, list) else v for k, v in value.items()}
    return "; ".join(
        f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in listed.items()
    )


def _print_view(record: Mapping[str, Any], tokens: int, budget: int | None) -> None:
    limit = "no limit" if budget is None else f"of {budget}"
    if record.get("query"):
        _print(f"\nASKED\n{wrapped(record['query'])}")
    _print(f"\nVIEW ({tokens} tokens {limit})")
    for item in record["view"]:
        _print(f"\n[{item['id']}]\n{wrapped(item['text'])}")
    _print("\nRECALLED")
    shown = [e for e in record["trace"] if e["placed"] != "out"]
    out = [e for e in record["trace"] if e["placed"] == "out"]
    for entry in [*shown, *out[:_OUT_SHOWN]]:
        signals = " ".join(f"{k}={v:.3g}" for k, v in entry["signals"].items())
        said = (
            f"{entry['rank']:>4}  {entry['placed']:<3}  {entry['tokens_kept']:>5}"
            f"/{entry['tokens']:<5} {entry['item_id']:<18} {entry['why']}  {signals}"
        )
        _print(wrapped(said, "  ", " " * 8))
    more = record.get("recalled", len(record["trace"])) - len(shown) - _OUT_SHOWN
    if more > 0:
        _print(f"  and {more} more that are out; answers.jsonl holds the first and those with gold")


def _gold_of(state: State, case: str) -> Gold | None:
    """The gold of a run's case; None where the data that it was measured on are not here."""
    from framework.config import stored_part
    from framework.engine.prepare import data_of

    try:
        domain = stored_part(state, "domain").create()
        if data_differ(state.started.get("data"), data_of(domain)):
            return None
        found = _of_id(domain, state.started["config"]["seed"], case)
        return None if found is None else found.gold
    except UserError:
        return None


def _print_retained(record: Mapping[str, Any], gold: Gold | None) -> None:
    """Which gold items the view holds and where; of those it lacks what became of their events."""
    kept = record["retained"]
    items = {item.id: item for item in gold.items} if gold else {}
    ranks = {source: entry for entry in record["trace"] for source in entry["source_ids"]}
    _print(f"\nRETAINED {sum(kept.values())} of {len(kept)} gold items")
    for item_id, there in kept.items():
        item = items.get(item_id)
        where = ""
        if item is not None and there:
            where = _where_held(item, record["view"])
        elif item is not None:
            lost = [_became(source, ranks.get(source)) for source in item.source_ids]
            where = "; ".join(lost) or _sources(item)
        _print(wrapped(f"{'yes' if there else 'NO ':<3}  {item_id:<28} {where}", "  ", " " * 9))


def _where_held(item: GoldItem, view: Sequence[Mapping[str, Any]]) -> str:
    spans = [span.text for span in item.spans]
    places = [held["id"] for held in view if any(intact(span, held["text"]) for span in spans)]
    if places:
        return f"in {', '.join(places)}"
    return _sources(item) or "in other words"


def _sources(item: GoldItem) -> str:
    return f"from {', '.join(item.derived_from)}" if item.derived_from else ""


def _became(source: str, entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return f"{source}: not recalled"
    return f"{source}: rank {entry['rank']}, {entry['placed']}"


def _print_answer(record: Mapping[str, Any]) -> None:
    answer = record["answer"]
    if answer is None:
        return
    _print(f"\nANSWER {answer['decision'] or answer['text']}", end="")
    _print("   (nothing determined it)" if answer["defaulted"] else "")
    if answer.get("confidence") is not None:
        _print(f"confidence {answer['confidence']:.2f}")
    if answer["amount"] is not None:
        _print(f"amount {answer['amount']:,.2f}")
    if answer["decision"] or answer["rationale"] != answer["text"]:  # else it is said already
        _print(wrapped(answer["rationale"]))
    if answer["notice"]:
        _print(f"\nNOTICE\n{wrapped(answer['notice'])}")


def _print_replies(record: Mapping[str, Any]) -> None:
    """What the model said, as it came: what could not be read is in no answer."""
    for prompt in record["prompts"]:
        _print(
            f"\nREPLY to {prompt['operation']} ({prompt['phase']})\n{wrapped(prompt['response'])}"
        )


def _print_axes(record: Mapping[str, Any], axes: Mapping[str, float | None]) -> None:
    _print("\nAXES")
    for name, value in axes.items():
        _print(f"  {name:<24} {'-' if value is None else f'{value:.3f}'}")
    said = record.get("verdicts", ())
    if unsupported := sum(not verdict.get("supported", True) for verdict in said):
        _print(f"\nUNSUPPORTED VERDICTS {unsupported} of {len(said)}: they count as not met")
    _print("\nEVIDENCE")
    for name, lines in record["evidence"].items():
        for line in lines:
            _print(wrapped(f"{name}: {line}", "  ", "    "))


def _pairs(pairs: Mapping[str, str]) -> str:
    return "   ".join(f"{key} {value}" for key, value in pairs.items())


def _short(text: str, width: int) -> str:
    return textwrap.shorten(text, width, placeholder=" ...")
