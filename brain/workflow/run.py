"""How is a workflow carried out? Its agents in order, or at once where they need not wait, and what became of each."""

from __future__ import annotations

import asyncio
import logging
import os
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from brain.errors import BrainError, PayloadError, StoreError
from brain.workflow.acting import Acting, NothingToDoError
from brain.workflow.plan import Plan, Step
from brain.workflow.values import AgentOutput

if TYPE_CHECKING:
    from brain.engine.brain import Brain
    from brain.engine.sync import SyncBrain

log = logging.getLogger(__name__)

_SHOWN = 300  # characters of an unexpected error

Status = Literal["ok", "failed", "skipped", "not_run"]


@dataclass
class AgentResult:
    """What became of one agent. `output` is what templates see; `error` says why it failed, was skipped or not run."""

    id: str
    type: str
    operation: str = ""
    status: Status = "not_run"
    output: dict[str, Any] | None = None
    error: str | None = None
    duration_ms: float = 0.0
    prompt: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    is_repaired: bool = False
    is_truncated: bool = False
    warnings: list[str] = field(default_factory=list)


@dataclass
class RunResult:
    """What became of a workflow. `answer` is the response of the last agent that gave one, from `answer_from`."""

    workflow: str
    run_id: str
    input: Any
    started: datetime
    agents: list[AgentResult]
    status: Literal["ok", "failed", "interrupted"] = "ok"
    duration_ms: float = 0.0
    store_error: StoreError | None = None

    @property
    def answer_from(self) -> str:
        """The id of the agent that gave the answer; empty if none did."""
        gave = [one.id for one in self.agents if one.status == "ok" and (one.output or {}).get("response") is not None]
        return gave[-1] if gave else ""

    @property
    def answer(self) -> Any:
        """The final answer; None if no agent gave one."""
        outputs = {one.id: one.output for one in self.agents}
        return (outputs.get(self.answer_from) or {}).get("response")


Observer = Callable[[str, AgentResult], Any]
"""Is told "started" and "ended" of each agent."""


async def run_plan(
    plan: Plan,
    given: Any = "",
    *,
    brain: Brain | SyncBrain | None = None,
    observer: Observer | None = None,
    environment: Mapping[str, str] = os.environ,
) -> RunResult:
    """Runs a workflow that `brain.workflow.check.load` has checked on `given`, which its templates see as `input`.

    What an agent fails at stands in its result and ends the run, or not, as `on_error` says. A cancelled run finishes
    the write that is under way, and its result is in the `result` of the `Interrupted` that is raised. `brain` is
    needed if the plan has brain agents.
    """
    runner = _Runner(plan, given, brain, observer, environment)
    return await runner.run()


class Interrupted(asyncio.CancelledError):
    """A run was cancelled. Attribute: `result`, as far as it came."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        super().__init__("The run was cancelled.")


class _Runner:
    """One run of one plan."""

    def __init__(
        self,
        plan: Plan,
        given: Any,
        brain: Brain | SyncBrain | None,
        observer: Observer | None,
        environment: Mapping[str, str],
    ) -> None:
        self._plan, self._observer = plan, observer
        agents = [AgentResult(step.agent.id, step.agent.type, step.agent.operation) for step in plan.steps]
        self._result = RunResult(plan.workflow.id, uuid.uuid4().hex, given, datetime.now(UTC), agents)
        self._by_id = {one.id: one for one in agents}
        self._acting = Acting(plan, given, brain, environment, self._result.run_id)
        self._stopped = ""

    async def run(self) -> RunResult:
        begun = time.perf_counter()
        try:
            async with self._acting:
                await self._all()
        except asyncio.CancelledError:
            self._result.status = "interrupted"
            for one in self._result.agents:
                if one.status == "not_run" and one.error is None:
                    one.error = "The run was interrupted."
            self._result.duration_ms = _since(begun)
            raise Interrupted(self._result) from None
        if any(one.status == "failed" for one in self._result.agents):
            self._result.status = "failed"
        self._result.duration_ms = _since(begun)
        return self._result

    async def _all(self) -> None:
        """Starts each agent when all that it waits for has ended; in sequence, one at a time."""
        is_parallel = self._plan.workflow.strategy == "parallel"
        places = self._plan.workflow.concurrency if is_parallel else 1
        waiting, running = list(self._plan.steps), dict[asyncio.Task[None], str]()
        ended: set[str] = set()
        try:
            while (waiting and not self._stopped) or running:
                ready = [step for step in waiting if self._plan.waits[step.agent.id] <= ended]
                for step in ready[: places - len(running)] if not self._stopped else ():
                    waiting.remove(step)
                    running[asyncio.create_task(self._one(step))] = step.agent.id
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    ended.add(running.pop(task))
                    task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        for step in waiting:
            self._by_id[step.agent.id].error = f"It was not run, because {self._stopped!r} failed."

    async def _one(self, step: Step) -> None:
        result = self._by_id[step.agent.id]
        begun = time.perf_counter()
        self._tell("started", result)
        try:
            result.output = await self._acting.act(step, result)
            result.status = "ok"
        except NothingToDoError as reason:
            result.status, result.error, result.output = "skipped", str(reason), reason.output
        except asyncio.CancelledError:
            result.error = "The run was interrupted."
            raise
        except BrainError as error:
            self._failed(step, result, error)
        except Exception as error:  # of ours, or of an embedder or a clock that was handed over
            log.debug("The agent %r failed unexpectedly.", result.id, exc_info=True)
            self._failed(step, result, error)
        finally:
            result.duration_ms = _since(begun)
            self._acting.remember(step, result)
        self._tell("ended", result)

    def _failed(self, step: Step, result: AgentResult, error: Exception) -> None:
        result.status, result.error = "failed", str(error)
        if isinstance(error, PayloadError):
            result.error = str(error).removeprefix(f"agent {result.id!r}: ")
        elif not isinstance(error, BrainError):
            said = " ".join(f"{type(error).__name__}: {error}".split())[:_SHOWN].rstrip(":. ")
            result.error = f"it failed unexpectedly ({said}). The log has the traceback at debug level; report it."
        if isinstance(error, StoreError):  # nothing that follows could be trusted
            self._result.store_error = self._result.store_error or error
        rule = step.agent.on_error or self._plan.workflow.on_error
        if rule == "stop" or isinstance(error, StoreError):
            self._stopped = self._stopped or result.id

    def _tell(self, event: str, result: AgentResult) -> None:
        if self._observer:
            self._observer(event, result)


def output_of(result: AgentResult) -> AgentOutput:
    """What templates see of an agent that has ended."""
    status = {"ok": "success", "failed": "error"}.get(result.status, result.status)
    run: dict[str, Any] = {
        "id": result.id,
        "status": status,
        "component_id": result.id,
        "component_type": result.type,
        "formatted_prompt": result.prompt,
        "execution_time_ms": result.duration_ms,
    }
    if result.error:
        run["error"] = result.error
    return AgentOutput(result.output or {}, **run)


def _since(begun: float) -> float:
    return round((time.perf_counter() - begun) * 1000, 3)
