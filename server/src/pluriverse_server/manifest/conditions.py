"""Conditions of runtime.toml, such as ``lives == 0 and not menu``: a small subset of Python's expressions. Pure.

Names are sources. A condition whose value depends on a source without a reading is unknown, and does not hold.
There are numbers, strings, ``True`` and ``False``, ``+ - * /``, comparisons, ``and``, ``or``, ``not`` and parentheses.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

Value = float | str | bool | None

# Longer or deeper conditions belong into a program.
MAX_CHARS: Final = 1000
MAX_DEPTH: Final = 30

_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: left / right,
}


class ConditionError(ValueError):
    """The text isn't a condition; the message has what was found and what is allowed."""


def names_in(text: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))


def holds(text: str, readings: Mapping[str, Value]) -> bool:
    """Return whether a condition holds; ``readings`` are the values of its names, None where unknown."""
    return bool(_evaluate(_parse(text), readings))


def describe(text: str, readings: Mapping[str, Value]) -> str:
    """Return what is read of the names of a condition, such as ``lives is 3, menu has no reading``."""
    said = {name: "has no reading" if value is None else f"is {value!r:.40}" for name, value in readings.items()}
    return ", ".join(f"{name} {said.get(name, 'has no reading')}" for name in sorted(names_in(text)))


@lru_cache(maxsize=1024)
def _parse(text: str) -> ast.expr:
    if len(text) > MAX_CHARS:
        raise ConditionError(f"expected a condition of at most {MAX_CHARS} characters, it has {len(text)}")
    try:
        expression = ast.parse(text.strip(), mode="eval").body
        _check(expression)
    except ConditionError:
        raise
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ConditionError(f"expected a condition such as 'lives == 0 and not menu': {error}") from None
    return expression


def _check(node: ast.expr, depth: int = 1) -> None:
    if depth > MAX_DEPTH:
        raise ConditionError(f"expected a condition at most {MAX_DEPTH} levels deep")
    match node:
        case ast.Name():
            return
        case ast.Constant(value=bool() | int() | float() | str()):
            return
        case ast.BoolOp(values=parts):
            children = parts
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            children = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            children = [left, right]
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            children = [left, *others]
        case _:
            raise ConditionError(
                f"{ast.unparse(node)!r:.80} is not allowed in a condition; expected names of sources, numbers, "
                "strings, comparisons, + - * /, and, or, not"
            )
    for child in children:
        _check(child, depth + 1)


def _evaluate(node: ast.expr, readings: Mapping[str, Value]) -> Value:
    match node:
        case ast.Name(id=name):
            return readings.get(name)
        case ast.Constant(value=bool() | int() | float() | str() as value):
            return value
        case ast.BoolOp(op=ast.And(), values=parts):
            return _all(_truth(_evaluate(part, readings)) for part in parts)
        case ast.BoolOp(values=parts):
            return _not(_all(_not(_truth(_evaluate(part, readings))) for part in parts))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _not(_truth(_evaluate(operand, readings)))
        case ast.UnaryOp(operand=operand):
            value = _evaluate(operand, readings)
            return -value if isinstance(value, (int, float)) else None
        case ast.BinOp(left=left, op=op, right=right):
            return _calculate(op, _evaluate(left, readings), _evaluate(right, readings))
        case ast.Compare(left=left, ops=ops, comparators=others):
            values = [_evaluate(part, readings) for part in (left, *others)]
            return _all(_compare(op, *pair) for op, pair in zip(ops, pairwise(values), strict=True))
        case _:
            raise AssertionError(node)


def _truth(value: Value) -> bool | None:
    return None if value is None else bool(value)


def _not(known: bool | None) -> bool | None:
    return None if known is None else not known


def _all(parts: Iterable[bool | None]) -> bool | None:
    found = set(parts)
    return False if False in found else None if None in found else True


def _compare(op: ast.cmpop, left: Value, right: Value) -> bool | None:
    if left is None or right is None or isinstance(left, str) != isinstance(right, str):
        return None
    return _COMPARISONS[type(op)](left, right)


def _calculate(op: ast.operator, left: Value, right: Value) -> Value:
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return None
    try:
        return _ARITHMETIC[type(op)](left, right)
    except (ZeroDivisionError, OverflowError):
        return None
