"""The semantic-regex classifier of typed routing: does a chunk bear facts or reasoning?

LongHorizon 5 names such a classifier and gives no pattern; 3.3 says what it has to tell apart.
Facts are exact-match tokens (an amount, a figure, an identifier), lost when they are paraphrased;
reasoning is prose that survives a paraphrase. The published code counts kinds of figures against
cue words over the whole chunk, dates among the figures, and so sent 882 of 884 chunks to the fact
store. Here neither the header line nor dates nor telephone numbers count as figures.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from framework.text.sentences import sentences

Route = Literal["fact", "reasoning"]

_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_NOT_FIGURES: Final = re.compile(
    rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}/\d{{1,2}}/\d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}"
    rf"|\d{{1,2}} {_MONTH} \d{{4}}|(?:\d{{3}}-)?\d{{3}}-\d{{4}})\b",
    re.IGNORECASE,
)
_FORM_LINE: Final = re.compile(r"[A-Za-z][^:.?!]{0,60}:\s+\S")
_RULE: Final = re.compile(r"\b(?:if|where|unless)\b.*;\s*reason:", re.IGNORECASE)
_INFERENCE: Final = re.compile(
    r"\b(?:because|therefore|thus|hence|consequently|owing to|due to|as a result|on the grounds?"
    r"|it follows|which means|explain(?:s|ed by)|explanation|accounted for by|attribut\w+"
    r"|caused by|consistent with|came from|arose from)\b",
    re.IGNORECASE,
)


def states_fact(sentence: str) -> bool:
    """Whether a sentence must survive to the letter.

    True for a rule of a policy (its threshold), a form line, and any sentence with a figure, unless
    the sentence infers (`because`, `attributed to`, ...), when its figures serve an argument.
    """
    if _RULE.search(sentence) or _FORM_LINE.match(sentence):
        return True
    has_figure = any(c.isdigit() for c in _NOT_FIGURES.sub(" ", sentence))
    return has_figure and not _INFERENCE.search(sentence)


def route(text: str) -> Route:
    """The store that a chunk belongs to: `fact` when any of its sentences states one.

    The first of several lines is the header (date, title, author) and is not read.
    """
    _, line_break, body = text.partition("\n")
    facts = any(states_fact(sentence) for sentence in sentences(body if line_break else text))
    return "fact" if facts else "reasoning"
