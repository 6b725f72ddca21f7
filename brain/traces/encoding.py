"""Is a file text, and in which encoding? UTF-8 with or without a mark; what else it is, is said by name."""

from __future__ import annotations

from typing import IO

from brain.errors import NotATraceError, TraceError

_MARK = b"\xef\xbb\xbf"
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_BINARY = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"BZh", "compressed by bzip2"),
    (b"\xfd7zXZ\x00", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89PNG\r\n", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"%PDF", "a PDF"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "an SQLite file"),
    (b"PAR1", "a Parquet file"),
)
_JSON_BEGINS = "{["
_EVENTS_BEGIN = (b"data:", b"event:", b":")


def text_start(file: IO[bytes]) -> int:
    """Where the text of a file begins: behind the byte order mark, if there is one."""
    file.seek(0)
    return len(_MARK) if file.read(len(_MARK)) == _MARK else 0


def check_start(head: bytes, name: str) -> str:
    """The character that the text begins with, from the first bytes of a file.

    Raises `NotATraceError` for what is no JSON by its beginning, `TraceError` for text in another encoding.
    """
    for magic, kind in _BINARY:
        if head.startswith(magic):
            raise NotATraceError(name, f"is {kind}, not a trace. Unpack it, or name the JSON file.")
    for mark, encoding in _WIDE_MARKS:
        if head.startswith(mark):
            raise TraceError(name, f"is not UTF-8 text but {encoding}. Convert it to UTF-8.")
    text = head.lstrip()
    if not text:
        raise NotATraceError(name, "is not JSON: it is empty. Name a file of traces.")
    if b"\x00" in text.partition(b"\n")[0]:  # in a later line it is what a crash left of that line
        if _is_wide(head):
            raise TraceError(name, "is not UTF-8 text but UTF-16. Convert it to UTF-8.")
        raise NotATraceError(name, "is binary, not JSON. Name a file of traces.")
    first = chr(text[0])
    return first if first in _JSON_BEGINS or text.startswith(_EVENTS_BEGIN) else _other(text, name)


def _is_wide(head: bytes) -> bool:
    """Whether a text without a mark is in UTF-16: of its first characters, which are ASCII in JSON, one byte is 0."""
    first = head[:40]
    return len(first) > 8 and any(not any(first[i::2]) and all(first[1 - i :: 2]) for i in (0, 1))


def _other(text: bytes, name: str) -> str:
    """The first character of a text that begins with neither brace nor bracket, if it may be JSON all the same."""
    decoded(text[:100] if len(text) <= 100 else text[:100].rsplit(b" ", 1)[0], name)
    if chr(text[0]) in '"-0123456789' or text[:4] in (b"true", b"null", b"fals"):
        return chr(text[0])
    raise NotATraceError(name, "is not JSON: it begins with neither { nor [ (line 1, column 1). Name a file of traces.")


def decoded(data: bytes, name: str) -> str:
    """`data` as text. Raises `TraceError` that says where it is no UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TraceError(name, f"is not UTF-8 text (byte {error.start}). Convert it to UTF-8.") from error
