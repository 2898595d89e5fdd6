"""Responses that end as models end theirs, and as nobody expects: one random case after another."""

from cogniload_repro.scoring.outcome import QUALIFIERS

NAMES = ["Sue", "Ali", "Jan", "Ian", "Mark", "Hank", "Chen", "Raymond", "Mary Ann"]
ODD_NAMES = [
    "sUE",
    "",
    "(Sue",
    "S.e",
    "Zoë",
    "İan",
    "\u212aen",
    "ΟΔΟΣ",
    "Σ",
    "ς",
    "ßam",
    "\x00",
    "Sue\nAli",
    "(",
]
ODD_NAMES += ["e"]
WORDS = [
    "bar",
    "barn",
    "red",
    "bored",
    "non-fiction",
    "fiction",
    "camp",
    "campground",
    "market",
    "marketplace",
]
WORDS += [
    "livingroom",
    "living room",
    "sci-fi",
    "science fiction",
    "science-fiction",
    "reaggea",
    "reggae",
]
WORDS += ["potatoes", "potato", "green", "gray", "blue"]
ODD_WORDS = [
    "Red",
    "RED",
    "r.d",
    "a|b",
    "[x]",
    "$^",
    "\\d+",
    " ",
    ".",
    "İ",
    "ß",
    "Σ",
    "ΑΣ",
    "\u212a",
    "é",
    "\n",
    "(",
]
ODD_WORDS += ["in"]
BEFORE = [
    *' ["*_{(',
    "",
    " ",
    " ",
    "`",
    "'",
    "-",
    "/",
    ":",
    "\t",
    "\xa0",
    "“",
    "**",
    "\\boxed{",
    "\\text{",
    "x",
]
BEFORE += ["\r"]
AFTER = [
    "",
    "",
    ".",
    ",",
    "**",
    "}",
    "}}$",
    "]",
    ")",
    '"',
    "`",
    "s",
    " ",
    "...",
    "\u2019s",
    "!",
]
FILLERS = [
    "is wearing",
    "was at the",
    "has hair that is",
    "hat",
    "ate",
    "read a book",
    "listened to music",
    "not",
]
FILLERS += [
    "from",
    "to",
    "watched a movie",
    "gloves",
    "socks",
    "pant",
    "shirt",
    "underwear",
    "in",
    "|",
    "- ",
    "1. ",
]
FILLERS += [
    "> ",
    "answer:",
    "January",
    "salience",
    "remark",
    "pursue",
    "That. Then",
    "...",
    ".",
    "e.g. so",
]
FILLERS += ["# Final", "</think>", "$$"]
FOREIGN = [
    "İ",
    "ß",
    "\u2126",
    "\u212b",
    "\u212a",
    "ﬁ",
    "Σ",
    "ΑΣ",
    "ς.",
    "ǅ",
    "\x00",
    "\ud800",
    "\U0001f600",
]
FOREIGN += ["\u0307", "→", "É"]
LINE_ENDS = [
    "\n",
    "\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\u2028",
    "\u2029",
    " ",
    ". ",
]
LAST = [
    "",
    "",
    "",
    ".",
    "...",
    ". ",
    ".\n",
    "\r\n",
    "\n\n",
    "\n \n",
    "\n\t",
    "!",
    ". Done",
    "\n(as asked)",
]
LAST += [
    "\n(as asked)\n",
    "\n(so be it) ",
    "\n(",
    "\n)",
    "\n()",
    "\n\n(yes)\n\n",
    " (so it is)",
    "\n(\n)",
    "\n" * 40,
]
PADDING = [
    "so on and on, line by line.\n",
    "in one line ",
    "\n",
    "→ ",
    "Σ. ",
    "nobody wears a hat in → here\n",
]
PADDING += [
    "{poi}: → next\n",
    "{poi} \n",
    "{poi} has a hat, hair and a {gold} book at home\n",
    "(\n",
    "\u212a",
    ".",
]
PADDING += ["{gold} "]
COUNTS = [None, 0, 1, 4_000, 28_747, 28_748, 32_747, 32_748, 10**30]


def draw_question(rng):
    """Draw what is asked: mostly names and values of the paper, at times of no paper."""
    odd = rng.random() < 0.3
    values = WORDS + ODD_WORDS if odd else WORDS
    gold = rng.choice(values)
    domain = [rng.choice(values) for _ in range(rng.randrange(5))] + rng.choice(
        [[gold], [gold], [gold], [gold] * 2, []]
    )
    if odd:
        domain += rng.choice([[], [], [""], [gold.upper()], domain])
    rng.shuffle(domain)
    poi = rng.choice(NAMES + ODD_NAMES if odd else NAMES)
    return {
        "poi": poi,
        "gold": gold,
        "domain": domain,
        "category": rng.choice(list(QUALIFIERS)),
    }


def draw_response(rng, question):
    """Draw a response about a question.

    Some lines of names, values and words, perhaps after a lot of text.
    """
    return (
        _draw_padding(rng, question)
        + "".join(_draw_line(rng, question) for _ in range(rng.randrange(6)))
        + (_draw_line(rng, question).rstrip("\n") + rng.choice(LAST))
    )


def draw_tokens(rng):
    """Draw token counts, known or not."""
    return {name: rng.choice(COUNTS) for name in ("prompt_tokens", "response_tokens")}


def _draw_line(rng, question):
    poi = question["poi"]
    gold = question["gold"]
    pieces = []
    for _ in range(rng.randrange(8)):
        kind = rng.random()
        if kind < 0.3:
            pieces.append(
                rng.choice(
                    [poi, poi, poi.upper(), poi.lower(), poi.title(), rng.choice(NAMES)]
                )
            )
        elif kind < 0.65:
            value = rng.choice([gold, *question["domain"], rng.choice(WORDS)])
            pieces.append(
                rng.choice(BEFORE)
                + rng.choice([value, value, value.upper(), value.title()])
                + rng.choice(AFTER)
            )
        else:
            pieces.append(rng.choice(FILLERS if kind < 0.95 else FOREIGN))
        pieces.append(rng.choice(["", " ", " "]))
    return rng.choice(["", "", "", "("]) + "".join(pieces) + rng.choice(LINE_ENDS)


def _draw_padding(rng, question):
    if rng.random() < 0.6:
        return ""
    unit = rng.choice(PADDING).format(**question)
    return (
        unit * (rng.choice([3, 30, 600, 5_000, 40_000]) // len(unit) + 1)
        if unit
        else ""
    )
