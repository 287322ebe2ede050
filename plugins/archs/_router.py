"""The semantic-regex classifier of typed routing: does a chunk bear facts or reasoning?

LongHorizon 5 names such a classifier and gives no pattern. The published code counts kinds of
figures against cue words over the whole chunk, and since every chunk bears a date it sent 882 of
884 to the fact store. Here the header line is not read, and sentences vote, each once.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from framework.sentences import sentences

Route = Literal["fact", "reasoning"]

_VALUE: Final = re.compile(r"\d")
_FORM_LINE: Final = re.compile(r"[A-Za-z][^:.?!]{0,60}:\s+\S")
_RULE: Final = re.compile(r"\b(?:if|where|unless|provided that)\b.*;\s*reason:", re.IGNORECASE)
_INFERENCE: Final = re.compile(
    r"\b(?:because|therefore|thus|hence|since|so that|consequently|accordingly|owing to|due to"
    r"|as a result|in (?:light|view) of|on the grounds?|the reason|which means|it follows"
    r"|although|despite|even though|however|rather than"
    r"|explain\w*|explanation|indicat\w+|suggest\w*|establish\w*|demonstrat\w+|conclu\w+"
    r"|attribut\w+|caused?|causation|consistent with|inconsistent with|account(?:s|ed)? for"
    r"|resolv\w+|justif\w+|rationale|analysis|assess\w*|likely|unlikely|appears? to)\b",
    re.IGNORECASE,
)


def vote(sentence: str) -> Route | None:
    """What one sentence bears; None for a sentence that states neither.

    A rule of a policy is a fact, since its threshold must survive to the digit. A sentence that
    infers is reasoning even where it quotes figures. Any other sentence with a figure, and any form
    line, is a fact.
    """
    if _RULE.search(sentence):
        return "fact"
    if _INFERENCE.search(sentence):
        return "reasoning"
    if _VALUE.search(sentence) or _FORM_LINE.match(sentence):
        return "fact"
    return None


def route(text: str) -> Route:
    """The store that a chunk belongs to: that of most of its sentences, `fact` when they tie.

    The first of several lines is the header (date, title, author) and has no vote.
    """
    _, line_break, body = text.partition("\n")
    votes = [vote(sentence) for sentence in sentences(body if line_break else text)]
    return "reasoning" if votes.count("reasoning") > votes.count("fact") else "fact"
