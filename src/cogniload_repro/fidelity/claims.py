"""Every number and statement of the paper's prose, recomputed from a build's results.

What a claim is about is found here for one model and in `over_models` for several; `evidence` gives the
numbers or refuses; `prose` reads the published words and judges.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import pandas as pd
from scipy.stats import norm

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.fidelity.evidence import Evidence, UnsettledError, cells_at
from cogniload_repro.fidelity.over_models import TOKENS, find_over_models
from cogniload_repro.fidelity.results import Results
from cogniload_repro.fidelity.wording import NOT_COMPUTABLE, Judgement, Number, Share, judge_claim
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS, INTERVAL_ALPHA, load_claims
from cogniload_repro.reconstruction.constraints import CURVES, PROSE_RATIOS, prose_along_rho

CLAIM_COLUMNS = (
    "id", "location", "claim", "model", "quantity", "condition", "kind", "evidence", "published", "recomputed", "shown",
    "verdict", "reason",
)  # fmt: skip

#: Claims about the scorer and the intervals, which no outputs bear on.
CONSTANTS: dict[str, Number] = {
    "C007": CONTEXT_TOKENS,
    "C008": CONTEXT_TOKENS,
    "C009": RESERVED_TOKENS,
    "C149": float(norm.ppf(1 - INTERVAL_ALPHA / 2)),
}

_TABLE2 = r"(beta|p)_(0|d|N|rho2?)\b|(ecl|nt|id)50"
_TABLE3 = r"(beta|p)_(dN|drho|Nrho|dNrho)\b"
_ALONG_RHO = r"rho:|over rho|rho of"


def evaluate_claims(
    results: Results, claims: pd.DataFrame | None = None, others: Iterable[pd.DataFrame] = ()
) -> pd.DataFrame:
    """Recompute the claims of the paper's prose.

    Parameters
    ----------
    results : Results
    claims : DataFrame, optional
        Rows such as `published.load_claims` gives, the default.
    others : iterable of DataFrame
        Cells in place of the results' own that agree with the paper's tables as well (`feasible.other_cells`).

    Returns
    -------
    DataFrame
        One row a claim, in the given order, columns `CLAIM_COLUMNS`: published is the string of the claims file;
        recomputed the number (NaN if there are several or none); shown the same as the paper prints it, several as
        "low to high", a share as "20 of 22"; verdict exact (prints alike, or the statement is true), unit (one unit of
        the last printed place apart), differs, or not_computable (the results lack what it takes, the claim is unknown,
        or only a drawn table answers it); reason the last, if that is it. For kind and evidence see `kind_of` and
        `evidence_of`.
    """
    here = Evidence(results)
    others = [Evidence(replace(results, cells=cells)) for cells in others]
    rows = []
    for claim in (load_claims() if claims is None else claims).to_dict("records"):
        judged, reason = _judge(claim, here), ""
        evidence = evidence_of(claim, results.provenance)
        if evidence == "draw" and judged != NOT_COMPUTABLE:
            agreeing = sum(_judge(claim, other).verdict == judged.verdict for other in others)
            reason = f"the printed numbers leave it open: {judged.shown} here ({judged.verdict}), and the same verdict "
            reason += f"in {agreeing} of {len(others)} other drawn tables of counts"
            judged = NOT_COMPUTABLE
        worth = {"kind": kind_of(claim, results.provenance), "evidence": evidence, "reason": reason}
        rows.append(claim | judged._asdict() | {"published": claim["value"]} | worth)
    return pd.DataFrame(rows, columns=list(CLAIM_COLUMNS))


def evidence_of(claim: dict[str, str], provenance: str) -> str:
    """Say what a verdict on a claim rests on where the counts are reconstructed: settled, bound or draw.

    settled: every table of counts that prints the paper's numbers gives the same. bound: the printed sums bound the
    number, and that is enough. draw: it depends on which of these tables was drawn, so it is not judged. Empty
    for other outputs.
    """
    about = f"{claim['quantity']} {claim['condition']}"
    if provenance != "reconstructed":
        return ""
    if claim["condition"] in CURVES.values():
        return "bound"
    return "settled" if _is_asked(claim) or not re.search(_ALONG_RHO, about) else "draw"


def kind_of(claim: dict[str, str], provenance: str) -> str:
    """Say what agreement with a claim is worth: input, constraint, derived or independent (see `fidelity`).

    Constants of the scorer and the grid are input whatever the outputs are. On reconstructed data the rest goes by
    the table that a claim rests on; along rho what the prose states of single models are constraints.
    """
    model, quantity, condition = claim["model"], claim["quantity"], claim["condition"]
    about = f"{quantity} {condition}"
    if claim["id"] in CONSTANTS or quantity == "samples expected":
        return "input"
    if provenance != "reconstructed":
        return "independent"
    if "p_lr" in about:  # of the two AICs, which were put in
        return "input"
    if re.search(_TABLE3, about):
        return "constraint"
    if re.search(_TABLE2, about):
        return "constraint" if model in BY_NAME and BY_NAME[model].missing else "derived"
    if re.search(_ALONG_RHO, about):
        return "constraint" if _is_asked(claim) else "derived"
    return "input"


def _is_asked(claim: dict[str, str]) -> bool:
    """Say whether the reconstruction was asked to meet a claim along rho (`constraints.prose_windows`)."""
    return claim["condition"] in CURVES.values() or claim["id"] in _ids_along_rho(claim["model"])


@cache
def _ids_along_rho(model: str) -> frozenset[str]:
    return frozenset(prose_along_rho(model)["id"])


def _judge(claim: dict[str, str], evidence: Evidence) -> Judgement:
    try:
        found = _find(claim, evidence)
        return judge_claim(claim["value"], found, claim["quantity"], "most models" in claim["condition"])
    except UnsettledError:
        return NOT_COMPUTABLE


def _find(claim: dict[str, str], evidence: Evidence) -> Share | Sequence[Number]:
    if claim["id"] in CONSTANTS:
        return [CONSTANTS[claim["id"]]]
    if claim["model"]:
        return [_find_number(claim["model"], claim["quantity"], claim["condition"], evidence)]
    return find_over_models(claim["quantity"], claim["condition"], evidence)


def _find_number(model: str, quantity: str, condition: str, evidence: Evidence) -> Number:
    low, minus, high = condition.partition(" minus ")
    if quantity == "accuracy difference" and minus:
        high, _, common = high.partition(" at ")
        low_at, high_at = (_levels(end) | _levels(common) for end in (low, high))
        return evidence.accuracy(model, **low_at) - evidence.accuracy(model, **high_at)
    if condition == "no star":  # a statement about the coefficient's p-value
        return evidence.fit(model, quantity.replace("beta_", "p_"))
    levels = _levels(condition)
    if quantity == "accuracy":
        return evidence.accuracy(model, **levels)
    if quantity == "samples expected" and model in BY_NAME:
        return BY_NAME[model].puzzles_per_cell * len(cells_at(**levels))
    if quantity in ("samples", *ERRORS) and len(levels) == 1:
        ((key, level),) = levels.items()
        return evidence.count(model, quantity, key, level)
    if quantity in TOKENS and set(levels) == {"N", "d"}:
        return evidence.tokens(model, quantity, **levels)
    if not levels:
        return evidence.fit(model, quantity)
    raise UnsettledError(f"no reading of a claim on {quantity} of {model} with condition {condition!r}")


def _levels(condition: str) -> dict[str, int]:
    """Read "N=250 d=1", "rho: low end" or nothing as levels of the grid."""
    if condition in PROSE_RATIOS:
        return {"ratio_pct": PROSE_RATIOS[condition]}
    if not re.fullmatch(r"((N|d)=\d+\s*)*", condition.strip()):
        raise UnsettledError(f"the condition {condition!r} cannot be read")
    return {key: int(level) for key, level in re.findall(r"(N|d)=(\d+)", condition)}
