"""The right verdict of each statement in the worlds that decide it, by chapter.

A word is what is true in the world, given what a build can show: where overflows make an effect,
the statement depends on them; where the printed sums cannot tell, it is left open.
"""

from cogniload_repro.analysis.verdicts import (
    DEPENDS,
    NOT_SUPPORTED,
    OPEN,
    PARTLY,
    SUPPORTED,
)

#: True where the paper is right, not in a world without effects, nor in that of a critic.
IN_PAPER = {"paper": SUPPORTED, "null": NOT_SUPPORTED}
#: Statements that there is no effect.
NO_EFFECT = {"paper": SUPPORTED, "null": SUPPORTED, "tilt": NOT_SUPPORTED}
AGAINST_CONTINUUM = {**IN_PAPER, "continuum": NOT_SUPPORTED}
AGAINST_TILT = {**IN_PAPER, "tilt": NOT_SUPPORTED}

RIGHT = {
    "04_accuracy": {
        "Accuracy falls with d for most models": {
            "paper": SUPPORTED,
            "loops": NOT_SUPPORTED,
        },
        "steepest": AGAINST_CONTINUUM,
        "dominant_load": AGAINST_CONTINUUM,
        "appendix_a": AGAINST_TILT,
    },
    "05_glm": {
        "slopes": {"paper": SUPPORTED, "null": SUPPORTED, "continuum": PARTLY},
        "leaders": AGAINST_CONTINUUM,
        "classes": AGAINST_CONTINUUM,
        "larger_models": AGAINST_CONTINUUM,
    },
    "06_interactions": {
        "d_by_n": {**IN_PAPER, "budget": DEPENDS},
        "d_by_n_leaders": NO_EFFECT,
        "d_by_rho": {**AGAINST_TILT, "slopes_by_length": NOT_SUPPORTED},
        "d_by_rho_leaders": NO_EFFECT,
        "n_by_rho": {**IN_PAPER, "tilt": PARTLY, "needles": DEPENDS},
        "n_by_rho_gemini": {**AGAINST_TILT, "needles": DEPENDS},
    },
    "07_aic": {
        "u_shape": {
            **IN_PAPER,
            "hinge": OPEN,
            "late_trough": OPEN,
            "shortcut": NOT_SUPPORTED,
        },
        "trough": {**IN_PAPER, "hinge": OPEN, "late_trough": NOT_SUPPORTED},
        "Accuracy is curved upwards in ρ (part of a U), without a regression": {
            **IN_PAPER,
            "shortcut": NOT_SUPPORTED,
        },
    },
    "08_errors": {
        "*valid-logic* is the most common non-context failure": IN_PAPER,
        "*valid-logic* errors rise with d in nearly all models (nine in ten)": {
            "null": SUPPORTED,
            "loops": NOT_SUPPORTED,
        },
        "overflows": {
            **IN_PAPER,
            "loops": NOT_SUPPORTED,
            "budget": NOT_SUPPORTED,
        },
        "lower_bound": {**IN_PAPER, "loops": NOT_SUPPORTED},
        "budget": {
            "paper": SUPPORTED,
            "null": SUPPORTED,
            "loops": SUPPORTED,
            "budget": NOT_SUPPORTED,
        },
        "Formats drift mainly in smaller models": AGAINST_TILT,
        '"Other" failures rise with N': {"tilt": SUPPORTED, "null": NOT_SUPPORTED},
    },
    "07_alternatives": {
        "narrow_range": AGAINST_CONTINUUM,
        "Length enters as log₁₀ N rather than N": {
            "null": SUPPORTED,
            "continuum": NOT_SUPPORTED,
        },
        "The effect of d is a straight line": {
            "null": SUPPORTED,
            "shortcut": NOT_SUPPORTED,
        },
        "The effect of log₁₀ N is a straight line": {
            "null": SUPPORTED,
            "paper": NOT_SUPPORTED,
        },
        "Loads do not multiply each other": {"null": SUPPORTED, "tilt": NOT_SUPPORTED},
    },
}


def find_right(world):
    """Return by chapter the right words of the statements that a world decides."""
    words = {}
    for chapter, statements in RIGHT.items():
        decided = {
            statement: by_world[world]
            for statement, by_world in statements.items()
            if world in by_world
        }
        if decided:
            words[chapter] = decided
    return words


def compare(world, cells, build, judge):
    """Return statement, right word and word of the chapters for what a world decides."""
    right = find_right(world)
    judged = judge(cells, build, right)
    return [
        (statement, word, judged[statement].word)
        for statements in right.values()
        for statement, word in statements.items()
    ]
