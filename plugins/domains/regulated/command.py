"""`write`: the documents of regulated cases in a language model's words, kept in a file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from framework.contracts.command import Command
from framework.errors import DoesNotFit, ModelError, StopRun, UnreadableError, UserError
from framework.registry import register

if TYPE_CHECKING:
    from framework.contracts import Client
    from plugins.domains.regulated.domain import Regulated
    from plugins.domains.regulated.written import Template

ASKS: Final = 3


@register("command", "write")
class Write(Command):
    """Let a language model write the documents of regulated cases, checked, to a file."""

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "overrides", nargs="*", metavar="KEY=VALUE", help="settings, as for a run"
        )
        parser.add_argument(
            "--to",
            required=True,
            metavar="FILE",
            help="output for domain.written=FILE; continued if it exists",
        )
        parser.add_argument(
            "--stating", action="store_true", help="only documents that contain gold of a case"
        )
        parser.add_argument(
            "--asks",
            type=int,
            default=ASKS,
            metavar="N",
            help=f"at most N requests per document ({ASKS})",
        )

    def run(self, args: argparse.Namespace) -> int:
        return write(args)


def write(args: argparse.Namespace) -> int:
    """Ask for every document that the file lacks; status 1 where a cap or a provider stops it."""
    import asyncio

    from framework.engine.account import account, check_prices, served_of
    from framework.engine.compose import compose_plan, composer
    from framework.models.client import Ledger, ModelClient, track_usage
    from framework.records import Usage
    from plugins.domains.regulated.domain import Regulated

    if args.asks < 1:
        raise UserError(f"--asks: {args.asks} given, at least 1 expected")
    with composer():
        plan = compose_plan(args.overrides)
    domain = plan.parts["domain"].create()
    if not isinstance(domain, Regulated):
        named = plan.parts["domain"].label
        raise UserError(f"domain={named}: only documents of regulated domains can be written")
    if domain.settings.written:
        raise UserError(
            "domain.written: documents are written from generated ones, not from a file"
        )
    if not domain.settings.injection:
        raise UserError("domain.injection: must be true here; a run can leave the injections out")
    if plan.parts["model"].plugin.cls.kind != "llm":
        named = plan.parts["model"].label
        raise UserError(f"model={named}: a language model is needed to write")
    ledger = Ledger()

    async def ask() -> tuple[int, int]:
        model = plan.parts["model"].create()
        try:
            check_prices(plan, served_of(model, None))
            with track_usage(ledger, "write", 0):
                return await _write(
                    args, plan, domain, ModelClient(model, plan.prompts), model.described
                )
        finally:
            await model.close()

    try:
        # What is capped is this command's spending; what was answered is stored all the same.
        with TemporaryDirectory() as place, account(plan, Path(place) / "run", None, None):
            kept, asked = asyncio.run(ask())
    except (ModelError, StopRun) as stop:
        print(f"stopped: {stop}; the same command goes on with {args.to}", file=sys.stderr)
        return 1
    share = f", {kept / asked:.0%}" if asked else ""
    print(
        f"{args.to}: {kept} of {asked} documents in the model's words{share};"
        " the others by template"
    )
    spent = ledger.usage().get("write", Usage())
    print(f"asked {spent.calls} times: {spent.tokens_in:,} tokens in, {spent.tokens_out:,} out")
    print(f"a run takes it with domain.written={args.to}")
    return 0


async def _write(
    args: argparse.Namespace, plan: Any, domain: Regulated, client: Client, described: str
) -> tuple[int, int]:
    """Add what is lacking to the file; gives how many texts were taken, and of how many."""
    from plugins.domains.regulated.writing import WriteDocument

    header = {
        **domain.written_for(),
        "model": described,
        "identity": dict(client.identity),
        "prompt": WriteDocument().files.digest,
        "stating": args.stating,
        "asks": args.asks,
    }
    path = Path(args.to).expanduser()
    done = _begun(path, header)
    kept = asked = 0
    with path.open("a", encoding="utf-8") as file:
        for case in domain.cases(plan.top.n_cases, plan.top.seed):
            gold = {source for item in case.gold.items for source in item.source_ids}
            for template in domain.templates(case.history_id):
                if args.stating and template.event_id not in gold:
                    continue
                key = (case.history_id, template.event_id)
                if key not in done:
                    record = await _record(client, template, args.asks)
                    named = {"history": case.history_id, "event": template.event_id}
                    file.write(json.dumps({**named, **record}, ensure_ascii=False) + "\n")
                    file.flush()
                    done[key] = record["text"]
                asked += 1
                kept += done[key] is not None
                print(f"{kept} of {asked} taken", end="\r", file=sys.stderr)
    return kept, asked


async def _record(client: Client, template: Template, asks: int) -> dict[str, Any]:
    """The text of a document where one of so many answers passes, and what was wrong with others.

    An answer that can't be read is one that fails. Raises ModelError and StopRun.
    """
    from plugins.domains.regulated.writing import WriteDocument, WriteRequest

    faults: list[str] = []
    refused: list[list[str]] = []
    for _ in range(asks):
        request = WriteRequest(template=template, faults=tuple(faults))
        try:
            text = await client.ask(WriteDocument(), request)
            faults = template.faults(text)
        except (DoesNotFit, ModelError, UnreadableError) as error:
            if isinstance(error, ModelError) and error.status != "refused":
                raise  # of the provider, and not of this document
            faults = [f"not usable: {error}"]
        if not faults:
            return {"text": text, "refused": refused}
        refused.append(faults)
    return {"text": None, "refused": refused}


def _begun(path: Path, header: Mapping[str, Any]) -> dict[tuple[str, str], str | None]:
    """What a file holds, begun with its header where it is not there.

    A last line that a kill cut off is taken away. Raises UserError for another file's header.
    """
    from framework.store.atomic import write_text
    from framework.text.reading import read_json
    from plugins.domains.regulated.written import check_header, record_in

    if not path.absolute().parent.is_dir():
        raise UserError(f"--to: {path.parent} is not a directory")
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    if not whole:
        whole = json.dumps(header, ensure_ascii=False).encode() + b"\n"
    if whole != data:
        write_text(path, whole.decode())
    first, *lines = whole.splitlines()
    found = record_in(str(path), 1, first)
    check_header(str(path), found, header)
    for key in ("model", "identity", "prompt", "stating", "asks"):
        if found.get(key) != read_json(json.dumps(header[key])):
            raise UserError(f"{path}: begun with {key} {found.get(key)}; choose another file")
    records = [record_in(str(path), n, line) for n, line in enumerate(lines, start=2)]
    return {(one["history"], one["event"]): one["text"] for one in records}
