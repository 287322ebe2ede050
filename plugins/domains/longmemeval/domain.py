"""LongMemEval: questions over the dated sessions of a chat history, from the published JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import ClassVar

from framework.contracts import Domain, Provenance
from framework.errors import DataError
from framework.records import Answer, Case, Event, Gold
from framework.registry import register
from framework.text.canonical import digest_file
from framework.text.tokens import count_tokens
from plugins.domains.data_file import (
    asked_for,
    check_sha256,
    file_at,
    provenance_of,
    read_file,
)
from plugins.domains.errata import Correction, check_cases, read_errata
from plugins.domains.longmemeval.cases import (
    HEADLINE,
    PROVIDES,
    Granularity,
    case_of,
    events_of,
    is_success,
    with_evidence,
)
from plugins.domains.longmemeval.loading import FILES, WHERE_TO_GET_IT, parse
from plugins.domains.longmemeval.records import Question
from plugins.domains.longmemeval.streaming import StreamedQuestions, is_streamed


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemEvalSettings:
    """Where the file is, what an event is, and what is known of the answer key.

    path : `longmemeval_s_cleaned.json`, `longmemeval_oracle.json`, or a file of the same questions
        with `sessions` in place of `haystack_*`.
    granularity : an event is a `turn` or a whole `session`, as are the units that are retrieved.
    errata : a JSON file of corrections by question id, which are applied; evidence is named by turn
        (`s3.5`, turn 5 of session 3). The key's ceiling is then reported.
    unknown_file : read a file that is none of those published and does not say what it is.
    sha256 : when given, the file must have this digest.
    """

    path: str = ""
    granularity: Granularity = "turn"
    errata: str = field(default="", metadata={"later": True})
    unknown_file: bool = field(default=False, metadata={"later": True})
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

    Raises UserError when no path is given, DataError naming file and record for bad data, and for a
    file that is none of those published, does not say what it is, and that nobody told to read.
    """

    provenance: Provenance = Provenance(
        source="https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
        revision=(
            "the digest of the file read is recorded; snapshot.json, 12 of the questions with 12 "
            "sessions each, is of https://github.com/Suketh05/BriefBench at 3016348"
        ),
        licence="MIT",
        citation=(
            "@inproceedings{wu2025longmemeval, title = {LongMemEval: Benchmarking Chat "
            "Assistants on Long-Term Interactive Memory}, author = {Wu, Di and Wang, Hongwei "
            "and Yu, Wenhao and Zhang, Yuwei and Chang, Kai-Wei and Yu, Dong}, booktitle = {The "
            "Thirteenth International Conference on Learning Representations}, eprint = "
            "{2410.10813}, archivePrefix = {arXiv}, year = {2025}}"
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
        published, told = type(self).provenance, settings.unknown_file
        self._questions: Mapping[str, Question]
        if file.is_file() and is_streamed(file):
            digest = asked_for(settings.path, settings.sha256, digest_file(file))
            # A bare list says nothing of itself: so much is known before all of it is read.
            self.provenance = provenance_of(settings.path, digest, published, None, told=told)
            self._questions = StreamedQuestions(str(file))
        else:
            data, digest = read_file(
                settings.path, settings.sha256, domain="longmemeval", where=WHERE_TO_GET_IT
            )
            questions, stated = parse(settings.path, data)
            self.provenance = provenance_of(settings.path, digest, published, stated, told=told)
            self._questions = {question.id: question for question in questions}
        self._errata = read_errata(settings.errata, domain="longmemeval")
        check_cases(settings.errata, self._errata, self._questions)
        for id_, correction in self._errata.corrections.items():
            self._check(id_, correction)
        self._asked = [id_ for id_ in self._questions if self._errata.keep(id_)]
        if not self._asked:
            raise DataError(settings.errata, None, "every question is dropped")
        self._digest = self._errata.digest_with(digest)
        first = self._questions[self._asked[0]]
        self._nominal_tokens = sum(count_tokens(e.text) for e in events_of(first, "session"))

    def _check(self, id_: str, correction: Correction) -> None:
        """Raise DataError for a correction that does not fit its question."""
        if correction.answer and self._questions[id_].abstains:
            said = f"case {id_!r}: it is to be abstained from, there is no answer to correct"
            raise DataError(self.settings.errata, None, said)
        try:
            self._question(id_)
        except ValueError as error:
            raise DataError(self.settings.errata, None, f"case {id_!r}: {error}") from None

    def _question(self, id_: str) -> Question:
        """The question under its id, with the evidence corrected."""
        correction = self._errata.corrections.get(id_)
        if correction is None or correction.evidence is None:
            return self._questions[id_]
        return with_evidence(self._questions[id_], correction.evidence)

    @property
    def nominal_tokens(self) -> int:
        """Tokens of the first question's sessions: the haystacks of a file are made alike."""
        return self._nominal_tokens

    def cases(self, n: int | None, seed: int) -> Iterator[Case]:
        for id_ in islice(self._asked, n):
            case = case_of(self._question(id_), id_, self.settings.granularity)
            yield self._errata.answered(case)

    def history(self, history_id: str) -> Iterator[Event]:
        yield from events_of(self._questions[history_id], self.settings.granularity)

    def digest(self) -> str:
        return self._digest

    def success(self, answer: Answer, gold: Gold) -> bool:
        return is_success(answer, gold)

    def report(self, cases: Iterable[Case]) -> Mapping[str, float]:
        """The key's ceiling, where corrections are given."""
        return self._errata.report([case.id for case in cases])
