"""How large may what a template makes become? Limits of texts and numbers, and the filters and operators within them.

Each is checked before it is made, so that what is refused costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from jinja2 import TemplateRuntimeError, pass_environment

LARGEST_TEXT = 2_000_000
"""Characters of a rendered prompt, and of any text that is made on the way."""
WIDEST_NUMBER = 10_000
"""Largest number that a filter or method may pad, indent or repeat by; also the bits of a number that is multiplied."""

_WIDE = re.compile(r"%(?:\([^)]*\))?[^a-zA-Z%]*(?:\d{5,}|\*)")
_WIDE_FIELD = re.compile(r"\{[^{}]*(?:\d{5,}|\{)")
_TOO_WIDE = "a format with a width of more than four digits. Use a smaller one."

Filter = Callable[..., Any]


def check_size(size: int) -> None:
    """Raises an error if a text of `size` characters is too large."""
    if size > LARGEST_TEXT:
        raise TemplateRuntimeError(f"a text of more than {LARGEST_TEXT:,} characters would be made. Insert less.")


def check_operator(operator: str, left: Any, right: Any) -> None:
    """Raises an error if an operator of two values would make something large."""
    if operator == "+" and hasattr(left, "__len__") and hasattr(right, "__len__"):
        check_size(len(left) + len(right))
    elif operator == "*":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, str | list | tuple) and isinstance(other, int):
                check_size(len(one) * other)
            if isinstance(one, int) and one.bit_length() > WIDEST_NUMBER:
                raise TemplateRuntimeError("a number that is too large. Use smaller ones.")
    elif operator == "**" and isinstance(left, int | float) and isinstance(right, int | float):
        if abs(left) > 1_000_000 or abs(right) > 1_000:
            raise TemplateRuntimeError("a power that is too large. Use smaller numbers.")
    elif operator == "%" and isinstance(left, str) and _WIDE.search(left):
        raise TemplateRuntimeError(_TOO_WIDE)


def check_method(text: str, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments of a method of `text`. Raises an error if it would make something large."""
    _check_width(args, kwargs)
    if name == "replace" and len(args) > 1:
        _check_replaced(text, str(args[0]), str(args[1]))
    if name == "join" and args:
        args = (list(args[0]),)
        check_size(len(text) * len(args[0]))
    return args


def bounded_format(text: str, function: Filter) -> Filter:
    """The method `format` of `text`, refused if a field of it is wide or takes its width from elsewhere."""
    if _WIDE_FIELD.search(text.replace("{{", "").replace("}}", "")):
        raise TemplateRuntimeError(_TOO_WIDE)
    return _narrow(function)


def joined(parts: list[Any]) -> str:
    """Values as one text."""
    texts = [str(part) for part in parts]
    check_size(sum(map(len, texts)))
    return "".join(texts)


def bounded(filters: Mapping[str, Filter]) -> dict[str, Filter]:
    """Those of Jinja's filters that could make something large, within the limits."""
    made = {name: _narrow(filters[name]) for name in ("center", "batch", "slice")}
    return made | {name: wrap(filters[name]) for name, wrap in _BOUNDING.items()}


def _check_width(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    for value in (*args, *kwargs.values()):
        if isinstance(value, int) and abs(value) > WIDEST_NUMBER:
            raise TemplateRuntimeError(f"a width of {value}; {WIDEST_NUMBER:,} is the most. Use a smaller one.")


def _check_replaced(text: str, old: str, new: str) -> None:
    check_size(len(text) + text.count(old) * len(new))


def _narrow(function: Filter) -> Filter:
    @wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        _check_width(args, kwargs)
        return function(*args, **kwargs)

    return made


def _format(function: Filter) -> Filter:
    @wraps(function)
    def made(form: Any, *args: Any, **kwargs: Any) -> Any:
        check_operator("%", str(form), args)
        return function(form, *args, **kwargs)

    return made


def _indent(function: Filter) -> Filter:
    @wraps(function)
    def made(text: Any, width: Any = 4, *more: Any, **kwargs: Any) -> Any:
        size = len(width) if isinstance(width, str) else int(width)
        check_size(len(str(text)) + size * (str(text).count("\n") + 1))
        return function(text, width, *more, **kwargs)

    return made


def _wordwrap(function: Filter) -> Filter:
    @pass_environment
    @wraps(function)
    def made(environment: Any, text: Any, width: int = 79, *more: Any, **kwargs: Any) -> Any:
        said, end = str(text), kwargs.get("wrapstring", more[1] if len(more) > 1 else "")
        check_size(len(said) + (len(said) // max(width, 1) + said.count("\n")) * len(end or ""))
        return function(environment, text, width, *more, **kwargs)

    return made


def _replace(function: Filter) -> Filter:
    @wraps(function)
    def made(context: Any, text: Any, old: Any, new: Any, *more: Any, **kwargs: Any) -> Any:
        _check_replaced(str(text), str(old), str(new))
        return function(context, text, old, new, *more, **kwargs)

    return made


def _join(function: Filter) -> Filter:
    @wraps(function)
    def made(context: Any, items: Any, d: Any = "", attribute: Any = None) -> Any:
        parts = list(items)
        check_size(len(parts) * len(str(d)))
        return function(context, parts, d, attribute)

    return made


_BOUNDING = {"format": _format, "indent": _indent, "wordwrap": _wordwrap, "replace": _replace, "join": _join}
