"""What a bank's support desk must look up and do, from tau2-bench's banking domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import ClassVar, Final

from framework.contracts import Domain, Provenance
from framework.errors import UserError
from framework.records import Answer, Case, Event, Gold, GoldItem, Span, TaskCard
from framework.registry import register
from framework.text.canonical import digest
from framework.text.tokens import count_tokens, truncate
from plugins.domains.bank_support.actions import done, parsed, written
from plugins.domains.bank_support.customer import Tables, tables_of
from plugins.domains.bank_support.desk import CUSTOMERS, SETTLED, note, reviewed
from plugins.domains.bank_support.loading import Document, Task, documents_of, tasks_of
from plugins.domains.bank_support.operation import CUSTOMER, TOOLS
from plugins.domains.data_file import check_sha256, parse_json, provenance_of, read_file
from plugins.domains.folder import known_as, read_records

HISTORY: Final = "policies"
"""The one history: every policy, in the order of the file."""

NOW: Final = "2025-11-14 03:40:00 EST"
"""The time of the published simulation, at which every task takes place."""

SPAN_TOKENS: Final = 100
"""So much of a policy's beginning must be in the view, where no line of it is its own."""

SHARED: Final = 0.5
"""Tasks that share at least this part of what they require (Jaccard) are one cluster."""

INSTRUCTION: Final = (
    "List every action that the agent or the customer takes until the customer's request is "
    f"settled as the policies say, in order. It is now {NOW}. A tool that a policy names is called "
    "by its name as it stands there."
)

_WHERE_TO_GET_IT: Final = (
    "get data/tau2/domains/banking_knowledge of https://github.com/sierra-research/tau2-bench and "
    "set domain.path=documents and domain.tasks=tasks"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BankSupportSettings:
    """Where the published files are.

    path : the policies: the published folder `documents`, or one JSON list of them.
    tasks : the tasks: the published folder `tasks`, or one JSON list of them.
    database : the bank's records, `db.json`. If given, what they say of the customer is handed over
        with the task; it is not part of memory.
    unknown_file : also read files that are not the published ones and do not say what they are.
    sha256 : if given, the digest that the policies must have.
    """

    path: str = ""
    tasks: str = ""
    database: str = ""
    unknown_file: bool = False
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@register("domain", "bank_support")
class BankSupport(Domain[BankSupportSettings]):
    """Which policies and actions a bank customer's request requires (tau2-bench, banking).

    An event is a policy: its title, a line break, its content, under its published id, in order of
    the file; policies bear no date, and all have that of the simulation. A case is a task, asked
    with the text of its scenario, which the published benchmark gives to a simulated customer:
    here there is none, so that everything the customer would say is known at once. Gold: `evidence`
    the documents that the task requires, and for each a critical `passage`, its first line that
    stands in no other policy; `answer` the expected actions. Cases come in order of the file; the
    seed plays no part. Stratum: how many documents are required (`1-4`, `5-9`, `10+`); cluster:
    tasks that share half of what they require.

    In a session an answer is reviewed (`desk.reviewed`); five customers, in order of the file, come
    one after the other, and of each a note is left (`desk.note`). Under other protocols no case
    leaves anything.

    Raises UserError when a path is missing, DataError naming file and record, and for files that
    are not the published ones, unless they or `unknown_file` say so.
    """

    provenance: Provenance = Provenance(
        source=(
            "https://github.com/sierra-research/tau2-bench, data/tau2/domains/banking_knowledge"
        ),
        revision="a2c0247; the digest of the files read is recorded",
        licence="MIT",
        citation=(
            r"@misc{shi2026tauknowledge, title = {$\tau$-Knowledge: Evaluating Conversational "
            "Agents over Unstructured Knowledge}, author = {Shi, Quan and Zytek, Alexandra and "
            "Razavi, Pedram and Narasimhan, Karthik and Barres, Victor}, eprint = {2603.04370}, "
            "archivePrefix = {arXiv}, year = {2026}} @misc{barres2025tau2, title = "
            r"{$\tau^2$-Bench: Evaluating Conversational Agents in a Dual-Control Environment}, "
            "author = {Barres, Victor and Dong, Honghua and Ray, Soham and Si, Xujie and "
            "Narasimhan, Karthik}, eprint = {2506.07982}, archivePrefix = {arXiv}, year = "
            "{2025}}"
        ),
        files={
            "documents.json": "sha256:"
            "73c985f1ea626e466a5f14d91631bf2a57feecf6d4449a5beaab86e1a2b2c785",
            "the same documents in a file each": "sha256:"
            "03dc5b5f7fe636867efe811fef4da2ab39842d70318c65dc513f6e544449d5b1",
            "tasks.json": "sha256:d4545b4c241d7883d8483effbc5fbab0a2ac184133e382f918f138eb0bda6e83",
            "the same tasks in a file each": "sha256:"
            "12828e47087ccab5c6c8749a9ea6c1c92109d99a2262e99117d8b028ff20926d",
            "db.json": "sha256:e692feb797c659f0e21ff7380aa87beb4e95a0694d7bb7945f073102f0293d28",
        },
        main_score="actions_correct",
        schema=(
            "data/tau2/domains/banking_knowledge/tasks/task_074.json of "
            "https://github.com/sierra-research/tau2-bench at 51a41e7"
        ),
    )
    provides: ClassVar[tuple[str, ...]] = ("evidence", "items", "success", "actions")
    success_axis: ClassVar[str] = "actions_correct"
    headline: ClassVar[tuple[str, ...]] = (
        "retained",
        "p_ret_all",
        "recall_at_5",
        "ndcg_at_10",
        "mrr",
        "actions_correct",
        "action_names_f1",
    )
    protocols: ClassVar[tuple[str, ...]] = ("retrieve", "evaluate")

    def __init__(self, settings: BankSupportSettings) -> None:
        super().__init__(settings)
        policies, of_policies, stated = read_records(
            settings.path, settings.sha256, domain="bank_support", where=_WHERE_TO_GET_IT
        )
        if not settings.tasks:
            raise UserError(
                f"domain.tasks: no file given (domain=bank_support); {_WHERE_TO_GET_IT}"
            )
        tasks, of_tasks, also = read_records(
            settings.tasks, "", domain="bank_support", where=_WHERE_TO_GET_IT
        )
        files = self.provenance.files
        read = [
            (settings.path, known_as(policies, of_policies, files), stated),
            (settings.tasks, known_as(tasks, of_tasks, files), also),
        ]
        digests = [of_policies, of_tasks]
        self._tables: Tables = {}
        if settings.database:
            data, of_records = read_file(
                settings.database, "", domain="bank_support", where=_WHERE_TO_GET_IT
            )
            self._tables = tables_of(settings.database, parse_json(settings.database, data))
            read.append((settings.database, of_records, None))
            digests.append(of_records)
        self._digest = digest(digests)
        published = self.provenance
        for path, found, said in read:
            where = provenance_of(path, found, published, said, told=settings.unknown_file)
            if self.provenance == published:
                self.provenance = where
        documents = documents_of(settings.path, policies)
        self._tasks = tasks_of(settings.tasks, tasks, documents, self._tables)
        self._events = {
            one.id: Event(
                id=one.id, text=f"{one.title}\n{one.content}", time=NOW[:10], kind="policy"
            )
            for one in documents.values()
        }
        self._series = {task.id: number // CUSTOMERS for number, task in enumerate(self._tasks)}
        self._passages = _passages(documents)
        self._clusters = _clusters(self._tasks)
        self._tools = _tools(self._tasks)
        self._nominal_tokens = sum(count_tokens(event.text) for event in self._events.values())

    @property
    def nominal_tokens(self) -> int:
        """Tokens of all policies."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for task in self._tasks if n is None else self._tasks[:n]:
            yield self._case(task)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from self._events.values()

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        """All that changes anything at the bank is done as expected, and nothing else."""
        given = parsed(answer.text)
        return given is not None and done(parsed(gold.answer) or (), given)

    def reply(self, case: Case, answer: Answer) -> tuple[bool, str]:
        """Whether a plan is all that is to be done, and what a supervisor says who knows that."""
        if self.success(answer, case.gold):
            return True, SETTLED
        return False, reviewed(answer.text, case.gold.answer)

    def reference(self, case: Case) -> Answer | None:
        return Answer(text=case.gold.answer)

    def tools(self, case: Case) -> Mapping[str, str]:
        """None: what is on file of the customer is handed over with the task."""
        return {}

    def use(self, case: Case, tool: str, argument: str, answer: Answer | None) -> str:
        raise KeyError(tool)

    def series(self, case: Case) -> str:
        """The customers of one session. Raises KeyError for a case of another domain."""
        return f"{HISTORY}-{self._series[case.id]}"

    def opened(self, case: Case) -> str:
        """Id of the history before the first customer: the policies, of every session."""
        return HISTORY

    def left_by(self, case: Case) -> Sequence[Event]:
        """What the desk notes once a customer's request is settled, whoever settled it."""
        titles = (self._events[name].text.partition("\n")[0] for name in case.gold.evidence)
        text = note(titles, case.gold.answer)
        return [Event(id=f"{case.id}-note", text=text, time=NOW[:10], kind="note")]

    def _case(self, task: Task) -> Case:
        items = tuple(
            GoldItem(
                id=f"document:{name}",
                kind="passage",
                key=name,
                spans=(Span(source_id=name, text=self._passages[name]),),
                critical=True,
            )
            for name in task.required
        )
        size = len(task.required)
        material = {TOOLS: self._tools}
        if task.records:
            material[CUSTOMER] = task.records
        return Case(
            id=task.id,
            history_id=HISTORY,
            task=TaskCard(
                instruction=INSTRUCTION,
                query=task.scenario,
                operation="plan_actions",
                material=material,
            ),
            gold=Gold(items=items, evidence=task.required, answer=written(task.actions)),
            stratum="1-4" if size < 5 else "5-9" if size < 10 else "10+",
            cluster=self._clusters[task.id],
            tags={"documents": str(size), "actions": str(len(task.actions)), "basis": task.basis},
        )


def _passages(documents: Mapping[str, Document]) -> dict[str, str]:
    """By id, the first line of a policy that no other holds; else the beginning of its text."""
    times: dict[str, int] = {}
    lines = {name: _lines(one.content) for name, one in documents.items()}
    for found in lines.values():
        for line in set(found):
            times[line] = times.get(line, 0) + 1
    whole = {name: f"{one.title}\n{one.content}" for name, one in documents.items()}
    passages = {}
    for name, found in lines.items():
        own = (
            line
            for line in found
            if times[line] == 1 and not any(line in whole[n] for n in whole if n != name)
        )
        passages[name] = next(own, None) or truncate(whole[name], SPAN_TOKENS)
    return passages


def _lines(content: str) -> list[str]:
    """The lines of a text that say something: no heading, and more than a word or two."""
    lines = (line.strip() for line in content.splitlines())
    return [line for line in lines if not line.startswith("#") and len(line.split()) > 3]


def _clusters(tasks: list[Task]) -> dict[str, str]:
    """By task, the first of those that it hangs together with by what they require."""
    first = {task.id: task.id for task in tasks}
    for one, other in combinations(tasks, 2):
        mine, others = set(one.required), set(other.required)
        if len(mine & others) >= SHARED * len(mine | others):
            kept, gone = sorted((first[one.id], first[other.id]), key=list(first).index)
            first = {name: kept if root == gone else root for name, root in first.items()}
    return first


def _tools(tasks: list[Task]) -> str:
    """The tools that no policy names, with their arguments, one a line: every agent has them."""
    tools: dict[str, dict[str, None]] = {}
    for task in tasks:
        for action in task.actions:
            if not any(character.isdigit() for character in action.name):
                tools.setdefault(action.name, {}).update(dict.fromkeys(action.arguments))
    return "\n".join(f"{name}({', '.join(keys)})" for name, keys in sorted(tools.items()))
