"""What can the agents of these examples do? Three tools, in a small world where two things fail."""

from collections.abc import Callable, Sequence

REPORTS = {
    "build": "The nightly build stops in its tests. It began when the compiler was updated.",
    "pump": "The pump stops after ten minutes. It began when the filter was replaced.",
}
CAUSES = ("compiler", "filter")


def read_reports(subject: str) -> str:
    """Read the error reports about what fails."""
    return next((report for name, report in REPORTS.items() if name in subject.lower()), "There are no reports.")


def test_cause(cause: str) -> str:
    """Test whether a possible cause explains the reports."""
    return "It explains them." if is_right(cause) else "It does not explain them."


def conclude(cause: str) -> str:
    """State the cause that the tests confirmed."""
    return "Confirmed." if is_right(cause) else "Refuted."


TOOLS: dict[str, Callable[[str], str]] = {tool.__name__: tool for tool in (read_reports, test_cause, conclude)}


def is_right(cause: str) -> bool:
    """Whether this is what went wrong."""
    return any(name in cause.lower() for name in CAUSES)


def was_solved(steps: Sequence[dict]) -> bool:
    """Whether the last thing that was done was to state the right cause: a check, not what the model says of itself."""
    return bool(steps) and steps[-1]["tool"] == "conclude" and is_right(str(steps[-1]["parameters"]))


def step(name: str, parameters: dict) -> dict:
    """A call of a tool as a step to learn from: what it does in words, and what it was done with."""
    said = (TOOLS[name].__doc__ or name).rstrip(".") if name in TOOLS else name
    return {"action": said, "tool": name, "parameters": parameters}
