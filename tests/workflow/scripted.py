"""A model that says what is written down: real HTTP on a free port, one list of answers for each agent, in a JSON file.

An agent is known by words of its prompt (`when`). Its answers are given in order, the last one again and again:

    {"answer": text or object, "status": 200, "finish": "stop", "type": "application/json", "raw": text, "held": false}

`raw` is sent instead of a completion; a `held` answer waits until the model's gate is opened.
"""

import json
import threading
from dataclasses import dataclass, field
from pathlib import Path

from werkzeug import Response

ANSWERS = Path(__file__).parent / "answers"


@dataclass
class Asked:
    """One request: who asked, where, with what."""

    agent: str
    path: str
    headers: dict
    body: dict

    @property
    def prompt(self):
        return self.body["messages"][0]["content"] if "messages" in self.body else self.body["prompt"]


@dataclass
class ScriptedModel:
    """Answers as its script says, and remembers what it was asked. `gate` holds answers back until it is set."""

    server: object
    script: dict
    asked: list = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self):
        self.gate.set()
        self._given = dict.fromkeys(self.script, 0)
        self._lock = threading.Lock()
        self.at_once = self.most_at_once = 0

    @property
    def url(self):
        return self.server.url_for("").rstrip("/")

    def of(self, agent):
        """The requests of one agent."""
        return [one for one in self.asked if one.agent == agent]

    def prompt_of(self, agent):
        """The only prompt of an agent."""
        (one,) = self.of(agent)
        return one.prompt

    def __call__(self, request):
        body = json.loads(request.get_data())
        asked = Asked("", request.path, dict(request.headers), body)
        asked.agent = next(agent for agent, entry in self.script.items() if entry["when"] in asked.prompt)
        with self._lock:
            self.asked.append(asked)
            entry = self.script[asked.agent]["answers"]
            said = entry[min(self._given[asked.agent], len(entry) - 1)]
            self._given[asked.agent] += 1
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.set()
        if said.get("held"):
            self.gate.wait(30)
        with self._lock:
            self.at_once -= 1
        return self._response(said, request.path, asked.prompt)

    def _response(self, said, path, prompt):
        status, kind = said.get("status", 200), said.get("type", "application/json")
        if "raw" in said:
            return Response(said["raw"], status, content_type=kind)
        text = said["answer"] if isinstance(said.get("answer"), str) else json.dumps(said.get("answer"))
        if status != 200:
            return Response(json.dumps({"error": {"message": text}}), status, content_type=kind)
        finish = said.get("finish", "stop")
        if path.startswith("/api/"):
            data = {"response": text, "done_reason": finish, "prompt_eval_count": len(prompt), "eval_count": len(text)}
        else:
            message = {"role": "assistant", "content": text}
            usage = {"prompt_tokens": len(prompt), "completion_tokens": len(text)}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            data = {"object": "chat.completion", "choices": [choice], "usage": usage}
        return Response(json.dumps(data), status, content_type=kind)


def recorded(name):
    """The script in a file of recorded answers."""
    return json.loads((ANSWERS / f"{name}.json").read_text("utf-8"))
