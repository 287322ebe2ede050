"""What people in drawn sessions say and ask: two wordings of each, and the words that fill them.

The first wording of a pair is the development form, the second the held-out one: a rule-based
reader was written against the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Pair = tuple[str, str]

_PEOPLE: Final = "Amara Bruno Celia Darius Elif Farid Greta Hugo Ines Jonas Kira Leon Mina"
PEOPLE: Final = tuple(_PEOPLE.split())
SHOPS: Final = (
    "Hollis Corner",
    "Fern and Oak",
    "Miller Market",
    "Quayside Stores",
    "Old Mill Deli",
    "Sunrise Pantry",
    "Bramble Lane",
    "North Gate Hall",
    "Juniper House",
    "Copper Kettle",
)
_PROPER: Final = (
    "Harbour Lantern Meridian Saltmarsh Orchard Beacon Cascade Foundry Granite Willow Compass "
    "Heron Juniper Marlow Thistle"
)
PROPER: Final = tuple(_PROPER.split())
PLACES: Final = (
    "under the stairs",
    "in the hall cupboard",
    "behind the piano",
    "in the blue teapot",
    "on the top shelf",
    "in the garden shed",
    "beside the boiler",
    "in the glove box",
)
SCHEDULES: Final = (
    "on Mondays",
    "on Tuesdays",
    "on Thursdays",
    "on Friday evenings",
    "every second Sunday",
    "at noon on Saturdays",
)
RELATIVES: Final = ("sister", "brother", "cousin", "neighbour", "colleague", "roommate", "aunt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """Something of a person that has one value at a time.

    say, change, ended : the user states it, replaces it, gives it up. other : someone else's.
    assistant : the assistant names a value in general. ask, ask_first : now, and at the beginning;
    ask_other: of someone else. unit : of a number.
    """

    key: str
    items: tuple[str, ...]
    values: tuple[str, ...]
    say: Pair
    change: Pair
    ended: Pair
    other: Pair
    assistant: Pair
    ask: Pair
    ask_first: Pair
    ask_other: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happens on a day, any number of times, each with a name of its own.

    say, plan, other : it happened, may happen, happened to someone else. again : said of one that
    was told before. Every text has {name} and, but for plans, {when}. each: how one is referred to.
    """

    key: str
    names: tuple[str, ...]
    say: Pair
    plan: Pair
    other: Pair
    again: Pair
    tally: Pair
    assistant: Pair
    ask_count: Pair
    ask_list: Pair
    ask_plan: Pair
    ask_when: Pair
    ask_ago: Pair
    ask_between: Pair
    ask_window: Pair
    ask_order: Pair
    each: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Amounts that add up, or are told as a sum that has run up so far."""

    key: str
    say: Pair
    running: Pair
    other: Pair
    ask: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Liking:
    """What a person likes and dislikes on a topic, and a request on which it bears."""

    key: str
    likes: tuple[str, ...]
    dislikes: tuple[str, ...]
    say: Pair
    ask: Pair
    rubric: str


def _numbers(first: int, last: int, step: int = 1) -> tuple[str, ...]:
    return tuple(map(str, range(first, last + 1, step)))


ATTRIBUTES: Final = (
    Attribute(
        key="shop",
        items=("bread", "coffee beans", "olive oil", "flowers", "cheese", "running shoes"),
        values=SHOPS,
        say=("I buy my {item} at {value}.", "My {item} comes from {value}, as a rule."),
        change=(
            "I switched shops and buy my {item} at {value} now.",
            "These days my {item} comes from {value}.",
        ),
        ended=("I no longer buy any {item}.", "I have given up on {item} altogether."),
        other=("My {who} buys {item} at {value}.", "My {who} has {item} from {value}."),
        assistant=(
            "Many people buy {item} at {value}.",
            "For {item}, a popular address is {value}.",
        ),
        ask=("Where do I buy my {item}?", "At which shop do I get my {item}?"),
        ask_first=(
            "Where did I originally buy my {item}?",
            "At which shop did I get my {item} to begin with?",
        ),
        ask_other=("Where does my {who} buy {item}?", "At which shop does my {who} get {item}?"),
    ),
    Attribute(
        key="teacher",
        items=("pottery", "piano", "yoga", "Spanish", "chess", "archery"),
        values=PEOPLE,
        say=("My {item} teacher is {value}.", "For {item} I go to {value} on Mondays."),
        change=(
            "My {item} teacher changed, it is {value} now.",
            "I go to {value} for {item} these days.",
        ),
        ended=("I no longer have a {item} teacher.", "I dropped {item} for good."),
        other=(
            "The {item} teacher of my {who} is {value}.",
            "My {who} goes to {value} for {item}.",
        ),
        assistant=(
            "A well known {item} teacher in town is {value}.",
            "For {item}, people speak highly of {value}.",
        ),
        ask=("Who is my {item} teacher?", "With whom do I study {item}?"),
        ask_first=(
            "Who was my {item} teacher originally?",
            "With whom did I study {item} to begin with?",
        ),
        ask_other=(
            "Who is the {item} teacher of my {who}?",
            "With whom does my {who} study {item}?",
        ),
    ),
    Attribute(
        key="place",
        items=("spare key", "passport", "tent", "violin", "toolbox", "sewing kit"),
        values=PLACES,
        say=("I keep my {item} {value}.", "My {item} lives {value}."),
        change=("I moved it, I keep my {item} {value} now.", "My {item} has its home {value} now."),
        ended=("I no longer own a {item}.", "I gave my {item} away."),
        other=("My {who} keeps a {item} {value}.", "The {item} of my {who} lives {value}."),
        assistant=("Many people keep a {item} {value}.", "A good home for a {item} is {value}."),
        ask=("Where do I keep my {item}?", "In what place is my {item} stored?"),
        ask_first=(
            "Where did I originally keep my {item}?",
            "In what place was my {item} stored to begin with?",
        ),
        ask_other=(
            "Where does my {who} keep a {item}?",
            "In what place does my {who} store a {item}?",
        ),
    ),
    Attribute(
        key="schedule",
        items=("choir", "book club", "swimming class", "debate team", "knitting circle"),
        values=SCHEDULES,
        say=("My {item} meets {value}.", "I go to my {item} {value}."),
        change=(
            "My {item} changed, it meets {value} now.",
            "I go to my {item} {value} these days.",
        ),
        ended=("My {item} no longer meets.", "I left my {item} for good."),
        other=("The {item} of my {who} meets {value}.", "My {who} goes to a {item} {value}."),
        assistant=("A {item} usually meets {value}.", "People go to a {item} {value}."),
        ask=("When does my {item} meet?", "What day is my {item}?"),
        ask_first=(
            "When did my {item} originally meet?",
            "What day was my {item} to begin with?",
        ),
        ask_other=(
            "When does the {item} of my {who} meet?",
            "What day does my {who} have a {item}?",
        ),
    ),
    Attribute(
        key="collection",
        items=("stamps", "records", "postcards", "teapots", "coins", "board games"),
        values=_numbers(11, 68),
        say=("I own {value} {item} in my collection.", "My shelf of {item} holds {value} of them."),
        change=(
            "I own {value} {item} in my collection now.",
            "By now my shelf of {item} holds {value} of them.",
        ),
        ended=("I no longer own any {item}.", "I sold off all of my {item}."),
        other=(
            "My {who} owns {value} {item} in a collection.",
            "The shelf of my {who} holds {value} {item}.",
        ),
        assistant=(
            "A good collection of {item} starts at {value}.",
            "Around {value} {item} make a fine shelf.",
        ),
        ask=("How many {item} do I own in my collection?", "What number of {item} do I have?"),
        ask_first=(
            "How many {item} did I originally own in my collection?",
            "What number of {item} did I have to begin with?",
        ),
        ask_other=(
            "How many {item} does my {who} own in a collection?",
            "What number of {item} does my {who} have?",
        ),
    ),
    Attribute(
        key="practice",
        items=("guitar", "German", "drawing", "juggling", "typing", "singing"),
        values=_numbers(15, 90, 5),
        say=(
            "I practise {item} for {value} minutes each day.",
            "Each day sees {value} minutes of {item} from me.",
        ),
        change=(
            "I changed my routine and practise {item} for {value} minutes each day now.",
            "Each day now sees {value} minutes of {item} from me.",
        ),
        ended=("I no longer practise {item}.", "I have stopped with {item}."),
        other=(
            "My {who} practises {item} for {value} minutes each day.",
            "My {who} does {value} minutes of {item} each day.",
        ),
        assistant=(
            "Beginners practise {item} for {value} minutes each day.",
            "A usual dose of {item} is {value} minutes.",
        ),
        ask=("How many minutes do I practise {item} each day?", "How long is my daily {item}?"),
        ask_first=(
            "How many minutes did I originally practise {item} each day?",
            "How long was my daily {item} to begin with?",
        ),
        ask_other=(
            "How many minutes does my {who} practise {item} each day?",
            "How long is the daily {item} of my {who}?",
        ),
    ),
)


def _happening(
    key: str,
    verb: tuple[str, str, str],
    noun: tuple[str, str],
    held_out: tuple[str, str],
    title: str,
) -> Happening:
    """`verb`: visited, visit, visits; `noun`: museum, museums; `held_out`: other words for both."""
    did, do, _ = verb
    one, many = noun
    was, other_do = held_out
    return Happening(
        key=key,
        names=PROPER,
        say=(f"I {did} {title} {{when}}.", f"I {was} {title} {{when}}."),
        plan=(f"I am planning to {do} {title} next month.", f"Maybe I {other_do} {title} someday."),
        other=(f"My {{who}} {did} {title} {{when}}.", f"My {{who}} {was} {title} {{when}}."),
        again=(
            f"As I told you, I {did} {title} {{when}}.",
            f"I still think of how I {was} {title} {{when}}.",
        ),
        tally=(f"That makes {{n}} {many} I {did}.", f"So {{n}} {many} saw me this season."),
        assistant=(f"Many people {do} {title}.", f"{title[0].upper()}{title[1:]} is well liked."),
        ask_count=(f"How many {many} did I {do}?", f"What number of {many} did I {other_do}?"),
        ask_list=(f"Which {many} did I {do}?", f"What are the {many} that I {was}?"),
        ask_plan=(
            f"Which {one} am I planning to {do}?",
            f"What {one} would I like to {other_do} someday?",
        ),
        ask_when=(f"When did I {do} {title}?", f"On what date did I {other_do} {title}?"),
        ask_ago=(
            f"How many {{unit}}s ago did I {do} {title}?",
            f"How many {{unit}}s have gone by since I {was} {title}?",
        ),
        ask_between=(
            f"How many {{unit}}s passed between {title} and {title.replace('{name}', '{other}')}?",
            f"How many {{unit}}s lie between {title} and {title.replace('{name}', '{other}')}?",
        ),
        ask_window=(
            f"Which {one} did I {do} {{span}}?",
            f"What {one} was it that I {was} {{span}}?",
        ),
        ask_order=(
            f"Which {one} did I {do} first, {title} or {title.replace('{name}', '{other}')}?",
            f"What did I {other_do} earlier, {title} or {title.replace('{name}', '{other}')}?",
        ),
        each=title,
    )


HAPPENINGS: Final = (
    _happening(
        "museum",
        ("visited", "visit", "visits"),
        ("museum", "museums"),
        ("spent an afternoon at", "spend an afternoon at"),
        "the {name} Museum",
    ),
    _happening(
        "race",
        ("ran", "run", "runs"),
        ("race", "races"),
        ("took part in", "take part in"),
        "the {name} Race",
    ),
    _happening(
        "concert",
        ("attended", "attend", "attends"),
        ("concert", "concerts"),
        ("sat through", "sit through"),
        "the {name} Concert",
    ),
    _happening(
        "trail",
        ("hiked", "hike", "hikes"),
        ("trail", "trails"),
        ("walked along", "walk along"),
        "the {name} Trail",
    ),
    _happening(
        "market",
        ("explored", "explore", "explores"),
        ("market", "markets"),
        ("strolled around", "stroll around"),
        "the {name} Market",
    ),
)

SPENDINGS: Final = tuple(
    Spending(
        key=key,
        say=(
            f"My {key} cost me ${{value}} at {{shop}} {{when}}.",
            f"{{shop}} charged me ${{value}} for {key} {{when}}.",
        ),
        running=(
            f"So far my {key} cost me ${{value}} this season.",
            f"That makes ${{value}} for {key} up to now.",
        ),
        other=(
            f"The {key} of my {{who}} cost ${{value}} {{when}}.",
            f"My {{who}} was charged ${{value}} for {key} {{when}}.",
        ),
        ask=(f"How much did my {key} cost me?", f"What did I pay for {key} in total?"),
    )
    for key in ("garden plants", "bike parts", "art supplies", "baking tins", "concert tickets")
)

LIKINGS: Final = (
    Liking(
        key="hotel",
        likes=(
            "quiet rooms with a sea view",
            "small hotels near a station",
            "rooms with a kitchen",
        ),
        dislikes=("large resorts", "hotels above a bar", "shared bathrooms"),
        say=(
            "When I choose a hotel for a trip, I prefer {like} and avoid {dislike}.",
            "On trips I always enjoy {like} and cannot stand {dislike}.",
        ),
        ask=("Can you suggest a hotel for my trip?", "Any idea where to stay on my next trip?"),
        rubric="The user prefers {like} and avoids {dislike}.",
    ),
    Liking(
        key="recipe",
        likes=("spicy lentil stews", "cold noodle salads", "slow roasted vegetables"),
        dislikes=("anything with mushrooms", "deep fried food", "heavy cream"),
        say=(
            "For a recipe at night, I prefer {like} and avoid {dislike}.",
            "In the kitchen I really enjoy {like} and cannot stand {dislike}.",
        ),
        ask=(
            "Can you suggest a recipe for the night?",
            "Any idea what my kitchen could do for guests?",
        ),
        rubric="The user prefers {like} and avoids {dislike}.",
    ),
    Liking(
        key="film",
        likes=("slow documentaries about the sea", "old detective stories", "silent comedies"),
        dislikes=("films with jump scares", "long battle scenes", "musical numbers"),
        say=(
            "For a film in the evening, I prefer {like} and avoid {dislike}.",
            "In the cinema I usually enjoy {like} and cannot stand {dislike}.",
        ),
        ask=("Can you suggest a film for the evening?", "Any idea what to see in the cinema?"),
        rubric="The user prefers {like} and avoids {dislike}.",
    ),
)

OPENERS: Final = (
    "Can you recommend a podcast for a long drive?",
    "What should I know before I repaint a fence?",
    "How do I get wax out of a tablecloth?",
    "Could you explain how tides work?",
    "I need ideas for a rainy afternoon with children.",
    "What is a good way to remember names?",
    "Please help me word a note to my landlord.",
    "How often should one descale a kettle?",
    "I am looking for a gentle stretching routine.",
    "Which herbs grow well on a north facing sill?",
    "How do I fold a fitted sheet?",
    "Is it worth repairing an old toaster?",
)
ASIDES: Final = ("By the way, {said}", "{said}", "Speaking of which, {said}", "Oh, and {said}")
REPLIES: Final = (
    "A steady rhythm helps more than effort does. Start small and keep notes.",
    "There are three common ways to go about it, and the simplest is often the best.",
    "Give it an hour, then check again. Most of it settles without help.",
    "It depends on the weather and on how much time there is.",
    "You could begin with the basics and see what sticks.",
    "Warm water and patience do most of the work here.",
    "I would sort it by size first. After that the rest is easy.",
    "Thanks for telling me. I am glad to hear it.",
)
"""Turns around what is said, which has a part in no question."""
