"""Operations whose prompt is files: system.md, user.md, schema.json, and rules.json where needed.

The files of an operation lie in one folder of its name. Shipped ones are in `prompts` beside this
file; a third party's operation names the folder that holds its own::

    class Headline(PromptedOperation[HeadlineRequest, str]):
        prompts = Path(__file__).parent / "prompts"  # holds sample_headline/{system,user}.md
        slots = frozenset({"text"})

A prompt set is a directory of such folders that replaces some or all of these files for one run or
one judge. Texts hold named slots, `{record}`; write a literal brace twice.
"""

from __future__ import annotations

import copy
import string
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

from framework.contracts import Operation, Prompt, Req, Res
from framework.errors import DataError, UserError
from framework.operations._json import asked, read_as
from framework.operations.answering import AnsweringOperation, AnswerRequest
from framework.registry import nearest, plugins
from framework.text.canonical import canonical_json, digest
from framework.text.reading import read_json

SHIPPED: Final = Path(__file__).resolve().parent / "prompts"
"""The default prompts of the shipped operations."""
SETS: Final = SHIPPED / "sets"
"""Shipped sets that replace some of them, by name."""
_FILES: Final = ("system.md", "user.md", "schema.json", "rules.json")

Op = TypeVar("Op", bound="PromptedOperation[Any, Any]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptFiles:
    """What the files of one operation hold.

    system, user : texts with slots. schema : the JSON schema of the response as far as it does not
    depend on the request, None where the response is free text. rules : named texts of which a
    request chooses one, as the strictness of a check.
    """

    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    rules: Mapping[str, str]

    @property
    def digest(self) -> str:
        """Digest of all of it."""
        return digest(self)


class PromptedOperation(Operation[Req, Res]):
    """An operation whose prompt and schema are files.

    response : the dataclass that an answer is read as, where `parse` is not written out.
    slots : the names that the texts must hold, all of them and no other. `fill` gives their values.
    shared : those whose values other requests of one history have too (see `Prompt.shared`).
    """

    prompts: ClassVar[Path] = SHIPPED
    response: ClassVar[type[Any]]
    slots: ClassVar[frozenset[str]]
    shared: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, files: PromptFiles | None = None) -> None:
        self._files = files

    @property
    def files(self) -> PromptFiles:
        """The prompt files in use: those of a set that it was bound to, or its own."""
        return self._files or load(self.prompts / self.name, self.slots)

    @property
    def is_bound(self) -> bool:
        """Whether it was bound to a set's prompts."""
        return self._files is not None

    def with_files(self: Op, files: PromptFiles) -> Op:
        """The same operation under other prompts."""
        bound = copy.copy(self)
        bound._files = files
        return bound

    @abstractmethod
    def fill(self, request: Req) -> Mapping[str, str]:
        """The value of every slot."""

    def prompt(self, request: Req) -> Prompt:
        values, files = self.fill(request), self.files
        return Prompt(
            system=files.system.format_map(values),
            user=files.user.format_map(values),
            shared=_length(files.user, values, self.shared) if self.shared else 0,
        )

    def schema(self, request: Req) -> Mapping[str, Any] | None:
        return copy.deepcopy(self.files.schema)

    def parse(self, text: str, request: Req) -> Res:
        response: Res = read_as(self.response, self.json_object(text))
        return response

    def rule(self, name: str) -> str:
        """The rule of that name. Raises ValueError for one that the prompts do not have."""
        rules = self.files.rules
        if name not in rules:
            raise ValueError(f"{self.name}: no rule {name!r}{nearest(name, rules)}")
        return rules[name]


class PromptedAnswering(PromptedOperation[AnswerRequest, Res], AnsweringOperation[Res]):
    """An operation that answers a task from a view, and whose prompt and schema are files."""

    def render(self, response: Res) -> str:
        return canonical_json({key: getattr(response, key) for key in asked(response)})


@lru_cache(maxsize=256)
def load(folder: Path, slots: frozenset[str]) -> PromptFiles:
    """The prompt files in a folder, read once.

    Raises UserError naming the file that is missing, can't be read, has a slot that the operation
    does not fill, or lacks one that it does.
    """
    return _load_over(folder, slots, None)


def _load_over(folder: Path, slots: frozenset[str], base: PromptFiles | None) -> PromptFiles:
    """The prompt files in a folder; what is not there is taken from `base`. Raises as `load`."""
    texts: dict[str, str] = {}
    for name in ("system", "user"):
        text = _read(folder / f"{name}.md")
        if text is None:
            if base is None:
                raise UserError(f"{folder / name}.md: no such prompt file")
            text = getattr(base, name)
        texts[name] = text
    found: set[str] = set()
    for name, text in texts.items():
        here = _slots_of(folder / f"{name}.md", text)
        for unknown in sorted(here - slots):
            raise UserError(
                f"{folder / name}.md: no slot {{{unknown}}} to fill{nearest(unknown, slots)}"
            )
        found |= here
    for missing in sorted(slots - found):
        raise UserError(f"{folder / 'user.md'}: the slot {{{missing}}} is missing")
    schema: Mapping[str, Any] | None = _json(folder / "schema.json")
    if schema is None:
        schema = base.schema if base else None
    elif base is not None and _keys(schema) != _keys(base.schema):
        raise UserError(
            f"{folder / 'schema.json'}: the keys {_keys(schema)} are not those that the operation "
            f"reads, {_keys(base.schema)}"
        )
    rules: Mapping[str, Any] | None = _json(folder / "rules.json")
    if rules is None:
        rules = dict(base.rules) if base else {}
    if not all(isinstance(rule, str) for rule in rules.values()):
        raise UserError(f"{folder / 'rules.json'}: an object of texts expected")
    return PromptFiles(system=texts["system"], user=texts["user"], schema=schema, rules=rules)


def _read(path: Path) -> str | None:
    """The text of a file without its last line break; None where there is no file."""
    try:
        return path.read_text(encoding="utf-8-sig").removesuffix("\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: can't be read: {error}") from None


def _json(path: Path) -> dict[str, Any] | None:
    text = _read(path)
    if text is None:
        return None
    try:
        value = read_json(text)
    except ValueError as error:
        raise DataError(path, getattr(error, "lineno", None), f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: a JSON object expected")
    return value


def _keys(schema: Mapping[str, Any] | None) -> list[str]:
    return sorted((schema or {}).get("properties", {}))


def _slots_of(path: Path, text: str) -> set[str]:
    """The names in braces. Raises UserError for a brace that is neither a slot nor doubled."""
    try:
        parts = list(string.Formatter().parse(text))
    except ValueError as error:
        raise UserError(f"{path}: {error}; write a literal brace twice") from None
    names = set()
    for _, name, spec, conversion in parts:
        if name is None:
            continue
        if not name.isidentifier() or spec or conversion:
            raise UserError(f"{path}: {{{name}}} is not a slot: a name in braces expected")
        names.add(name)
    return names


def _length(text: str, values: Mapping[str, str], shared: frozenset[str]) -> int:
    """Characters of the filled text before the first slot that is not shared."""
    length = 0
    for literal, name, _, _ in string.Formatter().parse(text):
        length += len(literal)
        if name is not None:
            if name not in shared:
                return length
            length += len(values[name])
    return length


class PromptSet:
    """Which prompts the operations of a run, or of a judge, are asked with.

    chosen : a directory with a folder for each operation that it changes, or the name of a shipped
        set; empty for the operations' own prompts.

    Raises UserError for a directory that does not exist, holds a folder of no known operation, or
    has a bad file.
    """

    def __init__(self, chosen: str = "") -> None:
        self._files: dict[str, PromptFiles] = {}
        if not chosen:
            return
        shipped = [path.name for path in SETS.iterdir()]
        directory = SETS / chosen if chosen in shipped else Path(chosen)
        if not directory.is_dir():
            raise UserError(
                f"prompts: {chosen!r} is neither a directory nor a shipped set"
                f"{nearest(chosen, shipped)}"
            )
        known = {
            plugin.name: plugin.cls
            for plugin in plugins("operation")
            if issubclass(plugin.cls, PromptedOperation)
        }
        folders = sorted(path for path in directory.iterdir() if path.is_dir() and path != SETS)
        if not any(get_close_matches(folder.name, known, n=1) for folder in folders):
            # Of a directory that is something else nothing is told.
            raise UserError(f"{directory}: holds no operation's folder; known: {', '.join(known)}")
        for folder in folders:
            cls = known.get(folder.name)
            if cls is None:
                raise UserError(f"{folder}: no such operation{nearest(folder.name, known)}")
            base = load(cls.prompts / cls.name, cls.slots)
            self._files[folder.name] = _load_over(folder, cls.slots, base)

    def bind(self, operation: Operation[Req, Res]) -> Operation[Req, Res]:
        """The operation under this set. One that was bound already stays as it is."""
        if not isinstance(operation, PromptedOperation) or operation.is_bound:
            return operation
        files = self._files.get(operation.name)
        return operation if files is None else operation.with_files(files)

    def digests(self, packages: Iterable[str]) -> dict[str, str]:
        """By name, the digest of each operation's prompts, for operations of these packages.

        An operation of another package that this set changes is there too.
        """
        found = {}
        wanted = frozenset(packages)
        for plugin in plugins("operation"):
            cls = plugin.cls
            if not issubclass(cls, PromptedOperation):
                continue
            if cls.__module__.partition(".")[0] in wanted or plugin.name in self._files:
                files = self._files.get(plugin.name) or load(cls.prompts / cls.name, cls.slots)
                found[plugin.name] = files.digest
        return found


NO_SET: Final = PromptSet()
"""Every operation's own prompts."""
