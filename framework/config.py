"""From a composed configuration to a validated plan: every plugin and setting checked before a run.

A configuration is *identity* (what may change a measured value; digested) or *operational* (caps,
names, tracking). Two runs of one identity have the same measured rows.
"""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

from framework.bounds import Bounded, above, at_least
from framework.errors import UserError
from framework.operations.prompted import NO_SET, PromptSet
from framework.registry import (
    Plugin,
    canonical,
    find,
    identity_of,
    names,
    nearest,
    plugins,
    settings_of,
)
from framework.store.state import State, first_event
from framework.text.canonical import digest

GROUPS: Final = (
    "domain",
    "arch",
    "budget",
    "reader",
    "model",
    "judge",
    "gate",
    "protocol",
    "tracking",
    "embedder",
    "extractor",
)
PROTOCOL_GROUPS: Final = ("target", "author", "routing")
"""Groups that only some protocols have (`RunProtocol.groups`); of a run without them they are no
part, so neither its identity nor its record has them."""
ALL_GROUPS: Final = (*GROUPS, *PROTOCOL_GROUPS)
OPERATIONAL_GROUPS: Final = frozenset({"tracking"})
ARM_GROUPS: Final = ("embedder", "extractor")
"""Groups that are parts of the arm: what neither the arm nor an axis uses is no part of the run,
whatever is composed. One plugin of each is its default (`default` of the class)."""
PREREG: Final = "prereg"
"""Key of the pre-registration that a run names: its content, which no measured value depends on."""
_RESERVED: Final = frozenset({"labels", "hydra", PREREG})


_OPERATIONAL: Final = {"operational": True}
_NO_NAME: Final = re.compile(r"[/\x00-\x1f\x7f\ud800-\udfff]|\$\{")
"""What no directory is named with: it would be read as a path, a line or an interpolation."""
_LONGEST_NAME: Final = 200
"""Bytes; file systems take 255, and drafts beside a directory have longer names than it."""


@dataclass(frozen=True, kw_only=True)
class TopLevel(Bounded):
    """The top-level keys of a configuration; see conf/config.yaml for what each means."""

    n_cases: Annotated[int | None, at_least(1)] = 100
    seed: Annotated[int, at_least(0)] = 7
    repeats: Annotated[int, at_least(1)] = 1
    part: str | None = field(default=None, metadata={"later": True})
    extra_axes: tuple[str, ...] = ()
    prompt_set: str | None = field(default=None, metadata=_OPERATIONAL)
    resume: str | None = field(default=None, metadata=_OPERATIONAL)
    shards: Annotated[int | None, at_least(2)] = field(default=None, metadata=_OPERATIONAL)
    baseline: str | None = field(default=None, metadata=_OPERATIONAL)
    smallest_effect: Annotated[float | None, above(0, below=1)] = field(
        default=None, metadata=_OPERATIONAL
    )
    published_convention: str | None = field(default=None, metadata=_OPERATIONAL)
    compat: str | None = field(default=None, metadata=_OPERATIONAL)
    report: bool = field(default=True, metadata=_OPERATIONAL)
    run_name: str | None = field(default=None, metadata=_OPERATIONAL)
    max_errors: Annotated[float, at_least(0)] = field(default=0.1, metadata=_OPERATIONAL)
    max_cost_usd: Annotated[float | None, at_least(0)] = field(default=None, metadata=_OPERATIONAL)
    max_tokens_total: Annotated[int | None, at_least(0)] = field(
        default=None, metadata=_OPERATIONAL
    )
    dry_run: bool = field(default=False, metadata=_OPERATIONAL)

    def __post_init__(self) -> None:
        Bounded.__post_init__(self)
        for key in ("published_convention", "compat"):
            given = getattr(self, key)
            if given is not None and given not in (known := names("convention")):
                raise ValueError(f"{key}: no convention {given!r}{nearest(given, known)}")
        part = None if self.part is None else self.part.partition(":")[0]
        if part is not None and part not in (known := names("part")):
            raise ValueError(f"part: no part {part!r}{nearest(part, known)}")
        name = self.run_name
        if name is not None and (not name.strip(". ") or _NO_NAME.search(name)):
            raise ValueError(f"run_name: {name!r} given, a directory's name without / expected")
        if name is not None and len(name.encode()) > _LONGEST_NAME:
            raise ValueError(f"run_name: longer than {_LONGEST_NAME} bytes")

    @property
    def convention(self) -> str | None:
        """The published convention that was asked for, also by the setting's former name."""
        return self.published_convention or self.compat


_TOP: Final = Plugin(group="run", name="top level", cls=TopLevel, settings=TopLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One group's choice: the plugin, its settings, and the label that names it in results."""

    plugin: Plugin
    settings: Any
    label: str

    @property
    def is_default(self) -> bool:
        """Whether it is what a configuration that does not name the group has."""
        return bool(self.plugin.cls.default) and self.label == self.plugin.name

    def create(self, *args: Any) -> Any:
        """An instance of the plugin."""
        return self.plugin.cls(self.settings, *args)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A validated run: what `config.yaml` holds, and what was made of it.

    `config` is plain data; `overrides` are the command line's, kept to compose a gate's baseline.
    """

    config: Mapping[str, Any]
    overrides: tuple[str, ...]
    top: TopLevel
    parts: Mapping[str, Component]
    prompts: PromptSet = NO_SET

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Names of the axis plugins: the domain's, the protocol's, the arm's and the extra ones."""
        declared: tuple[str, ...] = self.parts["domain"].plugin.cls.axes()
        under, of_arm = (self.parts[group].plugin.cls.axes for group in ("protocol", "arch"))
        return tuple(dict.fromkeys((*declared, *under, *of_arm, *self.top.extra_axes)))

    @cached_property
    def embedding_axes(self) -> tuple[type[Any], ...]:
        """The axes that measure with the run's embedder, whatever the arm.

        Raises UserError for an axis that is not known.
        """
        classes = (find("axis", name).cls for name in self.axes)
        return tuple(cls for cls in classes if cls.uses_embedder)

    @cached_property
    def used(self) -> Mapping[str, Component]:
        """By group, the parts that the run uses: arm and axes may leave embedder or extractor."""
        arch = self.parts["arch"].plugin.cls
        unused = set()
        if not arch.uses_embedder and not self.embedding_axes:
            unused.add("embedder")
        if not arch.uses_extractor or not self.parts["extractor"].plugin.cls.extracts:
            unused.add("extractor")
        return {group: part for group, part in self.parts.items() if group not in unused}

    @cached_property
    def prompt_digests(self) -> dict[str, str]:
        """By operation, the digest of the prompts that it is asked with.

        Operations of packages that have no part in the run are left out: installing one must not
        change the identity of runs that do not use it.
        """
        packages = {part.plugin.cls.__module__.partition(".")[0] for part in self.used.values()}
        return self.prompts.digests({"framework", *packages})

    @property
    def identity(self) -> dict[str, Any]:
        """All that may change a measured value or the gate's verdict, as plain data."""
        top = {
            f.name: getattr(self.top, f.name)
            for f in fields(self.top)
            if not f.metadata.get("operational")
            # What came later says nothing where it is not used, so that older runs keep theirs.
            and not (f.metadata.get("later") and getattr(self.top, f.name) is None)
        }
        groups = {
            group: {"plugin": part.plugin.name, **identity_of(part.plugin, part.settings)}
            for group, part in self.used.items()
            if group not in OPERATIONAL_GROUPS
        }
        # Where the prompts lie changes nothing; what they say does.
        return {**top, "prompts": digest(self.prompt_digests), **groups}

    @cached_property
    def digest(self) -> str:
        """Digest of the identity: names the job's directory in a sweep."""
        return digest(self.identity)

    @cached_property
    def rows_digest(self) -> str:
        """Digest of the identity without the gate: equal when the measured rows are."""
        return digest({k: v for k, v in self.identity.items() if k != "gate"})

    @property
    def labels(self) -> dict[str, str]:
        """By group, the name its choice bears in results.

        Groups that are operational, or that the run does not use, are left out.
        """
        return {g: self.label(g) for g in self.used if g not in OPERATIONAL_GROUPS}

    def label(self, group: str) -> str:
        """The name a group's choice bears in results: the option, with overridden settings.

        That of the arm names its other parts too, where they are not the default ones, and an
        embedder that axes alone use: `dense(embedder=minilm)`.
        """
        label = self.parts[group].label
        if group != "arch":
            return label
        parts = [
            f"{name}={self.used[name].label}"
            for name in ARM_GROUPS
            if name in self.used and not self.used[name].is_default
        ]
        if not parts:
            return label
        option, _, settings = label.removesuffix(")").partition("(")
        return f"{option}({','.join(filter(None, [settings, *parts]))})"

    def option(self, group: str) -> str:
        """The option chosen for a group, without its overridden settings."""
        return self.parts[group].label.partition("(")[0]

    @property
    def name(self) -> str:
        """A directory name for the run: domain, arm, budget and the start of the digest."""
        words = [self.label(g) for g in ("domain", "arch", "budget")]
        return f"{'-'.join(map(safe_name, words))[:80]}-{self.digest[7:19]}"


def safe_name(label: str) -> str:
    """A label as a part of a directory's name: no shell and no override takes any of it for more.

    `bm25(k1=1.2)` becomes `bm25_k1_1.2`.
    """
    safe = "".join(c if c.isalnum() or c in "_.-" else "_" for c in label)
    return re.sub("__+", "_", safe).strip("_")


def plan(config: Mapping[str, Any], overrides: Sequence[str] = ()) -> Plan:
    """The plan of a composed, resolved configuration.

    Raises UserError for an unknown key, plugin or setting, or a value of the wrong type.
    """
    top_hints = typing.get_type_hints(TopLevel)
    for key in config:
        if key not in (*ALL_GROUPS, *_RESERVED) and key not in top_hints:
            allowed = [*ALL_GROUPS, *top_hints]
            raise UserError(f"{key}: no such key{nearest(str(key), allowed)}")
    try:
        top = settings_of(_TOP, {k: v for k, v in config.items() if k in top_hints})
    except UserError as error:
        raise UserError(_spell_top(str(error))) from None
    labels: Mapping[str, str] = config.get("labels") or {}
    parts = {group: _component(group, config, labels) for group in GROUPS}
    own: tuple[str, ...] = parts["protocol"].plugin.cls.groups
    parts |= {group: _component(group, config, labels) for group in own}
    unused = frozenset(PROTOCOL_GROUPS).difference(own)
    _check_used(overrides, unused, parts["protocol"].label)
    kept = {k: v for k, v in config.items() if k != "hydra" and k not in unused}
    if labels:
        kept["labels"] = {group: label for group, label in labels.items() if group not in unused}
    return Plan(
        config=kept,
        overrides=tuple(overrides),
        top=top,
        parts=parts,
        prompts=PromptSet(top.prompt_set or ""),
    )


def stored_plan(state: State) -> Plan:
    """The plan that a run was begun with, as its journal holds it."""
    return _plan_of(state.started)


def stored_part(state: State, group: str) -> Component:
    """One part of the plan that a run was begun with: no plugin of another is needed."""
    config = state.started["config"]
    return _component(group, config, config.get("labels") or {})


def load_plan(path: Path) -> Plan:
    """The plan of a run directory of which nothing else is asked. Raises UserError for no run."""
    return _plan_of(first_event(path).payload)


def _plan_of(started: Mapping[str, Any]) -> Plan:
    return plan(started["config"], started["overrides"])


def _component(group: str, config: Mapping[str, Any], labels: Mapping[str, str]) -> Component:
    node = config.get(group)
    if node is None and group in ARM_GROUPS:  # a configuration of before there was the group
        node = {"plugin": next(p.name for p in plugins(group) if p.cls.default)}
    if not isinstance(node, Mapping) or "plugin" not in node:
        why = "its file has neither `plugin: NAME` nor `defaults: [OPTION, _self_]`"
        why = why if node and isinstance(node, Mapping) else "no option chosen"
        raise UserError(f"{group}: {why}; see `decisionbench list {group}`")
    plugin = _found(group, str(node["plugin"]))
    label = labels.get(group, plugin.name)
    told = replace(plugin, name=label.partition("(")[0])  # a mistake is the option's
    settings = settings_of(told, {k: v for k, v in node.items() if k != "plugin"})
    chosen = replace(plugin, cls=plugin.cls.under(settings))
    return Component(plugin=chosen, settings=settings, label=label)


def _found(group: str, name: str) -> Plugin:
    """The plugin that an option names. Raises UserError, which says what the option lacks."""
    try:
        return find(group, name)
    except UserError as error:
        if name in names(group):
            raise
        raise UserError(f"{error}; no class follows @register({group!r}, {name!r})") from None


def _check_used(overrides: Sequence[str], unused: frozenset[str], protocol: str) -> None:
    """Raise UserError for an override of a group that the protocol does not have."""
    for override in overrides:
        group = override.lstrip("+~").split("=", 1)[0].split(".", 1)[0]
        if group in unused:
            raise UserError(f"{override}: protocol={protocol} has no {group}")


def labels(
    choices: Mapping[str, Any], changed: Mapping[str, Mapping[str, Any]], config: Mapping[str, Any]
) -> dict[str, str]:
    """By group, the chosen option and, in parentheses, the settings that differ from the option's.

    `arch=bm25 arch.k1=1.2` is the arm `bm25(k1=1.2)`. `changed` : by group, the values that differ.
    Of a path only its last part is shown, of a file's content the file's name: a label names a
    thing, not a place on one machine. Of two servers only the address may differ, so that is shown.
    Operational settings are not shown: they change no result. Raises UserError for an unknown
    plugin.
    """
    found: dict[str, str] = {}
    for group in ALL_GROUPS:
        if group in PROTOCOL_GROUPS and group not in choices:
            continue
        values = changed.get(group, {})
        if values:
            hidden = _operational(group, config.get(group))
            values = {key: value for key, value in values.items() if key not in hidden}
        option = canonical(group, str(choices.get(group, "?")))
        words = ",".join(sorted(f"{key}={_shown(value)}" for key, value in values.items()))
        found[group] = f"{option}({words})" if words else option
    return found


def _shown(value: Any) -> str:
    """A setting's value as a label shows it, and much as a command line would give it."""
    if isinstance(value, str):
        scheme, _, address = value.rstrip("/").rpartition("://")
        return address if scheme else address.rsplit("/", 1)[-1]
    if isinstance(value, Mapping) and "file" in value:
        return _shown(value["file"])
    if isinstance(value, list):
        return f"[{','.join(_shown(item) for item in value)}]"
    return json.dumps(value)


def is_operational(key: str, config: Mapping[str, Any]) -> bool:
    """Whether the value at a key of a configuration can not change a measured value."""
    group, _, name = key.partition(".")
    if not name and group not in OPERATIONAL_GROUPS:
        top = fields(TopLevel)
        return any(f.name == group and f.metadata.get("operational") for f in top)
    return group in OPERATIONAL_GROUPS or name in _operational(group, config.get(group))


def _operational(group: str, node: Any) -> frozenset[str]:
    """Names of the settings of a group's plugin that can not change a measured value."""
    if not isinstance(node, Mapping) or "plugin" not in node:
        return frozenset()
    settings = find(group, str(node["plugin"])).settings
    return frozenset(f.name for f in fields(settings) if f.metadata.get("operational"))


def _spell_top(message: str) -> str:
    return (
        message.replace(" (run=top level)", "").replace("run=top level: ", "").removeprefix("run.")
    )
