"""Link functions between accuracy and the linear predictor of a binomial regression."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_expit, log_ndtr
from scipy.stats import norm

_Function = Callable[[np.ndarray], np.ndarray]
# cloglog: beyond these predictors exp(eta) overflows, or is 1 - exp(-exp(eta)) to 16 digits
_LARGEST_ETA = 700
_SMALLEST_ETA = -37


class Link(NamedTuple):
    """A link function, by log p, log(1 - p) and log dp/d eta at a linear predictor eta.

    Logarithms stay finite where the accuracy p rounds to 0 or 1. ``bend`` is the derivative of
    log dp/d eta with respect to eta (p'' / p'), ``half`` the predictor at which p is one half.
    """

    log_accuracy: _Function
    log_error: _Function
    log_slope: _Function
    bend: _Function
    half: float = 0.0


def _hazard(eta: np.ndarray) -> np.ndarray:
    """Return exp(eta), the cumulative hazard, which is -log(1 - p); finite for any eta."""
    return np.exp(np.minimum(eta, _LARGEST_ETA))


def _log_accuracy_cloglog(eta: np.ndarray) -> np.ndarray:
    """Return log(1 - exp(-hazard)), which is eta to the last digit if the hazard is tiny."""
    hazard = _hazard(np.maximum(eta, _SMALLEST_ETA))
    accuracy = -np.expm1(-hazard)
    return np.where(eta < _SMALLEST_ETA, eta, np.log(accuracy))


_LOGIT = Link(
    log_accuracy=log_expit,
    log_error=lambda eta: log_expit(-eta),
    log_slope=lambda eta: log_expit(eta) + log_expit(-eta),
    bend=lambda eta: -np.tanh(eta / 2),
)
_PROBIT = Link(
    log_accuracy=log_ndtr,
    log_error=lambda eta: log_ndtr(-eta),
    log_slope=norm.logpdf,
    bend=np.negative,
)
_CLOGLOG = Link(
    log_accuracy=_log_accuracy_cloglog,
    log_error=lambda eta: -_hazard(eta),
    log_slope=lambda eta: eta - _hazard(eta),
    bend=lambda eta: 1 - _hazard(eta),
    half=np.log(np.log(2)),
)
#: The links by name; all families are binomial.
FAMILIES = {
    "logit": _LOGIT,
    "probit": _PROBIT,
    "cloglog": _CLOGLOG,
}


def check_family(family: str) -> None:
    """Raise ValueError for a name that is not a key of `FAMILIES`."""
    if family not in list(FAMILIES):  # a list is not hashable
        names = ", ".join(FAMILIES)
        raise ValueError(f"there is no family {family!r}; choose one of: {names}")
