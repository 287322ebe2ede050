"""The versions of a regulation in RegML: its units, their texts and what they refer to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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


def read_version(data: bytes) -> Version | None:
    """One RegML document; None for a notice, which is no version. Raises BadRecordError."""
    root = root_of(data)
    if root.tag == f"{_SPACE}notice":
        return None
    if root.tag != f"{_SPACE}regulation":
        raise BadRecordError(f"a regulation of RegML expected, {root.tag[:60]!r} found")
    effective = _text_at(root, "effectiveDate")
    try:
        date.fromisoformat(effective)
    except ValueError:
        raise BadRecordError(f"effectiveDate: {effective[:40]!r} is no day") from None
    units: dict[str, str] = {}
    cites: dict[str, tuple[str, ...]] = {}
    for element in root.iter():
        label = element.get("label")
        if label is None or element.tag in {f"{_SPACE}{name}" for name in _CONTAINERS}:
            continue
        if not _LABEL.fullmatch(label) or len(label) > 80:
            raise BadRecordError(f"label: {label[:60]!r} is no label of a regulation")
        own = [child for child in element if child.tag in {f"{_SPACE}{x}" for x in _WORDED}]
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
    if not units:
        raise BadRecordError("no labelled text")
    return Version(
        document=_text_at(root, "documentNumber"), effective=effective, units=units, cites=cites
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
