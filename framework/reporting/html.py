"""A page as one HTML file: no script, no address outside itself, pictures within.

The markup is well-formed XML as well, so that any parser can check it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

from framework.reporting.blocks import (
    Block,
    Cell,
    Details,
    Figure,
    Heading,
    Listing,
    Note,
    Page,
    Table,
    Text,
    is_numeric,
)

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #ffffff; --soft: #f3f4f6;
  --line: #c9ccd1; --quiet: #595f69; --link: #0b57a4; --good: #00664b; --bad: #a03c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #16181c; --soft: #23262c;
  --line: #454a53; --quiet: #a4abb6; --link: #8ab8ee; --good: #5fd0ab; --bad: #f0a06c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; color: var(--ink); background: var(--paper);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .25rem; }
p, li { max-width: 46rem; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
.note { border-left: .3rem solid var(--bad); background: var(--soft); padding: .5rem .75rem; }
.box { overflow-x: auto; width: fit-content; max-width: 100%; margin: .75rem 0;
  border: 1px solid var(--line); }
.box:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: separate; border-spacing: 0; font-size: .82rem;
  font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .4rem .5rem; color: var(--quiet); caption-side: top; }
caption span { display: inline-block; position: sticky; left: .5rem;
  max-width: min(46rem, calc(100vw - 4rem)); }
th, td { padding: .25rem .5rem; border-top: 1px solid var(--line); text-align: right;
  vertical-align: top; white-space: nowrap; overflow-wrap: normal; }
.words { text-align: left; white-space: normal; min-width: 7rem; }
td.long { white-space: normal; min-width: 16rem; text-align: left; }
thead th { background: var(--soft); vertical-align: bottom; white-space: normal; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper);
  min-width: 8.5rem; max-width: min(16rem, 45vw); white-space: normal; overflow-wrap: anywhere; }
thead th:first-child { background: var(--soft); }
small { color: var(--quiet); display: block; }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
th[title] { text-decoration: underline dotted; cursor: help; }
.quiet { color: var(--quiet); }
figure { margin: 1rem 0 1.5rem; }
figure .box { background: #ffffff; }
figure img { display: block; max-width: none; height: auto; }
figcaption { max-width: 46rem; font-size: .9rem; color: var(--quiet); }
figcaption b { color: var(--ink); }
details { margin: .5rem 0; } summary { cursor: pointer; }
"""


def to_html(page: Page) -> str:
    """The whole file's text."""
    headings = [b for b in page.blocks if isinstance(b, Heading) and b.level == 2]
    links = "".join(
        f'<li><a href="#{escape(h.anchor)}">{escape(h.text)}</a></li>' for h in headings
    )
    body = "\n".join(part for block in page.blocks for part in _block(block, page.terms))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        # Says it to the browser too: nothing is loaded from anywhere.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\"/>\n"
        f"<title>{escape(page.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<h1>{escape(page.title)}</h1>\n<nav aria-label="Contents"><ul>{links}</ul></nav>\n'
        f"<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _block(block: Block, terms: Mapping[str, str]) -> Iterator[str]:
    match block:
        case Heading(text, anchor, level):
            yield f'<h{level} id="{escape(anchor)}">{escape(text)}</h{level}>'
        case Text(text):
            yield f"<p>{escape(text)}</p>"
        case Note(text):
            yield f'<p class="note">{escape(text)}</p>'
        case Listing(items):
            yield "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"
        case Details(summary, blocks):
            yield f"<details><summary>{escape(summary)}</summary>"
            for inner in blocks:
                yield from _block(inner, terms)
            yield "</details>"
        case Table():
            yield from _table(block, terms)
        case Figure():
            yield _picture(block)


def _table(table: Table, terms: Mapping[str, str]) -> Iterator[str]:
    name = escape(table.anchor)
    numeric = [is_numeric([row[i] for row in table.rows]) for i in range(len(table.columns))]
    yield f'<div class="box" tabindex="0" role="region" aria-labelledby="{name}-caption">'
    yield f'<table id="{name}"><caption id="{name}-caption">'
    yield f"<span>{escape(table.caption)}</span></caption><thead><tr>"
    for column, number in zip(table.columns, numeric, strict=True):
        words = "" if number else ' class="words"'
        yield f'<th scope="col"{words}{_meaning(column, terms)}>{_breakable(column)}</th>'
    yield "</tr></thead><tbody>"
    for first, *rest in table.rows:
        shown = first.text if isinstance(first, Cell) else first
        cells = "".join(map(_cell, rest, numeric[1:]))
        meaning = _meaning(shown, terms)
        yield f'<tr><th scope="row"{meaning}>{_breakable(shown)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


def _meaning(name: str, terms: Mapping[str, str]) -> str:
    """A tooltip for a name that has a definition."""
    return f' title="{escape(terms[name])}"' if terms.get(name) else ""


def _breakable(name: str) -> str:
    """A long name may break after an underscore."""
    return escape(name).replace("_", "_<wbr/>")


_LONG: Final = 48
"""Characters of words from which a cell may break its line."""


def _cell(cell: Cell | str, numeric: bool) -> str:
    if isinstance(cell, str):
        cell = Cell(text=cell)
    words = "" if numeric else "long" if len(cell.text) > _LONG else "words"
    classes = " ".join(filter(None, [cell.tone, words]))
    attributes = f' class="{classes}"' if classes else ""
    if cell.value is not None:
        attributes += f' data-value="{cell.value!r}"'
    under = f"<small>{escape(cell.under)}</small>" if cell.under else ""
    return f"<td{attributes}>{escape(cell.text)}{under}</td>"


def _picture(picture: Figure) -> str:
    data = base64.b64encode(picture.svg.read_bytes()).decode("ascii")
    name = escape(picture.anchor)
    return (
        f'<figure id="{name}"><div class="box" tabindex="0" role="region" '
        f'aria-labelledby="{name}-caption"><img width="{picture.width}" '
        f'src="data:image/svg+xml;base64,{data}" alt="{escape(picture.alt)}"/></div>'
        f'<figcaption id="{name}-caption"><b>{escape(picture.title)}.</b> '
        f"{escape(picture.caption)}</figcaption></figure>"
    )
