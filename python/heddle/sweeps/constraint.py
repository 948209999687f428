"""Constraints: `gpu.l2 >= gpu.cus * 64KiB` says which points of a sweep there are.

Names are what is varied, numbers may have units. What else Python can do is refused."""
from __future__ import annotations

import ast
import operator
import re
from typing import Any, Callable, Mapping, Sequence

from heddle.base.mistakes import Mistake
from heddle.sweeps.values import number_of

COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge}
ARITHMETIC: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.Mod: operator.mod}
UNITS = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)([A-Za-z]+(?:/[a-z]+)?)\b")


class Constraint:
    """An expression over the values of a point."""

    def __init__(self, text: str, names: Sequence[str], place: str):
        self.text, self.place = text, place
        self.names: dict[str, str] = {}
        source = text
        # The longest name first: `gpu.l2.size` is not `gpu.l2`.
        for name in sorted(names, key=len, reverse=True):
            stand_in = f"v{len(self.names)}_"
            bare = name[1:-1] if name.startswith("{") else name
            pattern = rf"(?<![\w.]){re.escape(bare)}(?![\w.\[])"
            if re.search(pattern, source):
                source = re.sub(pattern, stand_in, source)
                self.names[stand_in] = name
        source = UNITS.sub(self._number, source)
        try:
            self.tree = ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise self._wrong("is no expression") from None
        self.known = ", ".join(names)
        self._check(self.tree)
        if not self.names:
            raise self._wrong(f"names nothing that is varied; that is {self.known}")

    def _wrong(self, message: str) -> Mistake:
        return Mistake(f"{self.place}: the constraint '{self.text}' {message}", usage=True)

    def _number(self, found: re.Match[str]) -> str:
        value = number_of(found[0])
        if value is None:
            raise self._wrong(f"has '{found[0]}', whose unit is unknown")
        return repr(value)

    def _check(self, node: ast.AST) -> None:
        allowed = (ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.Compare,
                   ast.BinOp, ast.Name, ast.Load, ast.Constant, *COMPARE, *ARITHMETIC)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                raise self._wrong(f"names '{ast.unparse(part)}', which is not varied; that is "
                                  f"{self.known}")
            if isinstance(part, ast.Name) and part.id not in self.names:
                raise self._wrong(f"names '{part.id}', which is not varied; that is {self.known}")
            if isinstance(part, ast.Constant) and not isinstance(part.value, (int, float, str)):
                raise self._wrong(f"has '{part.value}', which is neither number nor text")
            if not isinstance(part, allowed):
                raise self._wrong(f"has what constraints do not know ({type(part).__name__}); they "
                                  "know + - * / %, comparisons, and, or, not")

    def holds(self, values: Mapping[str, str]) -> bool:
        try:
            return bool(self._value(self.tree, values))
        except TypeError:
            raise self._wrong("compares or computes with a text as if it were a number") from None
        except ZeroDivisionError:
            raise self._wrong("divides by zero") from None

    def _value(self, node: ast.AST, values: Mapping[str, str]) -> Any:
        if isinstance(node, ast.Name):
            text = values[self.names[node.id]]
            number = number_of(text)
            return text if number is None else number
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.BinOp):
            return ARITHMETIC[type(node.op)](self._value(node.left, values),
                                             self._value(node.right, values))
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand, values)
            return not value if isinstance(node.op, ast.Not) else -value
        if isinstance(node, ast.BoolOp):
            choose = all if isinstance(node.op, ast.And) else any
            return choose(self._value(part, values) for part in node.values)
        assert isinstance(node, ast.Compare)
        left = self._value(node.left, values)
        for how, right_node in zip(node.ops, node.comparators):
            right = self._value(right_node, values)
            if not COMPARE[type(how)](left, right):
                return False
            left = right
        return True
