"""Appendix D's Algorithms 1-3, line by line: the reference for the real scorer.

The keywords late_drop, cut_windows and last_mention are the places where the appendix
can be read twice.
"""

import re

QUALIFIERS = {
    "location": {"at", "located", "in"},
    "clothes_shirt": {"shirt", "wear"},
    "clothes_pant": {"pant", "wear"},
    "clothes_hat": {"hat", "wear"},
    "clothes_gloves": {"glove", "wear"},
    "clothes_socks": {"sock", "wear"},
    "clothes_underwear": {"underwear", "wear"},
    "hair": {"hair"},
    "recent_eat": {"eat", "ate"},
    "recent_watch": {"watch", "watched", "movie"},
    "recent_listen": {"listen", "listened", "music"},
    "recent_read": {"read", "book"},
}

SPELLINGS = {
    "reaggea": ["reaggea", "reggae"],
    "sci-fi": ["sci-fi", "science fiction", "science-fiction"],
    "camp": ["camp", "campground"],
    "potatoes": ["potatoes", "potato"],
    "market": ["market", "marketplace"],
    "livingroom": ["livingroom", "living room"],
}


def take_last_sentence(s):
    """TakeLastSentence."""
    p = s.split(".")
    return p[-2] if len(p) >= 2 else s


def exceeded_context(prompt_tokens, response_tokens):
    """The guard of D.3."""
    if prompt_tokens is None or response_tokens is None:
        return False
    return prompt_tokens + response_tokens + 20 >= 32768


def check_answer(t, s):
    """CheckAnswer of Algorithm 3."""
    return (
        s.startswith(t)
        or s == t
        or " " + t in s
        or "[" + t in s
        or '"' + t in s
        or "*" + t in s
        or "_" + t in s
        or "{" + t in s
        or "(" + t in s
    )


def check_correct_answer(gold, s):
    """CheckCorrectAnswer of Algorithm 3."""
    if gold == "reaggea":
        return check_answer("reaggea", s) or check_answer("reggae", s)
    if gold == "sci-fi":
        return (
            check_answer("sci-fi", s)
            or check_answer("science fiction", s)
            or check_answer("science-fiction", s)
        )
    if gold == "camp":
        return check_answer("camp", s) or check_answer("campground", s)
    if gold == "potatoes":
        return check_answer("potatoes", s) or check_answer("potato", s)
    if gold == "market":
        return check_answer("market", s) or check_answer("marketplace", s)
    if gold == "livingroom":
        return check_answer("livingroom", s) or check_answer("living room", s)
    return check_answer(gold, s)


def last_place(value, s):
    """Where the last mention starts that CheckCorrectAnswer accepts, -1 if there is none."""
    last = -1
    for i in range(len(s) + 1):
        if (i == 0 or s[i - 1] in ' ["*_{(') and any(
            s[i:].startswith(t) for t in SPELLINGS.get(value, [value])
        ):
            last = i
    return last


def alt_flag(s, alts, gold, last_mention=False):
    """AltFlag of Algorithm 3."""
    s = s.lower()
    g = gold.lower()
    a_set = [a.lower() for a in alts]
    alt_present = any([check_correct_answer(a, s) for a in a_set])
    g_idx = s.rfind(g)
    spans = False
    if g_idx != -1 and alt_present:
        g_end = g_idx + len(g)
        for a in a_set:
            a_idx = s.rfind(a)
            if a_idx != -1 and a_idx <= g_idx and a_idx + len(a) >= g_end:
                spans = True
        if not spans:
            alt_present = False
    if last_mention:
        any_present = any([check_correct_answer(a, s) for a in a_set])
        alt_is_last = max([last_place(a, s) for a in a_set], default=-1) > last_place(
            g, s
        )
        return any_present and (spans or alt_is_last)
    return alt_present


def is_qualified(line, quals):
    """Whether a line has a word that goes with the category."""
    return any(word in line for word in quals)


def score(
    resp,
    *,
    poi,
    gold,
    domain,
    category,
    prompt_tokens=None,
    response_tokens=None,
    late_drop=False,
    cut_windows=False,
    last_mention=False,
):
    """The buckets of D.5, in their order."""
    # Algorithm 1
    poi = poi.lower()
    quals = QUALIFIERS[category]
    lines = re.split("\r\n|\r|\n", resp.lower())
    if late_drop:
        lines = [line for line in lines if line != ""] or [""]
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        lines = lines[:-1]
    lines = [line for line in lines if line != ""]
    if len(lines) == 0:
        lines = [""]
    # Algorithm 2
    last_sentence = take_last_sentence(lines[-1])
    poi_lines = [s for s in lines if poi in s]
    poi_last = poi_lines[-1] if poi_lines else ""
    valid_poi_lines = [s for s in poi_lines if is_qualified(s, quals)]
    valid_poi_last = valid_poi_lines[-1] if valid_poi_lines else ""
    if cut_windows:
        poi_last = take_last_sentence(poi_last)
        valid_poi_last = take_last_sentence(valid_poi_last)
    if (
        exceeded_context(prompt_tokens, response_tokens)
        or last_sentence == ""
        or len(resp) == 0
    ):
        return "wrong_max_context"
    c_valid = check_correct_answer(gold, valid_poi_last)
    c_poi = check_correct_answer(gold, poi_last)
    c_last = check_correct_answer(gold, last_sentence)
    alts = [v for v in domain if v != gold]
    a_valid = alt_flag(valid_poi_last, alts, gold, last_mention)
    a_poi = alt_flag(poi_last, alts, gold, last_mention)
    a_last = alt_flag(last_sentence, alts, gold, last_mention)
    if c_valid and not a_valid:
        return "correct_valid"
    elif c_poi and not a_poi:
        return "correct_poi"
    elif c_last and not a_last:
        return "correct_last_sentence"
    elif not c_valid and a_valid and valid_poi_last != "":
        return "wrong_logic"
    elif not c_poi and a_poi and poi_last != "":
        return "wrong_logic_poi"
    elif not c_last and a_last and last_sentence != "":
        return "wrong_logic_last_sentence"
    else:
        return "wrong_other"
