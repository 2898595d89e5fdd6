"""What a formula may say is decided from its text alone, before any of it is evaluated."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.formulas import (
    build_design,
    name_covariates,
)
from cogniload_repro.regression.syntax import COVARIATES, TRANSFORMS

#: Python that is no formula: it would open files, run programs, end the process, draw numbers, or
#: depend on the order of the rows.
PROGRAMS = [
    "I(__import__('os').system('touch {file}') + d)",
    "{__import__('pathlib').Path('{file}').touch() or d}",
    "I(open('{file}', 'w').write('') + d)",
    "I(np.save('{file}', d))",
    "log(np.load('{file}'))",
    'I(eval(\'open("{file}", "w")\'))',
    "exec(\"open('{file}', 'w')\")",
    "I(exit(3))",
    "C(d, contr.treatment(base=5))",
    "C(d, Treatment(5))",
    "C(d, {'x': [1, 2, 3, 4, 5]})",
    "I([value for value in open('{file}', 'w')])",
    "I((lambda: d)())",
    "I(d if open('{file}', 'w') else d)",
    "I((file := open('{file}', 'w')) and d)",
    "I(f'{open(chr(97))}')",
    "I(d.__class__)",
    "I(d[0])",
    "rho.values",
    "rho.shift(1)",
    "I(rho.cumsum())",
    "np.cumsum(rho)",
    "np.arange(len(rho))",
    "np.random.rand(len(rho))",
    "np.random.normal(rho)",
    "lag(rho)",
    "hashed(d)",
    "Q('d')",
    "np.poly(d)",
    "np.I(d)",
    "I(np)",
    "I(pd)",
    "I(None)",
    "I(...)",
    "I(1j * d)",
    "I(b'a')",
    "log('a')",
    "'a'",
    "I(*d)",
    "C('a')",
    "bs(rho, knots=d)",
    "bs(rho, **{'df': 4})",
    "scale(d, N)",
    "C(d, levels=N)",
    "bs(rho, [0.25])",
    "bs(rho, knots=[open('{file}', 'w')])",
    "C(d, levels=[d, N])",
    "bs(rho, df=[4])",
    "poly(rho, 1 + 1)",
    "poly(rho, degree=d)",
    "I(d @ d)",
    "I(d and rho)",
    "I(d in [1, 3])",
    "I(not d)",
    "I(d % 2)",
    "I(d^2)",
    "I(d // 2)",
    "I(d << 3)",
    "I(d & 3)",
    "I(1 < d < 5)",
    "np.maximum(d, 3)",
    "correct",
    "total",
    "model",
    "tokens",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_is_no_formula(program, tmp_path):
    """Refused in one sentence that names what a formula may hold; nothing has run."""
    file = tmp_path / "ran"
    formula = "correct ~ d + " + program.replace("{file}", str(file))
    with pytest.raises(
        ValueError, match=r"cannot be built from d, N, log10_N, .* I, C, bs, cr, poly"
    ) as refusal:
        build_design(GRID, formula)
    assert "\n" not in str(refusal.value)
    assert not file.exists()


@pytest.mark.parametrize(
    "text", ["I(rho).shift(1)", "`I(d)`", "I(d", "lambda", "d; import os", "."]
)
def test_what_is_no_expression_is_refused(text):
    """Text that neither formulaic nor Python can read is refused too."""
    with pytest.raises(ValueError, match="cannot be"):
        build_design(GRID, f"correct ~ d + {text}")


@pytest.mark.parametrize(
    "call", ["log(d, N)", "np.log(d, out=N)", "exp(d, where=N)", "I(d, 2)"]
)
def test_no_transform_overwrites_a_covariate(call):
    """The second argument of numpy's functions is where they put their result."""
    with pytest.raises(ValueError, match="takes one argument"):
        build_design(GRID, f"correct ~ {call} + N")


@pytest.mark.parametrize(
    "call",
    [
        "bs(rho - 0.5, knots=[-0.1, 0.1])",
        "bs(N, df=3, lower_bound=-5, upper_bound=3000)",
        "C(d, levels=[-1, 1, 3, 5, 7, 10])",
    ],
)
def test_knots_bounds_and_levels_are_any_numbers(call):
    """They are values of a covariate, and no numbers of columns."""
    design, _ = build_design(GRID, f"correct ~ {call}")
    assert len(design) == len(GRID)


@pytest.mark.parametrize("values", ["data", "x", "levels"])
def test_no_list_stands_for_the_rows(values):
    """A list with one number per cell would be a function of the order of the cells."""
    numbers = list(range(len(GRID)))
    with pytest.raises(ValueError, match="formula"):
        build_design(GRID, f"correct ~ I({values}={numbers})")
    with pytest.raises(ValueError, match="cannot be built from"):
        build_design(GRID, f"correct ~ I({numbers})")


@settings(max_examples=30)
@given(st.permutations(range(len(GRID))), st.sampled_from(TRANSFORMS))
def test_no_transform_depends_on_the_order_of_the_cells(order, transform):
    """The same cells in another order have the same columns, up to rounding."""
    arguments = {"bs": "(rho, df=4)", "cr": "(rho, df=4)", "poly": "(rho, 3)"}.get(
        transform, "(rho)"
    )
    formula = f"correct ~ {transform}{arguments}"
    shuffled = GRID.iloc[list(order)]
    there = build_design(GRID, formula)[0].iloc[list(order)].to_numpy()
    here = build_design(shuffled, formula)[0].to_numpy()
    assert here == pytest.approx(there, abs=1e-9)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_every_listed_transform_is_understood(transform):
    """Each function of the sentence can be used; log, log10, exp and sqrt as numpy's too."""
    arguments = {"bs": "(rho, df=4)", "cr": "(rho, df=4)", "poly": "(rho, 3)"}.get(
        transform, "(rho)"
    )
    names = (
        [transform, f"np.{transform}"]
        if transform in ("log", "log10", "exp", "sqrt")
        else [transform]
    )
    for name in names:
        assert build_design(GRID, f"correct ~ {name}{arguments}")[0].shape[1] >= 2


@pytest.mark.parametrize(
    "formula",
    [
        "correct ~ I(9**9**9**9 * d)",
        "correct ~ I(d**9**9**9**9)",
        "correct ~ d + " + "*".join(f"I(d + {number})" for number in range(40)),
        "correct ~ ("
        + " + ".join(f"I(d + {number})" for number in range(30))
        + ")**20",
        "correct ~ (d + N)**99999999999999",
        "correct ~ bs(rho, df=10000000)",
        "correct ~ bs(rho, df=9999*9999)",
        "correct ~ poly(d, 10000000)",
        "correct ~ cr(rho, df=1e9)",
        "correct ~ " + "d + " * 200_000 + "N",
        "correct ~ I(" + "9" * 900 + " * d)",
    ],
)
def test_no_formula_takes_long(formula):
    """Numbers without end, products of many sums and millions of columns are refused at once."""
    start = time.process_time()
    with pytest.raises(ValueError, match="formula") as refusal:
        build_design(GRID, formula)
    assert time.process_time() - start < 5
    assert len(str(refusal.value)) < 1500


@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("correct ~ d + bs(N, df=4):log(prompt_mean)", ("d", "N", "prompt_mean")),
        ("correct ~ C(perturbation, levels=['', 'caesar'])", ("perturbation",)),
        ("correct ~ np.sqrt(needles) + I((N > 50) * rho)", ("N", "rho", "needles")),
        ("correct ~ 1", ()),
    ],
)
def test_the_covariates_of_a_formula_are_known(formula, names):
    """Those within splines and other functions too."""
    assert name_covariates(formula) == names


_NUMBERS = st.sampled_from(["0.5", "2", "3"])
_FACTORS = st.recursive(
    st.sampled_from(COVARIATES[:6]),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "/", ">", "<="]), _NUMBERS
        ).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        inner.map(lambda text: f"(({text} + 1)**2)"),
        inner.map(lambda text: f"exp(-0.01 * {text})"),
        inner.map(lambda text: f"np.sqrt(1 + {text}**2)"),
    ),
    max_leaves=4,
)


@given(_FACTORS)
def test_arithmetic_of_covariates_is_a_formula(factor):
    """Any nesting of covariates, numbers, operators and functions within I() builds one column."""
    design, _ = build_design(GRID, f"correct ~ I({factor})")
    assert design.shape == (len(GRID), 2)
