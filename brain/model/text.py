"""Which text, numbers and nested values may enter a record?

Text is kept byte for byte: no normalisation, no trimming. Only lone surrogates are refused, because
they cannot be encoded as UTF-8 and so no store could give them back.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

_SURROGATE = re.compile("[\ud800-\udfff]")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]{0,199}")
LONGEST_KNOWN_ID = 1_000
"""Characters of an id by which a stored skill is found; every store can look for as many."""
_MAX_INTEGER_BITS = 13_000  # Python's own limit for reading an integer back from text is 4 300 digits
_MAX_NESTING = 200  # records refuse what would exhaust the JSON reader; `Limits.nesting` is the tighter cap


def check_text(value: Any) -> str:
    """Returns `value` if it is a `str` that every store can give back; raises `ValueError`."""
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {type(value).__name__}")
    found = None if value.isascii() else _SURROGATE.search(value)
    if found:
        raise ValueError(f"holds a lone surrogate at position {found.start()}, which cannot be stored; remove it")
    return str(value)


def check_spoken_text(value: Any) -> str:
    """`check_text`, and at least one character that is not white space."""
    text = check_text(value)
    if not text.strip():
        raise ValueError("must not be empty")
    return text


def is_id(value: Any) -> bool:
    """Whether `value` may be an id that a caller chooses."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def check_id(value: Any, what: str = "id") -> str:
    """`value` if it may be an id that a caller chooses; raises `ValueError` that says what may."""
    if not is_id(value):
        raise ValueError(
            f"{str(value)[:60]!r} is not a valid {what}: use 1 to 200 letters, digits and . _ : @ + -, "
            "beginning with a letter or digit"
        )
    return str(value)


def check_known_id(value: Any, what: str = "id") -> str:
    """`value` if it may be the id of something that is stored; raises `ValueError` that says what may.

    What others wrote (old data in a Redis, and copies of it) has ids that `check_id` lets nobody choose.
    """
    try:
        text = check_spoken_text(value)
        if len(text) <= LONGEST_KNOWN_ID and "\0" not in text:  # SQLite's lists end a text at a NUL
            return text
        fault = f"has {len(text):,} characters" if len(text) > LONGEST_KNOWN_ID else "holds a NUL"
    except ValueError as error:
        fault = str(error)
    raise ValueError(
        f"{str(value)[:60]!r} is not a valid {what}: it {fault}. Use the text, of at most {LONGEST_KNOWN_ID:,} "
        "characters, that a listing gives"
    )


def check_json(value: Any, path: str = "", depth: int = 0) -> Any:
    """Returns `value` with tuples as lists; raises `ValueError` that names the path of what JSON cannot hold."""
    where = path or "value"
    if depth > _MAX_NESTING:
        raise ValueError(f"{where[:60]}… is nested more than {_MAX_NESTING} levels deep")
    if isinstance(value, str):
        return str(value) if value.isascii() else _located(check_text, value, where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_INTEGER_BITS:
            raise ValueError(f"{where} is an integer of more than {_MAX_INTEGER_BITS} bits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{where} must be a finite number, not {value}")
        return float(value)
    if isinstance(value, list | tuple):
        return [check_json(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {_key(k, where): check_json(v, f"{path}.{k}" if path else str(k), depth + 1) for k, v in value.items()}
    raise ValueError(f"{where} is a {type(value).__name__}; use text, numbers, true/false, null, lists and objects")


def check_json_object(value: Any) -> dict[str, Any]:
    """`check_json` for a value that must be an object."""
    if not isinstance(value, dict):
        raise ValueError(f"must be an object (a dict), not {type(value).__name__}")
    return check_json(value)  # type: ignore[no-any-return]  # an object in, an object out


def parse_time(value: Any) -> datetime:
    """Reads a time as UTC: a `datetime` or ISO 8601 text. One without a zone is taken as UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError(f"{value!r} is not an ISO 8601 time such as 2026-01-31T12:00:00+00:00") from None
    if not isinstance(value, datetime):
        raise ValueError(f"must be an ISO 8601 time, not {type(value).__name__}")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{value} is outside the years 1 to 9999 in UTC") from None


def parse_expiry(value: Any) -> str:
    """Reads an expiry: empty text or None means never, else `parse_time`, given back as ISO 8601 text."""
    if value is None or value == "":
        return ""
    return parse_time(value).isoformat()


def digest(*parts: str) -> str:
    """Hexadecimal BLAKE2b, 32 characters, of `parts`; no two different lists of parts share a text."""
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def _key(key: Any, where: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{where} has the key {key!r}; keys must be text")
    return str(key) if key.isascii() else _located(check_text, key, f"a key of {where}")


def _located(check: Any, value: str, where: str) -> str:
    try:
        return str(check(value))
    except ValueError as error:
        raise ValueError(f"{where} {error}") from None


_STRING_SCHEMA = WithJsonSchema({"type": "string"})

Text = Annotated[str, BeforeValidator(check_text)]
"""Any text, kept as it is."""
SpokenText = Annotated[str, BeforeValidator(check_spoken_text)]
"""Text that says something: not only white space."""
JsonObject = Annotated[dict[str, Any], BeforeValidator(check_json_object)]
"""An object of JSON values, kept with their types."""
Json = Annotated[Any, BeforeValidator(check_json)]
"""Any JSON value."""
Time = Annotated[datetime, BeforeValidator(parse_time), PlainSerializer(lambda t: t.isoformat(), return_type=str)]
"""A point in time, UTC."""
Expiry = Annotated[str, BeforeValidator(parse_expiry), _STRING_SCHEMA]
"""ISO 8601 UTC, or empty for never (guide, "Skills")."""
NameInJson = PlainSerializer(str, return_type=str)
"""Has a member of a `StrEnum` given back as plain text."""
Unit = Annotated[float, Field(ge=0.0, le=1.0, strict=True, allow_inf_nan=False)]
"""A number from 0 to 1."""
Count = Annotated[int, Field(ge=0, strict=True, lt=2**62)]
"""A whole number of at least 0 that fits a 64-bit store."""
Identifier = Annotated[str, BeforeValidator(check_id)]
"""An id that a caller may choose."""
KnownId = Annotated[str, BeforeValidator(check_known_id)]
"""An id of something that is stored, whoever chose it."""
