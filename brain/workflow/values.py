"""What does a template see? Plain JSON values, and three kinds that behave as one would expect of them.

`InputText` is text that has fields where it is JSON; `NumberText` is a number written as text, as OrKa's confidence is,
that also calculates; `AgentOutput` is what an agent answered, with what is known of its run behind it.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from brain.errors import InputError

LARGEST_INPUT = 2_000_000
"""Characters of the text that a workflow is run on."""
DEEPEST_INPUT = 100
"""Levels of nesting of an input that is JSON."""


_JSON_WORDS = {"True": "true", "False": "false", "None": "null"}
_WORDS = re.compile(r'"(?:\\.|[^"\\])*"|\b(?:True|False|None)\b', re.DOTALL)


class InputText(str):
    """Text that is a JSON object or list: prints, and is cut and searched, as its text; has its fields and items.

    `{{ input }}` is what was given, character for character, and `{{ input.task }}` the field, so that templates
    written for either work.
    """

    value: dict[str, Any] | list[Any]

    def __new__(cls, text: str, value: dict[str, Any] | list[Any]) -> InputText:
        made = super().__new__(cls, text)
        made.value = value
        return made

    def field(self, key: Any) -> Any:
        """The field or item `key`. Raises `LookupError` if there is none."""
        if isinstance(self.value, list) and not isinstance(key, int):
            raise KeyError(key)
        return self.value[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The field `key`, else `default`."""
        return self.value.get(key, default) if isinstance(self.value, dict) else default

    def items(self) -> Any:
        """Names and values of the fields."""
        return self.value.items() if isinstance(self.value, dict) else ()

    def keys(self) -> Any:
        """Names of the fields."""
        return self.value.keys() if isinstance(self.value, dict) else ()

    def values(self) -> Any:
        """Values of the fields."""
        return self.value.values() if isinstance(self.value, dict) else ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)


class NumberText(str):
    """A number as text that also compares and calculates. `is_stated` is false where a model did not say it."""

    is_stated: bool

    def __new__(cls, text: str, is_stated: bool = True) -> NumberText:
        made = super().__new__(cls, text)
        made.is_stated = is_stated
        return made

    def __float__(self) -> float:
        return float(str(self))

    def __round__(self, digits: int | None = None) -> float:
        return round(float(self), digits)

    def __int__(self) -> int:
        return int(float(self))

    def __neg__(self) -> float:
        return -float(self)

    def __format__(self, form: str) -> str:
        return format(float(self) if form[-1:] in tuple("eEfFgG%") else str(self), form)

    def __eq__(self, other: object) -> bool:
        return float(self) == other if _is_number(other) else str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _calculating(name: str, function: Callable[[Any, Any], Any], reflected: bool = False) -> None:
    """Gives `NumberText` an operator that calculates with numbers and is that of text with text."""
    textual = getattr(str, name, None)

    def apply(self: NumberText, other: Any) -> Any:
        if _is_number(other) or (isinstance(other, NumberText) and name not in ("__add__", "__mod__")):
            mine, theirs = float(self), float(other)
            return function(theirs, mine) if reflected else function(mine, theirs)
        return textual(self, other) if textual else NotImplemented

    setattr(NumberText, name, apply)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


for _name, _function in (
    ("lt", operator.lt),
    ("le", operator.le),
    ("gt", operator.gt),
    ("ge", operator.ge),
    ("add", operator.add),
    ("sub", operator.sub),
    ("mul", operator.mul),
    ("truediv", operator.truediv),
    ("floordiv", operator.floordiv),
    ("pow", operator.pow),
):
    _calculating(f"__{_name}__", _function)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "pow"):
    _calculating(f"__r{_name}__", getattr(operator, _name), reflected=True)


class AgentOutput(dict[str, Any]):
    """What an agent answered. `run` has what OrKa gives beside it: status, error, prompt, duration."""

    run: dict[str, Any]

    def __init__(self, answer: dict[str, Any], **run: Any) -> None:
        super().__init__(answer)
        self.run = run

    def field(self, key: Any) -> Any:
        """A key of the answer, else of the run; `result` is the answer itself. Raises `KeyError`."""
        if key in self:
            return self[key]
        return self if key == "result" and self else self.run[key]


def number_text(value: Any, default: str = "0.0") -> NumberText:
    """`value` as number text if it is a finite number or text that reads as one, else `default`, not stated."""
    if isinstance(value, NumberText):
        return value
    if not isinstance(value, bool) and isinstance(value, int | float | str):
        text = str(value).strip()
        try:
            if math.isfinite(float(text)):
                return NumberText(text)
        except (ValueError, OverflowError):
            pass
    return NumberText(default, is_stated=False)


def input_value(text: str, *, as_json: bool = False) -> Any:
    """What `input` is for a text: `InputText` if it is a JSON object or list, with `as_json` the JSON value itself.

    Raises `InputError` for text that is too large or has half characters, or with `as_json` is no JSON.
    """
    if len(text) > LARGEST_INPUT:
        raise InputError(f"The input has {len(text):,} characters; {LARGEST_INPUT:,} are allowed. Shorten it.")
    _check_characters(text)
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if _is_deep(value):
            raise ValueError(f"it is nested more than {DEEPEST_INPUT} levels deep")
        said = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except json.JSONDecodeError as error:
        if as_json:
            place = f"line {error.lineno}, column {error.colno}"
            raise InputError(f"The input is not JSON: {error.msg} at {place}. Correct it there.") from error
        return text
    except (ValueError, RecursionError) as error:
        if as_json:
            raise InputError(f"The input is not usable JSON: {error}. Correct it.") from error
        return text
    _check_characters(said)
    if as_json:
        return value
    return InputText(text, value) if isinstance(value, dict | list) else text


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(DEEPEST_INPUT + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return False
        level = [item for one in level for item in (one.values() if isinstance(one, dict) else one)]
    return True


def _check_characters(text: str) -> None:
    """Raises `InputError` for half characters, which no model can be sent."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        half = f"#x{ord(text[error.start]):04x}"
        raise InputError(f"The input has half of a character ({half}). Give whole ones, in UTF-8.") from error


def json_fault(text: str) -> str:
    """What is wrong with a text as JSON, and where; empty if nothing is."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError) as error:
        return str(error)
    return ""


def words_as_json(text: str) -> str:
    """A text with Python's True, False and None as JSON's, outside of what stands in quotes."""
    return _WORDS.sub(lambda found: _JSON_WORDS.get(found[0], found[0]), text)


def plain(value: Any) -> Any:
    """`value` as JSON values: input text as what it says, special kinds as what they are made of."""
    if isinstance(value, InputText):
        return value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return value


def as_json(value: Any, indent: int | None = None) -> str:
    """`value` as JSON text, other characters as they are. Raises `TypeError` or `ValueError` for what JSON has not."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
