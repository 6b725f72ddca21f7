"""Which parts of a text must not be stored? API keys, tokens, passwords, private keys and e-mail addresses, replaced.

    found = redact({"command": "curl https://bob:hunter2@example.org", "mail": "bob@example.org"})
    found.value     {"command": "curl https://bob:[redacted password]@example.org", "mail": "[redacted email]"}
    found.counts    {"password": 1, "email": 1}

A secret is told by its form (a vendor's prefix, a header, a key block) or by the name that it is given to
(`password=`, `"api_key":`). Bare hashes, UUIDs, ids and paths have neither, and stay. Redacting twice changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from brain.analysis import credentials

API_KEY, TOKEN, PASSWORD, PRIVATE_KEY, EMAIL = "api_key", "token", "password", "private_key", "email"
"""The kinds that are counted."""

TOO_DEEP = "[nested too deeply]"
"""Stands for what lies deeper than any store takes: nothing is let through unread."""

_DEEPEST = 200
_SHORTEST = 5  # characters of the shortest text that can hold any of them: a@b.c
_KIND_OF_NAME = {"password": PASSWORD, "secret": API_KEY, "grant": TOKEN, "token": TOKEN}
_SHORT = 60
_SHORTEST_SECRET, _SHORTEST_KEY = 6, 16

# Looked for first, because most texts have none of them and a search for a word costs a fiftieth of a pattern.
_HEADER_WORDS = ("cookie", "authorization", "bearer", "basic", "token", "apikey", "digest")
_NAME_WORDS = ("pass", "pwd", "secret", "key", "token", "jwt", "cred", "auth", "kennwort", "contrase", "mot de")
_COMMAND_WORDS = ("curl", "sshpass", "mysql", "login", "redis-cli", "htpasswd", "openssl")
_QUOTED_WORDS, _PIPED_WORDS = ("identified", "password"), ("-stdin", "sudo")
_NAMES, _VALUES = ("name", "key", "header"), ("value", "stringValue", "string_value")


@dataclass(frozen=True)
class Redacted:
    """A value without secrets, and how many of each kind were replaced. `value` has the shape of what was given."""

    value: Any
    counts: dict[str, int] = field(default_factory=dict)


def redact(value: Any) -> Redacted:
    """`value` (JSON values, nested as they may be) with every secret in its texts and keys replaced."""
    counts: Counter[str] = Counter()
    return Redacted(_redacted(value, counts), dict(counts))


def redact_text(text: str, counts: Counter[str] | None = None) -> str:
    """`text` with every secret replaced by `[redacted kind]`; `counts` is raised."""
    found: Counter[str] = Counter() if counts is None else counts
    if len(text) < _SHORTEST:
        return text
    if len(text) > _SHORT:
        return _in_text(text, found)
    clean, replaced = _in_short_text(text)
    if replaced:
        found.update(replaced)
    return clean


@lru_cache(maxsize=16_384)
def _in_short_text(text: str) -> tuple[str, dict[str, int]]:
    """What a short text becomes. Names of tools and parameters come back again and again."""
    counts: Counter[str] = Counter()
    return _in_text(text, counts), dict(counts)


def _redacted(value: Any, counts: Counter[str], depth: int = 0) -> Any:
    if isinstance(value, str):
        return redact_text(value, counts)
    if not isinstance(value, dict | list | tuple):
        return value
    if depth > _DEEPEST:
        return TOO_DEEP
    if isinstance(value, dict):
        return _in_object(value, counts, depth + 1)
    return [_redacted(item, counts, depth + 1) for item in value]


def _in_object(value: dict[Any, Any], counts: Counter[str], depth: int) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    pair_name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    for key, item in value.items():
        name = pair_name if key in _VALUES else key
        kept = redact_text(key, counts) if isinstance(key, str) else key
        found[_free(kept, found) if kept != key else kept] = _named(name, item, counts, depth)
    return found


def _free(key: str, taken: dict[Any, Any]) -> str:
    """`key`, numbered if another replaced key has it already: nothing is lost."""
    number = 2
    wanted = key
    while wanted in taken:
        wanted, number = f"{key} {number}", number + 1
    return wanted


def _named(name: Any, item: Any, counts: Counter[str], depth: int) -> Any:
    """The value that is given to a name."""
    kind = _kind_of(name) if isinstance(name, str) else ""
    if not kind:
        return _redacted(item, counts, depth)
    if depth > _DEEPEST:
        return TOO_DEEP
    if isinstance(item, list | tuple):
        return [_named(name, one, counts, depth + 1) for one in item]
    if isinstance(item, dict) and len(item) == 1 and next(iter(item)) in _VALUES:  # a typed value of OTLP
        return {key: _named(name, one, counts, depth + 1) for key, one in item.items()}
    if isinstance(item, int | float) and not isinstance(item, bool) and kind == "password":
        return _replacement(PASSWORD, counts)
    if isinstance(item, str) and _is_secret(kind, item, quoted=True):
        return _replacement(_KIND_OF_NAME[kind], counts)
    return _redacted(item, counts, depth)


@lru_cache(maxsize=4_096)
def _kind_of(name: str) -> str:
    return credentials.name_kind(name) if len(name) <= 100 else ""


def _is_secret(kind: str, value: str, *, quoted: bool) -> bool:
    """Whether the value of a name of this kind is one: by its length and form, and not a placeholder."""
    if credentials.is_placeholder(value):
        return False
    if kind == "password":
        return True
    told = value.strip()
    if credentials.names_one(told):
        return False
    if kind == "grant" and quoted:
        told = told.split(maxsplit=1)[-1]  # behind the scheme of a header
    if len(told) < _SHORTEST_SECRET or any(c.isspace() for c in told):
        return False
    return (quoted and kind != "token") or credentials.looks_random(told)


def _replacement(kind: str, counts: Counter[str]) -> str:
    counts[kind] += 1
    return f"[redacted {kind.replace('_', ' ')}]"


def _in_text(text: str, counts: Counter[str]) -> str:
    lower = text.lower()
    if "private key" in lower:
        text = credentials.PRIVATE_KEY.sub(lambda _: _replacement(PRIVATE_KEY, counts), text)
    if "://" in text:
        text = credentials.URL_PASSWORD.sub(lambda found: found[1] + _replacement(PASSWORD, counts), text)
        text = credentials.SIGNATURE.sub(lambda found: found[1] + _replacement(TOKEN, counts), text)
    if _any(_HEADER_WORDS, lower):
        text = credentials.COOKIE.sub(lambda found: found[1] + _replacement(TOKEN, counts), text)
        text = credentials.AUTHORIZED.sub(lambda found: found[1] + _replacement(TOKEN, counts), text)
        text = credentials.SCHEMED.sub(lambda found: _schemed(found, counts), text)
    if len(text) >= _SHORTEST_KEY:
        text = credentials.LONG_RUN.sub(lambda found: _in_run(found[0], counts), text)
        if counts and "\n" in text:
            text = credentials.CONTINUED.sub(_continued, text)
    if _any(_NAME_WORDS, lower):
        text = credentials.NAMED.sub(lambda found: _named_in_text(found, counts), text)
        for pattern in (credentials.FLAGGED, credentials.SAID):
            text = pattern.sub(lambda found: _told_in_text(found, counts), text)
    for words, pattern in (
        (_COMMAND_WORDS, credentials.COMMANDS),
        (_QUOTED_WORDS, credentials.QUOTED),
        (_PIPED_WORDS, credentials.PIPED),
    ):
        if _any(words, lower):
            text = pattern.sub(lambda found: _given(found, counts), text)
    if "@" in text:
        text = credentials.EMAIL.sub(lambda found: _address(found, counts), text)
    return text


def _any(words: tuple[str, ...], text: str) -> bool:
    return any(map(text.__contains__, words))  # a generator would take twice the time


def _schemed(found: re.Match[str], counts: Counter[str]) -> str:
    if not credentials.looks_random(found[3]):
        return found[0]
    return found[1] + found[2] + _replacement(TOKEN, counts)


def _in_run(run: str, counts: Counter[str]) -> str:
    run = credentials.JWT.sub(lambda _: _replacement(TOKEN, counts), run)
    run = credentials.API_KEY.sub(lambda _: _replacement(API_KEY, counts), run)
    return credentials.PREFIXED.sub(lambda found: _prefixed(found, counts), run)


def _prefixed(found: re.Match[str], counts: Counter[str]) -> str:
    return _replacement(API_KEY, counts) if credentials.is_dense(found[1]) else found[0]


def _continued(found: re.Match[str]) -> str:
    """What goes on from a replaced key is a part of it, and not counted again."""
    return found[1] if credentials.looks_random(found[2]) else found[0]


def _given(found: re.Match[str], counts: Counter[str]) -> str:
    """A password that a command or statement is given."""
    if credentials.is_placeholder(found[2]):
        return found[0]
    return found[1] + _replacement(PASSWORD, counts)


def _named_in_text(found: re.Match[str], counts: Counter[str]) -> str:
    kind = _group(found)
    if found["quoted"] is not None:
        if not _is_secret(kind, found["quoted"], quoted=True):
            return found[0]
        return found["name"] + found["sep"] + found["open"] + _replacement(_KIND_OF_NAME[kind], counts)
    bare = found["bare"]
    if found["after"] or credentials.is_reference(bare) or not _is_secret(kind, bare, quoted=False):
        return found[0]
    if kind == "password" and bare.isalpha() and not _stands_alone(found):
        return found[0]
    return found["name"] + found["sep"] + _replacement(_KIND_OF_NAME[kind], counts)


def _group(found: re.Match[str]) -> str:
    return next(kind for kind in _KIND_OF_NAME if found[kind])


def _stands_alone(found: re.Match[str]) -> bool:
    """Whether a value that could be a word is one by its place: right behind the equals sign, or alone on its line."""
    if found["sep"].endswith(("=", ">")):
        return True
    text = found.string
    line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
    return text[found.end() : found.end() + 1] in ("", "\n", "\r") and len(line.split()) < 2


def _told_in_text(found: re.Match[str], counts: Counter[str]) -> str:
    bare, end = found["bare"], ""
    while bare[-1:] in (".", ",", "!", "?", ":"):
        bare, end = bare[:-1], bare[-1] + end
    if bare.isalpha() or credentials.is_reference(bare) or credentials.is_placeholder(bare):
        return found[0]
    if "password" not in found.groupdict():  # what was said in a sentence
        if not any(c.isdigit() for c in bare):
            return found[0]
        return found["before"] + _replacement(PASSWORD, counts) + end
    kind = _group(found)
    if not _is_secret(kind, bare, quoted=False):
        return found[0]
    return found["before"] + _replacement(_KIND_OF_NAME[kind], counts) + end


def _address(found: re.Match[str], counts: Counter[str]) -> str:
    if not credentials.is_address(found[1], found[2], found[3]):
        return found[0]
    return _replacement(EMAIL, counts)
