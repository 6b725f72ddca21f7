"""Which formats are there? One module each; `known_formats` finds them."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from brain.traces.base import Format


@cache
def known_formats() -> dict[str, Format]:
    """Every format by its name."""
    modules = [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
    kinds = [kind for module in modules for kind in vars(module).values() if _is_format(kind)]
    return {kind.name: kind() for kind in kinds}


def _is_format(kind: object) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Format) and not inspect.isabstract(kind)
