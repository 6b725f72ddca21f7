"""How is every verb documented once? `share_docstrings`, so that help() says the same of both brains."""

from __future__ import annotations


def share_docstrings(documented: type, other: type) -> None:
    """Gives the public methods and properties of `other` that have no docstring that of the same name."""
    for name, member in vars(other).items():
        known = getattr(documented, name, None)
        if name.startswith("_") or known is None:
            continue
        target = member.__func__ if isinstance(member, classmethod) else member
        if not target.__doc__:
            target.__doc__ = known.__doc__
