"""What may a template do? An environment that reads plain data, calls the helpers, and ends in time and size.

Values are data and are never evaluated. A field wins over a method of the same name, and a method is seen only where
it is called: `input.title` is the field or nothing, never a function.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from jinja2 import ChainableUndefined, TemplateRuntimeError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing
from jinja2.visitor import NodeTransformer

from brain.workflow.bounds import bounded, bounded_format, check_method, check_operator, check_size, joined
from brain.workflow.values import AgentOutput, InputText

LONGEST_RENDERING = 5.0
"""Seconds that one rendering may take."""
MOST_ROUNDS = 500_000
"""Rounds of all loops of one rendering."""

_DATA = (str, int, float, bool, type(None), list, tuple, dict)
_METHODS_OF_DICT = frozenset({"get", "items", "keys", "values"})
_METHODS_OF_LIST = frozenset({"index", "count"})
_METHODS_OF_TEXT = frozenset(
    "capitalize casefold center count endswith find format index isalnum isalpha isascii isdecimal isdigit "
    "isidentifier islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix "
    "removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase "
    "title upper zfill".split()
)
_LOOP, _JOIN = "rounds of a loop", "texts in a row"  # names of filters that no template can write


class Session:
    """What one rendering has used up and found missing. `values` are what the expressions gave, in order."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.values: list[Any] = []
        self.missing: list[str] = []
        self.size = self.rounds = 0
        self._ends = time.monotonic() + LONGEST_RENDERING

    def round(self) -> None:
        """Counts one round of a loop."""
        self.rounds += 1
        if self.rounds > MOST_ROUNDS or time.monotonic() > self._ends:
            raise TemplateRuntimeError(
                f"it takes too long: at most {MOST_ROUNDS:,} rounds of loops and {LONGEST_RENDERING:g} seconds. "
                "Loop over less."
            )

    def grow(self, size: int) -> None:
        """Counts `size` characters."""
        self.size += size
        check_size(self.size)
        if time.monotonic() > self._ends:
            self.rounds = MOST_ROUNDS
            self.round()

    def note(self, value: Undefined) -> None:
        """Notes that something was wanted that is not there."""
        said = str(value._undefined_message)
        if said not in self.missing:
            self.missing.append(said)


SESSION: ContextVar[Session] = ContextVar("SESSION")
"""The rendering that is under way."""


class Missing(ChainableUndefined):
    """A value that is not there: takes a default, is false, prints as nothing and is then noted."""

    __slots__ = ()

    @property
    def is_forbidden(self) -> bool:
        """Whether it is missing because it may not be read."""
        return issubclass(self._undefined_exception, SecurityError)

    @property
    def _undefined_message(self) -> str:
        owner, name = self._undefined_obj, self._undefined_name
        if self._undefined_hint:
            return self._undefined_hint
        if owner is missing:
            return f"{name!r} is not known here"
        if isinstance(owner, Outputs):
            return f"previous_outputs has no {name!r}"
        if isinstance(owner, AgentOutput):
            return f"previous_outputs.{owner.run['id']} has no {name!r}{_listed(owner)}"
        if isinstance(owner, InputText | dict):
            value = owner.value if isinstance(owner, InputText) else owner
            return f"there is no {name!r}{_listed(value)}"
        kind = {str: "text", list: "a list", int: "a number", float: "a number"}.get(type(owner), "what is there")
        return f"{kind} has no {name!r}"

    def __str__(self) -> str:
        if self.is_forbidden:
            self._fail_with_undefined_error()
        session = SESSION.get(None)
        if session is None:  # nothing is rendered yet, so there is nothing to be known of a constant
            raise nodes.Impossible
        session.note(self)
        return ""

    def __iter__(self) -> Iterator[Any]:
        str(self)
        return iter(())


class Outputs(dict[str, AgentOutput]):
    """What the agents before have answered, by id."""


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """Compiles and runs prompt templates. `helpers` are the functions that templates call."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, helpers: dict[str, Callable[..., Any]], filters: dict[str, Callable[..., Any]]) -> None:
        super().__init__(undefined=Missing, keep_trailing_newline=False, optimized=False)  # nothing runs at compiling
        for name in ("lipsum", "cycler", "joiner"):
            del self.globals[name]
        for name in ("attr", "pprint", "xmlattr", "urlize"):
            del self.filters[name]
        self.globals.update(helpers)
        self.filters |= bounded(self.filters) | {_LOOP: rounds_of, _JOIN: joined, **filters}

    def _generate(self, source: nodes.Template, *arguments: Any, **named: Any) -> str:
        return super()._generate(_Bounding().visit(source), *arguments, **named)

    def concat(self, parts: Iterable[str]) -> str:
        """Text of a block that the template keeps for itself: what its expressions gave, in words."""
        session = SESSION.get()
        text = "".join(parts)
        found = re.sub(f"{session.mark}(\\d+);", lambda match: str(session.values[int(match[1])]), text)
        check_size(len(found))
        return found

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A field of data; for what is no data, an attribute that is safe."""
        return self.getitem(obj, attribute) if isinstance(obj, (*_DATA, Undefined)) else super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A field or an item; a method where one is called (see `_Bounding`)."""
        if isinstance(argument, tuple):
            return self._method(obj, argument[0])
        if isinstance(obj, Undefined):
            return obj
        if not isinstance(obj, _DATA):
            return super().getitem(obj, argument)
        try:
            return obj.field(argument) if isinstance(obj, InputText | AgentOutput) else obj[argument]  # type: ignore[index]
        except (TypeError, LookupError):
            if isinstance(argument, str) and argument.startswith("_"):
                raise SecurityError(f"a template may not read {argument!r}. Remove it.") from None
            return self.undefined(obj=obj, name=argument)

    def _method(self, obj: Any, name: str) -> Any:
        if name.startswith("_"):
            raise SecurityError(f"a template may not call {name!r}. Remove it.")
        if not isinstance(obj, _DATA):
            return super().getattr(obj, name)
        allowed = name in (_METHODS_OF_DICT if isinstance(obj, dict) else _METHODS_OF_LIST)
        if isinstance(obj, str):
            allowed = name in _METHODS_OF_TEXT or (isinstance(obj, InputText) and name in _METHODS_OF_DICT)
        return super().getattr(obj, name) if allowed else self.getitem(obj, name)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805  # as in the base class
        """Calls a helper, a macro or a method; one that would make too much is refused."""
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            args = check_method(owner, getattr(__obj, "__name__", ""), args, kwargs)
        return super().call(__context, __obj, *args, **kwargs)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """`format` of a text, as the base class makes it safe, within the limits."""
        made = super().wrap_str_format(value)
        return made and bounded_format(value.__self__, made)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """An operator that could make something large."""
        check_operator(operator, left, right)
        return super().call_binop(context, operator, left, right)


class _Bounding(NodeTransformer):
    """Counts the rounds of loops and the size of joined texts, and tells called methods from fields."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802  # named after the node
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, _LOOP, [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, _JOIN, [], [], None, None, lineno=node.lineno)

    def visit_Call(self, node: nodes.Call) -> nodes.Call:  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.node, nodes.Getattr):
            name = nodes.Const((node.node.attr,), lineno=node.lineno)
            node.node = nodes.Getitem(node.node.node, name, "load", lineno=node.lineno)
        return node


def rounds_of(items: Iterable[Any]) -> Iterator[Any]:
    """`items`, each of them counted."""
    session = SESSION.get()
    for item in items:
        session.round()
        yield item


def _listed(found: Any) -> str:
    names = [str(key) for key in found][:12] if isinstance(found, dict) else []
    return f" (it has {', '.join(names)})" if names else ""
