"""What does a template read? The agents and names that it refers to, told from its syntax without running it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from jinja2 import nodes

from brain.workflow.helpers import NAMES_AGENT, OUTPUTS


@dataclass(frozen=True)
class Reference:
    """One place where a template reads an agent's output.

    `field` is the field that is read first, empty for all of the output. `guarded`: the template says what to do
    without it, by a default, a test, a condition, or a function that does without.
    """

    agent: str
    line: int
    field: str = ""
    guarded: bool = False


@dataclass
class References:
    """What one template reads: agents, whether all outputs at once, and names with their lines."""

    agents: list[Reference] = field(default_factory=list)
    reads_all: bool = False
    names: dict[str, int] = field(default_factory=dict)
    guarded_names: set[str] = field(default_factory=set)
    private: list[tuple[str, int]] = field(default_factory=list)

    def __or__(self, other: References) -> References:
        """What either of two templates reads."""
        return References(
            self.agents + other.agents,
            self.reads_all or other.reads_all,
            other.names | self.names,
            self.guarded_names | other.guarded_names,
            self.private + other.private,
        )


def references_of(tree: nodes.Template) -> References:
    """What the template with this syntax tree reads."""
    found = References()
    _Walk(found).visit(tree, frozenset(), False)
    return found


class _Walk:
    """Goes through a tree, knowing which agents a condition around it asks for."""

    def __init__(self, found: References) -> None:
        self._found = found

    def visit(self, node: nodes.Node, asked: frozenset[str], guarded: bool) -> None:
        """Notes what `node` reads. `asked`: agents that are known to be there; `guarded`: whether a default follows."""
        read = _output_read(node)
        if read is not None:
            agent, name = read
            self._found.agents.append(Reference(agent, node.lineno, name, guarded or agent in asked))
            return
        if private := _private_name(node):
            self._found.private.append((private, node.lineno))
        if isinstance(node, nodes.Name):
            self._name(node, guarded)
        elif isinstance(node, nodes.If):
            self._condition(node.test, [*node.body], asked)
            for part in (*node.elif_, *node.else_):
                self.visit(part, asked, False)
        elif isinstance(node, nodes.CondExpr):
            self._condition(node.test, [node.expr1], asked)
            if node.expr2 is not None:
                self.visit(node.expr2, asked, guarded)
        elif isinstance(node, nodes.Call):
            self._call(node, asked)
        elif isinstance(node, nodes.Filter) and node.node is not None:
            self.visit(node.node, asked, node.name in _GIVES_DEFAULT or (guarded and node.name == "safe_get"))
            for argument in (*node.args, *node.kwargs):
                self.visit(argument, asked, False)
        else:
            self._children(node, asked, self._guards(node, guarded))

    def _call(self, node: nodes.Call, asked: frozenset[str]) -> None:
        named = _agent_named(node)
        function = node.node.name if isinstance(node.node, nodes.Name) else ""
        if named:
            self._found.agents.append(Reference(named, node.lineno, "response", True))
        if function or not named:
            self.visit(node.node, asked, False)
        for i, argument in enumerate(node.args):
            if not (named and _is_outputs(argument)):
                self.visit(argument, asked, i == 0 and function in _GIVES_DEFAULT)
        for keyword in node.kwargs:
            self.visit(keyword, asked, False)

    def _condition(self, test: nodes.Node, body: list[nodes.Node], asked: frozenset[str]) -> None:
        self.visit(test, asked, True)
        within = asked | {read[0] for read in _outputs_in(test)}
        for part in body:
            self.visit(part, within, False)

    def _children(self, node: nodes.Node, asked: frozenset[str], guarded: bool) -> None:
        within = asked
        for child in node.iter_child_nodes():
            self.visit(child, within, guarded)
            if isinstance(node, nodes.And):  # `a.x and a.y`: the second is read only if the first is there
                within = within | {read[0] for read in _outputs_in(child)}

    def _guards(self, node: nodes.Node, guarded: bool) -> bool:
        if isinstance(node, nodes.Test):
            return node.name in ("defined", "undefined", "none")
        if isinstance(node, nodes.Getattr | nodes.Getitem | nodes.And | nodes.Compare | nodes.Operand):
            return guarded  # as a condition, what is missing is false
        return isinstance(node, nodes.Or | nodes.Not)

    def _name(self, node: nodes.Name, guarded: bool) -> None:
        if node.ctx != "load":
            return
        if node.name == OUTPUTS:
            self._found.reads_all = True
        self._found.names.setdefault(node.name, node.lineno)
        if guarded:
            self._found.guarded_names.add(node.name)


_GIVES_DEFAULT = frozenset({"default", "d", "safe_get", "safe_str", "get_input_field"})  # filters and functions


def _output_read(node: nodes.Node) -> tuple[str, str] | None:
    """Agent and first field, if `node` reads `previous_outputs.agent`, `['agent']`, or fields of it."""
    path: list[str] = []
    inner: Any = node
    while not isinstance(inner, nodes.Name):
        if isinstance(inner, nodes.Getattr):
            path.append(inner.attr)
            inner = inner.node
        elif isinstance(inner, nodes.Getitem) and isinstance(inner.arg, nodes.Const):
            path.append(str(inner.arg.value))
            inner = inner.node
        else:
            return None
    if inner.name != OUTPUTS or not path:
        return None
    agent, *fields = reversed(path)
    if agent in ("get", "items", "keys", "values") and not fields:
        return None  # a method: all outputs are read
    return agent, fields[0] if fields else ""


def _private_name(node: nodes.Node) -> str:
    """What a node reads of the works of an object, by a dot or in brackets; empty if it does not."""
    name: Any = node.attr if isinstance(node, nodes.Getattr) else ""
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        name = node.arg.value
    return name if isinstance(name, str) and name.startswith("__") else ""


def _agent_named(node: nodes.Call) -> str:
    """The agent that a call names: `get_agent_response('a')`, `previous_outputs.get('a')`."""
    first = node.args[0] if node.args else None
    if not isinstance(first, nodes.Const) or not isinstance(first.value, str):
        return ""
    function = node.node
    if isinstance(function, nodes.Name) and function.name in NAMES_AGENT:
        return first.value
    if isinstance(function, nodes.Getattr) and function.attr == "get" and _is_outputs(function.node):
        return first.value
    return ""


def _is_outputs(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Name) and node.name == OUTPUTS


def _outputs_in(node: nodes.Node) -> Iterator[tuple[str, str]]:
    read = _output_read(node)
    if read:
        yield read
    elif isinstance(node, nodes.Call) and _agent_named(node):
        yield _agent_named(node), ""
    for child in node.iter_child_nodes():
        yield from _outputs_in(child)
