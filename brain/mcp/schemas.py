"""Which JSON Schema tells a model what a tool takes and gives? That of a record, flat and without what says nothing."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

_REFERENCE = "#/$defs/"


def schema_of(kind: type[BaseModel]) -> dict[str, Any]:
    """The schema of a record, references filled in, because many clients hand it to models that follow none."""
    schema = kind.model_json_schema()
    schema.pop("description", None)  # the tool has one of its own
    found: dict[str, Any] = _plain(schema, schema.pop("$defs", {}))
    return found


def _plain(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_plain(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    part = _filled_in(part, definitions)
    found = {}
    for key, value in part.items():
        if key == "title" and isinstance(value, str):
            continue  # pydantic's, made of the name
        if key == "properties":
            found[key] = {name: _plain(item, definitions) for name, item in value.items()}
        elif key in ("default", "examples", "enum", "const"):
            found[key] = value
        else:
            found[key] = _plain(value, definitions)
    return found


def _filled_in(part: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    reference = part.get("$ref")
    if reference is None:
        return part
    target = definitions[reference.removeprefix(_REFERENCE)]
    return {**target, **{key: value for key, value in part.items() if key != "$ref"}}
