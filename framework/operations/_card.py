"""Task card and documents as prompts state them: one wording for every operation."""

from __future__ import annotations

from collections.abc import Iterable

from framework.records import ABSTAIN, FactField, TaskCard


def card_text(task: TaskCard) -> str:
    """Instruction, decisions and answer form."""
    parts = [task.instruction]
    if task.decisions:
        parts.append("Decisions:\n" + decisions_text(task))
    if task.fields:
        parts.append("Fields of the answer form:\n" + fields_text(task.fields))
    return "\n\n".join(parts)


def decisions_text(task: TaskCard) -> str:
    """The decisions, one a line, with the policy's word for each and the formula of its amount."""
    lines = []
    for decision in (*task.decisions, ABSTAIN):
        verb = task.verbs.get(decision)
        amount = task.amounts.get(decision)
        lines.append(
            f"- {decision}"
            + (f' (the policy says "{verb}")' if verb else "")
            + (f"; amount: {amount}" if amount else "")
        )
    return "\n".join(lines)


def fields_text(fields: Iterable[FactField]) -> str:
    """The fields, one a line: key, label, type and formula."""
    return "\n".join(
        f"- {field.key}: {field.label} ({field.type})"
        + (f" = {field.formula}" if field.formula else "")
        for field in fields
    )


def documents_text(documents: Iterable[str]) -> str:
    """Documents, each fenced, with an empty line between them."""
    return "\n\n".join(f"<document>\n{text}\n</document>" for text in documents)
