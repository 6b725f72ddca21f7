"""No more of an endpoint's answer is read than may be, however it is sent; over real HTTP."""

import gzip
import itertools
import json
import threading

import pytest
from werkzeug import Response

from brain.workflow import wire
from tests.workflow.conftest import ran, results
from tests.workflow.solving import GOOD, one

PART = b" " * 65_536


class Endless:
    """A body without an end, that counts what was taken of it."""

    def __init__(self, begin=b""):
        self.sent, self.closed = 0, threading.Event()
        self._begin = begin

    def __iter__(self):
        for part in itertools.chain([self._begin], itertools.repeat(PART)):
            self.sent += len(part)
            yield part

    def close(self):
        self.closed.set()


def completion(text):
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    return json.dumps(message).encode()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Less than sixteen megabytes, to be quick."""
    monkeypatch.setattr(wire, "LARGEST_BODY", 1_000_000)


@pytest.fixture
def endpoint(httpserver):
    """Answers everything with what a function makes of the request; gives the address and the requests."""

    def answers(made):
        seen = []

        def respond(request):
            seen.append(request)
            return made(request)

        httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(respond)
        return httpserver.url_for("").rstrip("/"), seen

    return answers


def solved(url):
    return results(ran(one(url).replace("agents: [solve, learn]", "agents: [solve]"), "x"))["solve"]


@pytest.mark.parametrize("status", [200, 500, 404])
def test_an_answer_without_an_end_is_read_to_the_limit_and_not_asked_for_again(endpoint, status):
    body = Endless(b'{"choices": ')
    url, seen = endpoint(lambda _: Response(body, status, content_type="application/json", direct_passthrough=True))
    found = solved(url)
    assert found.status == "failed"
    assert f"{url}/v1/chat/completions answered more than 1,000,000 bytes" in found.error
    assert "Lower 'max_tokens'" in found.error
    assert body.closed.wait(30)
    assert len(seen) == 1


def test_an_answer_that_unpacks_to_more_is_read_to_the_limit(endpoint):
    packed = gzip.compress(completion("x" * 5_000_000))
    url, seen = endpoint(lambda _: Response(packed, headers={"Content-Encoding": "gzip"}))
    assert "more than 1,000,000 bytes" in solved(url).error
    assert seen[0].headers["Accept-Encoding"] == "identity"


def test_the_body_of_a_redirect_is_read_to_the_limit_too(endpoint):
    body = Endless()
    there = {"Location": "/elsewhere"}
    url, _ = endpoint(lambda _: Response(body, 307, headers=there, direct_passthrough=True))
    assert "more than 1,000,000 bytes" in solved(url).error
    assert body.closed.wait(30)


def test_a_redirect_is_followed_and_one_in_a_circle_is_told(endpoint, httpserver):
    url, seen = endpoint(lambda _: Response("moved", 307, headers={"Location": "/elsewhere"}))
    done = Response(completion(json.dumps(GOOD)), content_type="application/json")
    further = itertools.chain([done], itertools.repeat(Response("", 307, headers={"Location": "/elsewhere"})))
    httpserver.expect_request("/elsewhere", method="POST").respond_with_handler(lambda _: next(further))
    assert solved(url).output["response"] == "done"
    assert "redirects without end. Correct model_url." in solved(url).error
    assert len(seen) == 2


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_within_the_limit_is_read_whole(endpoint, packed):
    said = completion(json.dumps(GOOD | {"more": "ü" * 100_000}))
    headers = {"Content-Type": "application/json"} | ({"Content-Encoding": "gzip"} if packed else {})
    url, _ = endpoint(lambda _: Response(gzip.compress(said) if packed else said, headers=headers))
    assert solved(url).output["more"] == "ü" * 100_000
