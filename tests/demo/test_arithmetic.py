import pytest

from windlass.demo.arithmetic import NotArithmetic, value_of


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * -3", -9),
        ("7 // 2 % 2", 1),
        ("2 ** 10", 1024),
        ("sqrt(16) + abs(-1)", 5.0),
        ("max(1, 2, 3) / 2", 1.5),
        ("round(pi, 2)", 3.14),
        (" 1\n", 1),
    ],
)
def test_expressions_are_worked_out(expression: str, value: float) -> None:
    assert value_of(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "[1][0]",
        "'a' * 10",
        "True + 1",
        "x",
        "lambda: 1",
        "abs(x=1)",
        "1 if 1 else 2",
        "1 +",
        "",
        "sqrt(-1)",
        "(-8) ** 0.5",
        "1e308 * 10",
        "1 / 0",
        "abs()",
        "(" * 300 + ")" * 300,
        "1" * 501,
    ],
)
def test_anything_else_is_refused_with_a_reason(expression: str) -> None:
    with pytest.raises(NotArithmetic, match=r"\w"):
        value_of(expression)


@pytest.mark.parametrize("expression", ["9 ** 9 ** 9", "10 ** 100000", "2 ** (2 ** 20)", "(10 ** 900) * (10 ** 900)"])
def test_what_would_fill_the_memory_is_not_even_begun(expression: str) -> None:
    with pytest.raises(NotArithmetic, match="too large"):
        value_of(expression)
