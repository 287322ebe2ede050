"""A reader that asks a model for the task and the view as they are."""

from __future__ import annotations

from framework.contracts import Client, Operation, Profile, Prompt, Reader, Rule
from framework.records import Answer, MemoryView, TaskCard
from framework.registry import NoSettings, register


class Echo(Operation[str, str]):
    """Its request."""

    name = "probed_echo"

    def prompt(self, request: str) -> Prompt:
        return Prompt(system="", user=request)

    def parse(self, text: str, request: str) -> str:
        return text


@register("rule", "probed_echo")
class EchoRule(Rule[str, str]):
    """Its request."""

    def answer(self, request: str, profile: Profile) -> str:
        return request


@register("reader", "probed")
class Probed(Reader[NoSettings]):
    """Asks with the instruction and the view."""

    async def answer(self, task: TaskCard, view: MemoryView, client: Client) -> Answer:
        return Answer(text=await client.ask(Echo(), f"{task.instruction}\n{view.text}"))
