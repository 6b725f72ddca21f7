"""How much of what an endpoint sends is read? An HTTP client for the official one that stops at `LARGEST_BODY`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brain.errors import ModelError

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

LARGEST_BODY = 16_000_000
"""Bytes of one HTTP answer that are read, unpacked: some times what the longest answer takes as JSON."""

_MOST_REDIRECTS = 20
_OF_THE_WIRE = ("content-encoding", "content-length", "transfer-encoding")  # no longer true of what was read


def bounded_client(shown: str) -> DefaultAsyncHttpxClient:
    """A client whose answers have at most `LARGEST_BODY` bytes; reading a longer one ends there with `ModelError`.

    `shown` names the endpoint in the error. Redirects are followed here, so that their bodies are bounded too. Nothing
    packed is asked for: a few bytes may unpack to any number.
    """
    from openai import DefaultAsyncHttpxClient

    class BoundedClient(DefaultAsyncHttpxClient):
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            follows = options.pop("follow_redirects", True)
            for _ in range(_MOST_REDIRECTS):
                found = await super().send(request, stream=True, follow_redirects=False, **options)
                answer = await _read(found, shown)
                if found.next_request is None or follows is False:
                    return answer
                request = found.next_request
            raise ModelError(f"{shown} redirects without end. Correct model_url.", shown)

    return BoundedClient(headers={"Accept-Encoding": "identity"})


async def _read(found: Any, shown: str) -> Any:
    """The answer with all that it says, where that is not too much. The connection is given back in any case."""
    parts, size = [], 0
    try:
        async for part in found.aiter_bytes():
            parts.append(part)
            size += len(part)
            if size > LARGEST_BODY:
                said = f"{shown} answered more than {LARGEST_BODY:,} bytes, the most that is read"
                raise ModelError(f"{said}. Lower 'max_tokens', or correct model_url.", shown)
    finally:
        await found.aclose()
    headers = [(name, value) for name, value in found.headers.multi_items() if name.lower() not in _OF_THE_WIRE]
    return type(found)(found.status_code, headers=headers, content=b"".join(parts), request=found.request)
