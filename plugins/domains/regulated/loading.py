"""Reading a spec from YAML: its first ten mistakes in one line that names file and keys.

Checked here is everything that can be checked without generating: keys and types, rules over known
facts, thresholds within what a fact may be, formulas, placeholders, references to documents, and
that no held-out form uses a public label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any, Final, Union, cast, get_args, get_origin

import yaml

from framework.errors import DataError, UserError
from framework.registry import coerce, hints_of, id_of, instance_of, nearest
from framework.text.canonical import digest_file
from framework.text.reading import TooMuch, read_yaml
from plugins.domains.data_file import first_ten
from plugins.domains.regulated.checks import faults
from plugins.domains.regulated.spec import NO_RANGE, ConditionSpec, Spec

SPECS: Final = Path(__file__).parent / "specs"
"""Where the built-in spec files are."""
_DATED: Final = re.compile(r"\d{4}-\d")


def find_spec(name: str) -> Path:
    """The file of a built-in spec, or the path given. Raises UserError when there is none."""
    built_in = SPECS / f"{name}.yaml"
    if built_in.is_file():
        return built_in
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml") or path.exists():
        if path.is_file():
            return path
        raise UserError(f"domain.spec: no such file: {name}")
    known = sorted(p.stem for p in SPECS.glob("*.yaml"))
    raise UserError(
        f"domain.spec: no spec {name!r}{nearest(name, known)}, or a path to a YAML file"
    )


def load_spec(file: Path) -> Spec:
    """The spec in `file`. Raises UserError: one line naming file and key."""
    try:
        return _load(file, digest_file(file))
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from None


@lru_cache(maxsize=16)
def _load(file: Path, digest: str) -> Spec:
    values = _read(file)
    if not isinstance(values, dict):
        raise UserError(f"{file}: a mapping of keys is expected")
    own = {"file": str(file), "digest": digest}
    for key in own.keys() & values.keys():
        raise UserError(f"{file}: {key}: no such key: it is taken from the file")
    values = {**_stripped(values), **own}
    try:
        spec = _completed(instance_of(Spec, values, what="key"))
        found = list(faults(spec))
    except (UserError, ValueError) as error:
        found = list(_faults_within(values, Spec, "")) or [str(error)]
    if found:
        raise UserError(f"{file}: {first_ten(found)}")
    return spec


def _read(file: Path) -> Any:
    """What the file holds. Raises DataError, with the line where it is known."""
    data = file.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise DataError(file, data[: error.start].count(b"\n") + 1, "not UTF-8 text") from None
    try:
        return read_yaml(text)
    except yaml.MarkedYAMLError as error:
        problem = ": ".join(part for part in (error.context, error.problem) if part)
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else None
    except (yaml.YAMLError, ValueError) as error:
        problem = str(error).partition(";")[0]  # of a huge number more is told than helps
        problem = problem.replace('in "<unicode string>", ', "at ")
        line = None if isinstance(error, TooMuch) else _line_of_no_value(text)
    raise DataError(file, line, f"not readable as YAML: {problem}")


def _line_of_no_value(text: str) -> int | None:
    """The line of the first scalar that has the form of a date and is none, such as 2025-02-30."""
    with suppress(yaml.YAMLError, RecursionError):
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.ScalarEvent) and _DATED.match(event.value):
                try:
                    read_yaml(event.value)
                except yaml.YAMLError:
                    return event.start_mark.line + 1 if event.start_mark else None
    return None


def _faults_within(value: Any, hint: Any, where: str, key: str = "") -> Iterator[str]:
    """What is wrong with plain values that are to be a section: in its parts, else in the whole."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        hint = next(filter(is_dataclass, args), hint)
    parts: list[tuple[Any, ...]] = []
    found: list[str] = []
    if is_dataclass(hint) and isinstance(value, Mapping):
        types: dict[str, Any] = hints_of(cast(Any, hint))
        known = {f.metadata.get("alias", f.name): types[f.name] for f in fields(hint)}
        start = f"{where}." if where else ""
        for name, each in value.items():
            if name in known:
                parts.append((each, known[name], f"{start}{name}"))
            else:
                found.append(f"{start}{name}: no such key{nearest(name, known)}")
    elif isinstance(value, list) and origin is tuple and is_dataclass(args[0]):
        parts = [(each, args[0], f"{where}.{id_of(each, i)}") for i, each in enumerate(value)]
    elif isinstance(value, Mapping) and origin is not None and is_dataclass(args[-1]):
        parts = [(each, args[-1], f"{where}.{name}", name) for name, each in value.items()]
    found += [fault for part in parts for fault in _faults_within(*part)]
    yield from found
    if not found and where:
        try:
            coerce(value, hint, where, key)
        except UserError as error:
            yield str(error)


def _stripped(value: Any) -> Any:
    """Plain data without white space at the ends of texts; keys are texts."""
    if isinstance(value, dict):
        return {str(key): _stripped(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_stripped(each) for each in value]
    return value.strip() if isinstance(value, str) else value


def _completed(spec: Spec) -> Spec:
    """The spec with what follows from the rest where the file does not say it."""

    def stepped(condition: ConditionSpec) -> ConditionSpec:
        fact = spec.facts.get(condition.fact)
        return condition if condition.step or not fact else replace(condition, step=fact.step)

    first = {name: values[0] for name, values in spec.protected.items()}
    return replace(
        spec,
        facts={
            key: replace(fact, admissible=fact.range) if fact.admissible == NO_RANGE else fact
            for key, fact in spec.facts.items()
        },
        rules=tuple(
            replace(rule, conditions=tuple(map(stepped, rule.conditions))) for rule in spec.rules
        ),
        labels={o: spec.labels[o] for o in spec.outcomes if o in spec.labels} | {**spec.labels},
        reference_groups=first | {**spec.reference_groups},
    )
