"""Arithmetic from text, and nothing else: the expression is parsed, never evaluated as Python."""

import ast
import math
import operator
from collections.abc import Callable

MOST_CHARS = 500
MOST_DIGITS = 1000

Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_NAMES: dict[str, Number] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs,
    "cos": math.cos,
    "log": math.log,
    "max": max,
    "min": min,
    "round": round,
    "sin": math.sin,
    "sqrt": math.sqrt,
    "tan": math.tan,
}


class NotArithmetic(ValueError):
    """The text cannot be worked out; the message says why."""


def value_of(expression: str) -> Number:
    if len(expression) > MOST_CHARS:
        raise NotArithmetic(f"The expression is longer than {MOST_CHARS} characters.")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        value = _value(tree.body)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as problem:
        raise problem if isinstance(problem, NotArithmetic) else NotArithmetic(_why(expression, problem)) from None
    return _bounded(value)


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _combined(op, _value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*(_value(arg) for arg in args)))
    raise NotArithmetic("Only numbers, + - * / // % **, brackets and a few functions are understood.")


def _combined(op: ast.operator, left: Number, right: Number) -> Number:
    if isinstance(op, ast.Pow) and _digits(left) * abs(right) > MOST_DIGITS:
        raise NotArithmetic("The result would be too large.")
    return _bounded(_BINARY[type(op)](left, right))


def _bounded(value: Number) -> Number:
    if isinstance(value, complex):
        raise NotArithmetic("The result is not a real number.")
    if isinstance(value, float) and not math.isfinite(value):
        raise NotArithmetic("The result is not a finite number.")
    if isinstance(value, int) and _digits(value) > MOST_DIGITS:
        raise NotArithmetic("The result would be too large.")
    return value


def _digits(value: Number) -> float:
    return math.log10(abs(value)) + 1 if abs(value) > 1 else 1


def _why(expression: str, problem: Exception) -> str:
    if isinstance(problem, ZeroDivisionError):
        return "Division by zero."
    if isinstance(problem, SyntaxError):
        return f"{expression!r} is not an arithmetic expression."
    return f"{expression!r} cannot be worked out: {problem}"
