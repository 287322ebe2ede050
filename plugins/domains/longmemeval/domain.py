"""LongMemEval: questions over the dated sessions of a chat history, from the published JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from framework.contracts import Domain, Provenance
from framework.records import Answer, Case, Event, Gold
from framework.registry import register
from framework.text.canonical import digest_file
from framework.text.tokens import count_tokens
from plugins.domains.data_file import (
    asked_for,
    check_sha256,
    file_at,
    provenance_in,
    read_file,
)
from plugins.domains.longmemeval.cases import (
    HEADLINE,
    PROVIDES,
    Granularity,
    case_of,
    events_of,
    is_success,
)
from plugins.domains.longmemeval.loading import FILES, WHERE_TO_GET_IT, parse
from plugins.domains.longmemeval.records import Question
from plugins.domains.longmemeval.streaming import StreamedQuestions, is_streamed


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalSettings:
    """Where the file is, and what an event is.

    path : `longmemeval_s_cleaned.json`, `longmemeval_oracle.json`, or a file of the same questions
        with `sessions` in place of `haystack_*`.
    granularity : an event is a `turn` or a whole `session`, as are the units that are retrieved.
    sha256 : when given, the file must have this digest.
    """

    path: str = ""
    granularity: Granularity = "turn"
    sha256: str = field(default="", metadata={"operational": True})

    def __post_init__(self) -> None:
        check_sha256(self.sha256)


@register("domain", "longmemeval")
class LongMemEval(Domain[LongMemEvalSettings]):
    """Long-term interactive memory: six question types and abstention (Wu et al., ICLR 2025).

    A history is one question's haystack, an event a turn under a line with its session's date and
    its speaker. The day of the question is handed over with the task. Gold are the turns marked
    `has_answer`; the answer is judged by the rule for the question's type, a question whose id ends
    with `_abs` by whether it is abstained from. Cases are the questions in file order; the seed
    plays no part. Stratum: the question's type.

    Raises UserError when no path is given, DataError naming file and record for bad data.
    """

    provenance: Provenance = Provenance(
        source="https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
        revision="the digest of the file read is recorded",
        licence="MIT",
        citation=(
            "Wu, Wang, Yu, Zhang, Chang, Yu. LongMemEval: Benchmarking Chat Assistants on "
            "Long-Term Interactive Memory. ICLR 2025."
        ),
        files=FILES,
        main_score="answer_correct",
        schema="README.md of https://github.com/xiaowu0162/LongMemEval at 982fbd7",
    )
    provides: ClassVar[tuple[str, ...]] = PROVIDES
    success_axis: ClassVar[str] = "answer_correct"
    version: ClassVar[str] = "2"
    headline: ClassVar[tuple[str, ...]] = HEADLINE

    def __init__(self, settings: LongMemEvalSettings) -> None:
        super().__init__(settings)
        file = file_at(settings.path, domain="longmemeval", where=WHERE_TO_GET_IT)
        self._questions: Mapping[str, Question]
        if file.is_file() and is_streamed(file):
            self._digest = asked_for(settings.path, settings.sha256, digest_file(file))
            self._questions = StreamedQuestions(str(file))
            stated = provenance_in(settings.path, None)
        else:
            data, self._digest = read_file(
                settings.path, settings.sha256, domain="longmemeval", where=WHERE_TO_GET_IT
            )
            questions, stated = parse(settings.path, data)
            self._questions = {question.id: question for question in questions}
        if self._digest not in self.provenance.files.values():
            self.provenance = stated
        first = next(iter(self._questions.values()))
        self._nominal_tokens = sum(count_tokens(e.text) for e in events_of(first, "session"))

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the first question's sessions: the haystacks of a file are made alike."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for question in islice(self._questions.values(), n):
            yield case_of(question, question.id, self.settings.granularity)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from events_of(self._questions[history_id], self.settings.granularity)

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        return is_success(answer, gold)
