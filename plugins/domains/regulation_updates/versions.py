"""The versions of a regulation in RegML: its units, their texts and what they refer to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final
from xml.etree.ElementTree import Element

from plugins.domains.data_file import BadRecordError
from plugins.domains.regulation_updates.archive import root_of

_SPACE: Final = "{eregs}"
_WORDED: Final = ("title", "subject", "appendixTitle", "content")
"""Children of an element whose words are its own text; the rest are units of their own."""
_CONTAINERS: Final = ("part", "subpart", "tableOfContents")
_LABEL: Final = re.compile(r"\d+(-\w+)*", re.ASCII)
_COMMENT: Final = "Interp"


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A regulation as it is in force from a day on.

    units : by label, the text of each paragraph, comment or heading that has any, in order.
    cites : by label, the labels of what it refers to within the regulation.
    """

    document: str
    effective: str
    units: Mapping[str, str]
    cites: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What the Federal Register orders from a day on.

    units, cites : as of a version, of what it adds or restates. deleted : labels that it removes,
    with all below them. whole : labels that it restates with all below them. renamed : by a label
    that a change bears inside, the label that it is ordered for.
    """

    effective: str
    units: Mapping[str, str]
    cites: Mapping[str, tuple[str, ...]]
    deleted: frozenset[str]
    whole: frozenset[str]
    renamed: Mapping[str, str]


def read_document(data: bytes) -> Version | Notice:
    """One RegML document. Raises BadRecordError."""
    root = root_of(data)
    kind = root.tag.removeprefix(_SPACE) if root.tag.startswith(_SPACE) else ""
    if kind not in ("notice", "regulation"):
        raise BadRecordError(f"a regulation or notice of RegML expected, {root.tag[:60]!r} found")
    effective = _text_at(root, "effectiveDate")
    try:
        date.fromisoformat(effective)
    except ValueError:
        raise BadRecordError(f"effectiveDate: {effective[:40]!r} is no day") from None
    units: dict[str, str] = {}
    cites: dict[str, tuple[str, ...]] = {}
    if kind == "notice":
        return _notice(root, effective, units, cites)
    _read_units(root, units, cites)
    if not units:
        raise BadRecordError("no labelled text")
    return Version(
        document=_text_at(root, "documentNumber"), effective=effective, units=units, cites=cites
    )


def _read_units(root: Element, units: dict[str, str], cites: dict[str, tuple[str, ...]]) -> None:
    """Put the units of an element with what they refer to into these. Raises BadRecordError."""
    for element in root.iter():
        label = element.get("label")
        if label is None or element.tag.removeprefix(_SPACE) in _CONTAINERS:
            continue
        if not _LABEL.fullmatch(label) or len(label) > 80:
            raise BadRecordError(f"label: {label[:60]!r} is no label of a regulation")
        own = [child for child in element if child.tag.removeprefix(_SPACE) in _WORDED]
        text = " ".join(" ".join("".join(child.itertext()).split()) for child in own).strip()
        if not text:
            continue
        if label in units:
            raise BadRecordError(f"label: {label} stands twice")
        units[label] = text
        refs = [ref for child in own for ref in child.iter(f"{_SPACE}ref")]
        cites[label] = tuple(
            dict.fromkeys(r.get("target", "") for r in refs if r.get("reftype") == "internal")
        )


def _notice(
    root: Element, effective: str, units: dict[str, str], cites: dict[str, tuple[str, ...]]
) -> Notice:
    deleted, whole, renamed = set(), set(), {}
    for change in root.iter(f"{_SPACE}change"):
        label = change.get("label", "")
        if not _LABEL.fullmatch(label):
            raise BadRecordError(f"label: {label[:60]!r} is no label of a regulation")
        if change.get("operation") == "deleted":
            deleted.add(label)
            continue
        inside = [child.get("label", "") for child in change]
        if inside == [label]:
            whole.add(label)
        elif len(inside) == 1 and not inside[0].startswith(f"{label}-"):
            renamed[inside[0]] = label
        for child in change:
            # A notice may state a unit alone and again in what holds it.
            own: dict[str, str] = {}
            _read_units(child, own, cites)
            units |= own
    return Notice(
        effective=effective,
        units=units,
        cites=cites,
        deleted=frozenset(deleted),
        whole=frozenset(whole),
        renamed=renamed,
    )


def renamed(version: Version, names: Mapping[str, str]) -> Version:
    """A version with the units that bear one of these labels under their own."""
    moved = {wrong: right for wrong, right in names.items() if right not in version.units}
    return replace(
        version,
        units={moved.get(label, label): text for label, text in version.units.items()},
        cites={moved.get(label, label): cited for label, cited in version.cites.items()},
    )


def repaired(before: Version, version: Version, notice: Notice) -> Version:
    """A version with what its own notice orders and its file lost.

    What vanishes without a word of the notice stays as it was, and what the notice adds or restates
    and the file lacks is there.
    """
    units, cites = dict(version.units), dict(version.cites)
    stated = {label: text for label, text in notice.units.items() if label not in notice.renamed}
    for label, text in {**before.units, **stated}.items():
        if label not in units and not _ordered_away(label, notice):
            units[label] = text
            cites[label] = (notice.cites if label in stated else before.cites)[label]
    return replace(version, units=units, cites=cites)


def _ordered_away(label: str, notice: Notice) -> bool:
    if any(label == one or label.startswith(f"{one}-") for one in notice.deleted):
        return True
    return label not in notice.units and any(
        label.startswith(f"{one}-") and is_comment(one) == is_comment(label) for one in notice.whole
    )


def _text_at(root: Element, name: str) -> str:
    found = root.findtext(f"{_SPACE}preamble/{_SPACE}{name}")
    if found is None or not found.strip():
        raise BadRecordError(f"preamble: no {name}")
    return found.strip()


def is_comment(label: str) -> bool:
    """Whether a unit belongs to the official interpretations."""
    return _COMMENT in label.split("-")


def section_of(label: str) -> str:
    """The section or appendix that a unit belongs to, the comments on it included: `1002-13`."""
    return "-".join(label.split("-")[:2])


def parent_of(label: str) -> str:
    """The label that this one stands below."""
    return label.rpartition("-")[0]


def citation(label: str) -> str:
    """How a unit is cited: `§ 1002.13(b)`, `comment 13(b)-1`, `appendix B to part 1002, p9`."""
    part, *rest = label.split("-")
    if _COMMENT in rest:
        place = rest.index(_COMMENT)
        before, after = rest[:place], rest[place + 1 :]
        on = _nested(before) if before else "the part"
        if not after:
            return f"heading of the comments on {on} of part {part}"
        return f"comment {on}-{'.'.join(after)} of part {part}"
    if rest and rest[0].isalpha():
        return f"appendix {rest[0]} to part {part}" + "".join(f", {x}" for x in rest[1:])
    return f"§ {part}.{_nested(rest)}" if rest else f"part {part}"


def _nested(parts: list[str]) -> str:
    return parts[0] + "".join(f"({part})" for part in parts[1:])
