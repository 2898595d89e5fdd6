"""The puzzle generator, step by step and as plain as can be: the yardstick of `bench_generation`.

States are dictionaries, every draw is a method of `random.Random`, every check of the authors' released code
is made although the last one implies two of the others. Shares only the word lists with the package.
"""

import random
from types import SimpleNamespace

from cogniload_repro.puzzles.ontology import CATEGORIES, PHRASES, ontology

INSTRUCTION = (
    "Solve this logic puzzle. You MUST finalize your response with a single sentence about the asked "
    'property (eg "Peter is in the livingroom.", "Peter is wearing blue socks",.. ). '
    "Solve the puzzle by reasoning through the statements in a strictly sequential order :"
)


def draw_set_up(rng, d):
    """Draw categories, people, person of interest, domains and initial states."""
    words = ontology()
    categories = rng.sample(list(CATEGORIES), d)
    people = rng.sample(list(words.people), d)
    if d == 1:
        people.append(
            rng.choice([person for person in words.people if person not in people])
        )
    poi = rng.choice(people)
    domains = {}
    for category in categories:
        values = list(words.values[category])
        domains[category] = rng.sample(values, min(len(values), 3 if d == 1 else d + 1))
    states = {
        person: {
            category: domains[category][i % len(domains[category])]
            for category in categories
        }
        for i, person in enumerate(people)
    }
    return categories, people, poi, domains, states


def holds(state, conditions):
    """Return whether a person in this state meets every condition."""
    return all(state[category] == value for category, value in conditions.items())


def attempt(rng, setting, states, needles_left, hays_left):
    """Draw one statement; return None when it is not allowed."""
    categories, people, poi, domains = setting
    others = [person for person in people if person != poi]
    is_hay = rng.random() > needles_left / (needles_left + hays_left)
    reference = rng.choice(others) if is_hay else poi
    condition_categories = rng.sample(categories, rng.randint(1, len(categories)))
    update_categories = rng.sample(categories, rng.randint(1, len(categories)))
    conditions = {
        category: states[reference][category] for category in condition_categories
    }
    updates = {}
    for category in update_categories:
        taken = (states[reference][category], states[poi][category])
        free = [value for value in domains[category] if value not in taken]
        if not free:
            return None
        updates[category] = rng.choice(free)
    affected = [person for person in people if holds(states[person], conditions)]
    after = {
        person: {**states[person], **updates} if person in affected else states[person]
        for person in people
    }
    affected_others = [person for person in others if person in affected]
    equal = [person for person in affected_others if after[person] == after[poi]]
    if is_hay and (poi in affected or len(equal) == len(affected_others)):
        return None
    if not is_hay and affected_others:
        already = [
            person
            for person in others
            if person not in affected and holds(states[person], updates)
        ]
        if len(affected_others) == len(others) or len(equal) + len(already) == len(
            others
        ):
            return None
    if any(after[person] == after[poi] for person in others):
        return None
    rng.shuffle(condition_categories)
    rng.shuffle(update_categories)
    return SimpleNamespace(
        is_hay=is_hay,
        reference=reference,
        conditions=[
            (category, conditions[category]) for category in condition_categories
        ],
        updates=[(category, updates[category]) for category in update_categories],
        after=after,
    )


def draw_statements(rng, setting, states, N, needles):
    """Draw all statements in order, updating the states."""
    needles_left, hays_left = needles, N - needles
    statements = []
    for number in range(1, N + 1):
        failures = 0
        while (
            statement := attempt(rng, setting, states, needles_left, hays_left)
        ) is None:
            failures += 1
            if failures > 50:
                raise RuntimeError(f"statement {number}: 51 failed attempts")
        states = statement.after
        needles_left -= not statement.is_hay
        hays_left -= statement.is_hay
        statements.append(statement)
    return statements, states


def draw(rng, N, d, needles, puzzle_id):
    """Draw the puzzle of one id with its text."""
    rng.seed(puzzle_id)
    categories, people, poi, domains, start = draw_set_up(rng, d)
    statements, states = draw_statements(
        rng, (categories, people, poi, domains), start, N, needles
    )
    category = rng.choice(categories)
    lines = [INSTRUCTION, ""]
    for person in dict.fromkeys(
        statement.reference for statement in reversed(statements)
    ):
        order = list(categories)
        rng.shuffle(order)
        clauses = [PHRASES[name].initial.format(start[person][name]) for name in order]
        lines.append(f"{person} {' and '.join(clauses)}.")
    for number, statement in enumerate(statements, 1):
        conditions = " and ".join(
            PHRASES[name].condition.format(value)
            for name, value in statement.conditions
        )
        updates = " and ".join(
            PHRASES[name].update.format(value) for name, value in statement.updates
        )
        lines.append(f"{number}. The people {conditions} {updates}")
    lines += ["", PHRASES[category].question.format(poi)]
    solution = states[poi][category]
    return SimpleNamespace(
        name=f"{N}_{d}_{needles}_{puzzle_id}_{solution}",
        text="\n".join(lines),
        poi=poi,
        category=category,
        solution=solution,
        people=people,
        domains=domains,
        statements=statements,
    )


def draw_grid(cells, puzzles_per_cell, seed):
    """Draw whole cells along the id chain."""
    rng = random.Random(seed)
    for cell in cells:
        for _ in range(puzzles_per_cell):
            yield draw(rng, cell.N, cell.d, cell.needles, rng.randint(100000, 999999))
