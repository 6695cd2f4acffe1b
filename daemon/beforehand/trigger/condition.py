"""A rule's condition: CEL text, compiled once, evaluated over the variables of a situation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

import cel

from beforehand import limits
from beforehand.trigger.words import Speech, vocabulary

_WHERE: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): (?:Syntax error: )?(.*)")
_EXPECTING: Final = re.compile(r" expecting \{.*\}?")
_REASON: Final = re.compile(r"\. (?:CEL does not coerce|Check |Convert ).*", re.DOTALL)


class ConditionProblem(ValueError):
    """A condition that does not compile or does not evaluate. `offset`: where in its text, when that is known."""

    def __init__(self, problem: str, offset: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset


def matches_any(values: list[str], wanted: list[str]) -> bool:
    """Whether any of `wanted` is in `values`, as whole and equal texts."""
    return not set(values).isdisjoint(wanted)


def mentions(text: str, terms: list[str]) -> bool:
    """Whether `text` has any of `terms` as whole words (Chinese and the like: anywhere), whatever the case."""
    return vocabulary(tuple(terms)).met_in(Speech.of(text))


FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {"matches_any": matches_any, "mentions": mentions}
"""What conditions can call besides CEL's own functions."""


def context(variables: Mapping[str, Any]) -> cel.Context:
    """An evaluation context with our functions; 40 us for a situation without `recent`, 0.5 ms with it."""
    return cel.Context(dict(variables), dict(FUNCTIONS))


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """`variables`: names that the text refers to, those that its own loops bind included."""

    text: str
    program: cel.Program
    variables: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Compile. Raises ConditionProblem with the place of the first syntax error."""
        if len(text) > limits.CONDITION_CHARS:
            raise ConditionProblem(
                f"the condition has {len(text)} characters, at most {limits.CONDITION_CHARS} are read"
            )
        program = _guarded(lambda: cel.compile(text), text)
        return cls(text, program, frozenset(program.variables()))

    def holds(self, situation: cel.Context) -> bool:
        """Evaluate (0.2 to 5 us). Raises ConditionProblem when it fails or gives anything but true or false."""
        result = _guarded(lambda: self.program.execute(situation), self.text)
        if not isinstance(result, bool):
            raise ConditionProblem(f"the condition gives {_kind(result)}, not true or false")
        return result


def _guarded(call: Callable[[], Any], text: str) -> Any:
    """Failures of the library as ConditionProblem: it raises eight kinds, and PanicException past Exception."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as fault:  # noqa: BLE001  a panic of the Rust core is a BaseException without a public name
        raise _problem(fault, text) from None


def _problem(fault: BaseException, text: str) -> ConditionProblem:
    said = str(fault)
    if isinstance(fault, KeyError):
        return ConditionProblem(f"there is no field {said} here")
    prefix = f"Failed to parse expression '{text}': "
    if said.startswith(prefix):
        where = _WHERE.match(said[len(prefix) :])
        if where:
            line, column, problem = where.groups()
            offset = _offset(text, int(line), int(column))
            plain = _EXPECTING.sub("", problem).replace(
                "mismatched input '<EOF>'", "it ends where something is missing"
            )
            return ConditionProblem(f"the condition does not parse: {plain}", offset)
    return ConditionProblem(f"the condition fails: {' '.join(_REASON.sub('', said).split())}"[:400])


def _offset(text: str, line: int, column: int) -> int:
    before = text.split("\n")[: line - 1]
    return max(0, min(sum(len(each) + 1 for each in before) + column - 1, len(text)))


def _kind(value: Any) -> str:
    names = {str: "text", int: "a number", float: "a number", list: "a list", dict: "a record", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")
