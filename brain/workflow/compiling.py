"""Is a template valid? Its compiled form, what it reads, and what is wrong with it, told without running it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Template, TemplateError, TemplateSyntaxError, meta, nodes

from brain.workflow.helpers import VARIABLES
from brain.workflow.references import References, references_of
from brain.workflow.sandbox import PromptEnvironment

_NOT_TOLD = frozenset({"dict", "namespace", "range"})  # globals that nobody means by a misspelt name


@dataclass(frozen=True)
class Fault:
    """What is wrong in a line of a template, counted from 1. A `mild` one takes its default."""

    line: int
    message: str
    mild: bool = False


@dataclass
class Compiled:
    """A template ready to be rendered, None if it is not valid; what it reads; and its faults."""

    template: Template | None = None
    reads: References = field(default_factory=References)
    faults: list[Fault] = field(default_factory=list)


def compiled(environment: PromptEnvironment, source: str, hint: Callable[[str, Iterable[str]], str]) -> Compiled:
    """The template in `source`. `hint` tells what a misspelt name may have been meant to be, of some names."""
    try:
        tree = environment.parse(source)
        faults = [*_misnamed(tree, environment, hint), *_others(tree)]
        if faults:
            return Compiled(faults=faults)
        reads = references_of(tree)
        undeclared = meta.find_undeclared_variables(environment.parse(source))
        template = environment.from_string(source)
    except TemplateSyntaxError as error:
        return Compiled(faults=[Fault(error.lineno, f"the template is not valid: {_said(error)}. Correct it there.")])
    except (TemplateError, RecursionError, MemoryError, ValueError, SyntaxError) as error:
        said = _said(error) or "it is nested too deeply"
        return Compiled(faults=[Fault(1, f"the template cannot be compiled: {said}. Simplify it.")])
    faults = [Fault(line, f"a template may not read {name!r}. Remove it.") for name, line in reads.private]
    return Compiled(template, reads, faults + list(_unknown(undeclared, reads, environment, hint)))


def _unknown(
    undeclared: set[str], reads: References, environment: Any, hint: Callable[[str, Iterable[str]], str]
) -> Iterator[Fault]:
    known = [*VARIABLES, *environment.globals]
    for name in sorted(undeclared.difference(known)):
        message = f"{name!r} is not known in a template. {hint(name, (one for one in known if one not in _NOT_TOLD))}"
        is_guarded = name in reads.guarded_names
        yield Fault(reads.names.get(name, 1), f"{message} Its default is taken." if is_guarded else message, is_guarded)


def _misnamed(tree: nodes.Template, environment: Any, hint: Callable[[str, Iterable[str]], str]) -> Iterator[Fault]:
    """Filters and tests that there are not. Jinja tells of those inside a condition only when they are reached."""
    for kind, node_type, known in (
        ("filter", nodes.Filter, environment.filters),
        ("test", nodes.Test, environment.tests),
    ):
        for node in tree.find_all(node_type):
            name = node.name
            if name not in known:
                names = (one for one in known if " " not in one)
                yield Fault(node.lineno, f"there is no {kind} {name!r} in templates. {hint(name, names)}")


def _others(tree: nodes.Template) -> Iterator[Fault]:
    """Statements that read other templates. There are none: a prompt stands in its workflow."""
    for node in tree.find_all((nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)):
        yield Fault(node.lineno, f"a template cannot read another one by {type(node).__name__.lower()}. Write it out.")


def _said(error: Exception) -> str:
    if isinstance(error, SyntaxError):  # of the code that Jinja made of it, whose lines are not the template's
        return str(error.msg)
    return str(getattr(error, "message", None) or error).rstrip(".")
