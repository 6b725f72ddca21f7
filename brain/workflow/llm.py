"""What does a model answer to a prompt? One question to an endpoint that speaks OpenAI's protocol or Ollama's.

The official client does the retries: twice by default, with back-off, after 408, 409, 429, 5xx and lost connections.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from brain.errors import ModelError
from brain.workflow.records import DEFAULT_MODEL, MODEL_VARIABLE, Agent, LlmSettings
from brain.workflow.wire import bounded_client

if TYPE_CHECKING:
    from openai import AsyncOpenAI

TIMEOUT_VARIABLE, DEFAULT_TIMEOUT = "ORKA_TIMEOUT_SECONDS", 120.0
"""Environment variable and default of the seconds that an LLM agent may take, all attempts together."""
LARGEST_ANSWER = 2_000_000
"""Characters of an answer that are read."""

_CHAT = "/chat/completions"
_OLLAMA = "/api/generate"
_SHOWN = 300


@dataclass(frozen=True)
class Completion:
    """What a model answered: its text, the tokens of prompt and answer where they are known, whether it was cut off."""

    text: str
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    is_cut_off: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Endpoint:
    """Where a prompt is sent and in which protocol. `key` is never shown."""

    url: str
    is_ollama: bool = False
    key: str | None = field(default=None, repr=False)
    is_hosted: bool = False

    @property
    def shown(self) -> str:
        """The address without credentials and query."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        return urlunsplit((parts.scheme, f"{host}{port}", parts.path, "", ""))


def is_address(url: str) -> bool:
    """Whether a text is an address that a request can be sent to."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def endpoint_of(agent: Agent, settings: LlmSettings, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """The endpoint of an LLM agent. A key is sent only to the endpoint that it is meant for."""
    key = environment.get(settings.api_key_env) if settings.api_key_env else None
    if agent.type != "local_llm":
        if settings.model_url:
            return Endpoint(_chat_url(settings.model_url), key=key, is_hosted=True)
        url = environment.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        return Endpoint(_chat_url(url), key=key or environment.get("OPENAI_API_KEY"), is_hosted=True)
    path = urlsplit(settings.model_url).path.rstrip("/")
    if settings.provider == "ollama" and not path.endswith(("/v1", _CHAT)):
        return Endpoint(settings.model_url if path else _with_path(settings.model_url, _OLLAMA), True, key)
    if settings.provider == "openai_compatible" and path and not path.endswith("/v1"):
        return Endpoint(settings.model_url, key=key)
    if settings.provider == "lm_studio" and not path.endswith(("/v1", _CHAT)):
        return Endpoint(_chat_url(_with_path(settings.model_url, f"{path}/v1")), key=key)
    return Endpoint(_chat_url(settings.model_url), key=key)


class Models:
    """Asks models, one client an endpoint. Open while a workflow runs: `async with Models() as models`."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self._environment = environment
        self._clients: dict[Endpoint, AsyncOpenAI] = {}
        self._plain: set[tuple[str, str]] = set()

    async def __aenter__(self) -> Models:
        return self

    async def __aexit__(self, *_: object) -> None:
        for client in self._clients.values():
            await client.close()

    async def ask(self, agent: Agent, settings: LlmSettings, prompt: str, schema: dict[str, Any] | None) -> Completion:
        """The answer to `prompt`; `schema` is that of the JSON object that is wanted, None for text.

        An endpoint that refuses to be told a form is asked without. Raises `ModelError`.
        """
        endpoint = endpoint_of(agent, settings, self._environment)
        seconds = settings.timeout or _default_timeout(self._environment)
        model = settings.model or (self._environment.get(MODEL_VARIABLE, "") if endpoint.is_hosted else DEFAULT_MODEL)
        wanted = schema if (endpoint.url, model) not in self._plain else None
        try:
            async with asyncio.timeout(seconds):
                try:
                    return await self._asked(endpoint, settings, model, prompt, wanted)
                except ModelError as error:
                    if wanted is None or error.status not in (400, 415, 422, 501):
                        raise
                    answer = await self._asked(endpoint, settings, model, prompt, None)
                    self._plain.add((endpoint.url, model))
                    return answer
        except TimeoutError:
            message = f"{endpoint.shown} did not answer within {seconds:g} s. Raise 'timeout', or ask a faster model."
            raise ModelError(message, endpoint.shown) from None

    async def _asked(
        self, endpoint: Endpoint, settings: LlmSettings, model: str, prompt: str, schema: dict[str, Any] | None
    ) -> Completion:
        import openai

        options: Any = {"max_retries": settings.retries}
        if not endpoint.key:
            options["headers"] = {"Authorization": openai.Omit()}
        body = (_ollama_body if endpoint.is_ollama else _chat_body)(settings, model, prompt, schema, endpoint)
        try:
            answer = await self._client(endpoint).post(endpoint.url, cast_to=object, body=body, options=options)
        except openai.APIStatusError as error:
            raise ModelError(_refused(endpoint, error), endpoint.shown, error.status_code) from error
        except openai.APITimeoutError as error:
            raise TimeoutError from error
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, ModelError):  # of our own reading
                raise error.__cause__ from None
            raise ModelError(_broken(endpoint, error.__cause__ or error), endpoint.shown) from error
        except UnicodeEncodeError as error:
            half = f"#x{ord(error.object[error.start]):04x}"
            raise ModelError(f"the prompt has half of a character ({half}). Remove it.") from error
        except (openai.OpenAIError, ValueError, RecursionError) as error:
            message = f"{endpoint.shown} answered what is no JSON: {_one_line(str(error))}. Is model_url right?"
            raise ModelError(message, endpoint.shown) from error
        if isinstance(answer, str):  # of another content type
            answer = _loaded(answer)
        return _ollama_answer(endpoint, answer) if endpoint.is_ollama else _chat_answer(endpoint, answer)

    def _client(self, endpoint: Endpoint) -> AsyncOpenAI:
        from openai import AsyncOpenAI

        if endpoint not in self._clients:
            base = endpoint.url.partition("?")[0].removesuffix(_CHAT)
            client = AsyncOpenAI(
                base_url=base,
                api_key=endpoint.key or "none",
                timeout=None,
                http_client=bounded_client(endpoint.shown),
            )
            if not endpoint.is_hosted:  # what the environment says of OpenAI is none of a local server's business
                client.organization = client.project = None
            self._clients[endpoint] = client
        return self._clients[endpoint]


def _chat_body(
    settings: LlmSettings, model: str, prompt: str, schema: dict[str, Any] | None, endpoint: Endpoint
) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(settings, prompt),
        "temperature": settings.temperature,
    }
    for key in ("max_tokens", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty"):
        value = getattr(settings, key)
        if value is not None:
            body[key] = value
    if schema is not None and endpoint.is_hosted and "properties" not in schema:
        body["response_format"] = {"type": "json_object"}
    elif schema is not None:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
    return body


def _messages(settings: LlmSettings, prompt: str) -> list[dict[str, str]]:
    system = [{"role": "system", "content": settings.system_prompt}] if settings.system_prompt else []
    return [*system, {"role": "user", "content": prompt}]


def _ollama_body(
    settings: LlmSettings, model: str, prompt: str, schema: dict[str, Any] | None, endpoint: Endpoint
) -> dict[str, Any]:
    names = {
        "temperature": "temperature",
        "max_tokens": "num_predict",
        "top_p": "top_p",
        "seed": "seed",
        "stop": "stop",
    }
    options = {theirs: getattr(settings, ours) for ours, theirs in names.items() if getattr(settings, ours) is not None}
    body: dict[str, Any] = {"model": model, "stream": False, "options": options}
    if urlsplit(endpoint.url).path.endswith("/chat"):
        body["messages"] = _messages(settings, prompt)
    else:
        body |= {"prompt": prompt} | ({"system": settings.system_prompt} if settings.system_prompt else {})
    if schema is not None:
        body["format"] = schema if "properties" in schema else "json"
    return body


def _chat_answer(endpoint: Endpoint, answer: Any) -> Completion:
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise _unusable(endpoint, answer)
    usage = answer.get("usage") if isinstance(answer.get("usage"), dict) else {}
    return Completion(
        _content(endpoint, message),
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        choice.get("finish_reason") == "length",
    )


def _ollama_answer(endpoint: Endpoint, answer: Any) -> Completion:
    message = answer.get("message") if isinstance(answer, dict) else None
    text = (
        message.get("content")
        if isinstance(message, dict)
        else answer.get("response")
        if isinstance(answer, dict)
        else None
    )
    if not isinstance(text, str):
        raise _unusable(endpoint, answer)
    return Completion(
        text[:LARGEST_ANSWER],
        _count(answer.get("prompt_eval_count")),
        _count(answer.get("eval_count")),
        answer.get("done_reason") == "length",
    )


def _content(endpoint: Endpoint, message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if content is None and message.get("refusal"):
        raise ModelError(
            f"the model refused: {_one_line(str(message['refusal']))}. Ask otherwise, or ask another model.",
            endpoint.shown,
        )
    return content[:LARGEST_ANSWER] if isinstance(content, str) else ""


def _unusable(endpoint: Endpoint, answer: Any) -> ModelError:
    said = answer.get("error", answer) if isinstance(answer, dict) else answer
    message = f"{endpoint.shown} answered what is no completion: {_one_line(str(said))}. Is model_url right?"
    return ModelError(message, endpoint.shown)


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _broken(endpoint: Endpoint, error: BaseException) -> str:
    """What to say of a connection that failed: before there was one, or later."""
    said = _one_line(str(error) or type(error).__name__)
    if "Connect" in type(error).__name__:
        return f"nothing answers at {endpoint.shown}: {said}. Start the model's server there, or correct model_url."
    return f"{endpoint.shown} gave no whole answer: {said}. See the server's log, or correct model_url."


def _refused(endpoint: Endpoint, error: Any) -> str:
    said = _one_line(_message_in(error.body) or error.response.text)
    remedies = {
        401: "Check the API key.",
        403: "Check the API key and what it may do.",
        404: "Check model_url and model.",
        429: "Wait, or raise 'retries'.",
    }
    remedy = remedies.get(
        error.status_code, "See the server's log." if error.status_code >= 500 else "Correct the settings."
    )
    return f"{endpoint.shown} answered HTTP {error.status_code}{f': {said}' if said else ''}. {remedy}"


def _message_in(body: Any) -> str:
    if isinstance(body, dict):
        inner = body.get("error", body.get("message", ""))
        return str(inner.get("message", "")) if isinstance(inner, dict) else str(inner)
    return body if isinstance(body, str) else ""


def _one_line(text: str) -> str:
    said = " ".join(text.split())
    return (said if len(said) <= _SHOWN else f"{said[:_SHOWN]}…").rstrip(".")


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _chat_url(url: str) -> str:
    """The address of chat completions for what users write as an address: host, with /v1, or all of it."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith(_CHAT):
        path = f"{path or '/v1'}{_CHAT}"
    return urlunsplit(parts._replace(path=path))


def _with_path(url: str, path: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=path))


def _default_timeout(environment: Mapping[str, str]) -> float:
    try:
        seconds = float(environment.get(TIMEOUT_VARIABLE, ""))
    except ValueError:
        return DEFAULT_TIMEOUT
    return seconds if seconds > 0 else DEFAULT_TIMEOUT
