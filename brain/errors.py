"""What can go wrong: one tree under `BrainError`.

    BrainError
    ├── InputError (ValueError)         what was given is not valid; nothing was written
    │   ├── LimitError                  valid, but larger than a configured cap
    │   ├── WorkflowError               a workflow file, or what it is run with, is wrong; names file and line
    │   ├── PayloadError                what an agent of a workflow was handed is not usable
    │   ├── TraceError                  a trace file, or a part of one, cannot be read; says where
    │   │   └── NotATraceError          it is something else: no JSON, or of no known format
    │   ├── SkillFileError              a SKILL.md breaks the specification; says rule and line
    │   └── DumpError                   a dump is cut short, damaged, or none; says the line
    ├── SkillNotFoundError (LookupError)   a verb that needs an existing skill got an unknown id
    ├── ConflictError                   the skill was changed since the caller read it
    ├── StoreError                      the place where skills are kept
    │   ├── LocationError               the location string names no store
    │   ├── StoreUnavailableError       nothing answers at the address, or it stopped answering
    │   │   └── StoreReplacedError      another file stands where the open one stood; what is opened anew works on it
    │   ├── AuthenticationError         the server answers and refuses the credentials
    │   ├── SchemaError                 the schema is newer than this code, or was changed by hand
    │   └── StatementError              a statement file is malformed (a defect of this package)
    ├── ModelError                      an LLM endpoint failed, or answered nothing that can be used
    ├── EmbeddingError                  the embedder is missing, failed, or does not fit the store
    ├── ServingError                    the MCP server cannot begin: no address, no input, or a package is missing
    └── LocalServerError                the local Neo4j could not be installed, started or stopped

Every message ends with what to do next. Attributes hold the ids, so that a program need not parse text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LIMITS_VARIABLE = "BRAIN_LIMITS"
"""Environment variable that raises or lowers caps, on the command line too."""


class BrainError(Exception):
    """Base of every error that `brain` raises on purpose."""


class InputError(BrainError, ValueError):
    """An argument, a record or a file is not valid. Nothing was written."""


class LimitError(InputError):
    """A value is over a cap of `brain.config.Limits`.

    Attributes: `limit` is the cap's name, `allowed` and `actual` are in that cap's unit.
    """

    def __init__(self, limit: str, what: str, actual: int, allowed: int) -> None:
        self.limit, self.actual, self.allowed = limit, actual, allowed
        super().__init__(
            f"{what}: {actual} is over the cap of {allowed}. "
            f"Shorten it, or raise the cap: Brain.open(..., limits=Limits({limit}={actual})) in a program, "
            f"{LIMITS_VARIABLE}={limit}={actual} in the environment of a command."
        )


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of a workflow file. `line` and `column` count from 1; 0 is the file as a whole.

    `agent` and `key` are empty where the place belongs to none.
    """

    message: str
    path: str = ""
    line: int = 0
    column: int = 0
    agent: str = ""
    key: str = ""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}:{self.column}" if self.line else self.path
        said = f"agent {self.agent!r}: {self.message}" if self.agent else self.message
        return f"{place}: {said}" if place else said


class WorkflowError(InputError):
    """A workflow cannot be run; nothing of it was. Attribute: `problems`, every one that was found, by line."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - 1
        others = f" ({more} more problem{'' if more == 1 else 's'} beside it)" if more else ""
        super().__init__(f"{self.problems[0]}{others}")


class PayloadError(InputError):
    """What an agent was handed is not usable; nothing was written.

    Attributes: `agent` is its id, `key` the key at fault, empty if it is the whole payload.
    """

    def __init__(self, agent: str, key: str, message: str) -> None:
        self.agent, self.key = agent, key
        super().__init__(f"agent {agent!r}: {f'{key}: ' if key else ''}{message}")


class TraceError(InputError):
    """A trace cannot be read. Attributes: `source` is the file, with line or item where it is a part; `fault`."""

    def __init__(self, source: str, fault: str) -> None:
        self.source, self.fault = source, fault
        super().__init__(f"{source} {fault}")


class NotATraceError(TraceError):
    """What was given is no trace: no JSON, or JSON of no known format."""


class SkillFileError(InputError):
    """A SKILL.md breaks the Agent Skills specification.

    Attributes: `path`; `faults`, each a line (from 1), a rule and what is wrong; `line` and `rule` of the first.
    """

    def __init__(self, path: str, faults: Sequence[tuple[int, str, str]]) -> None:
        self.path, self.faults = path, tuple(faults)
        self.line, self.rule, message = self.faults[0]
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        super().__init__(f"{path}, line {self.line}: {message} (rule {self.rule}{more}). Correct it there.")


class DumpError(InputError):
    """A dump cannot be read. Attributes: `path`, `line` (from 1)."""

    def __init__(
        self, path: str, line: int, fault: str, remedy: str = "Take another copy of it, or dump the skills again."
    ) -> None:
        self.path, self.line = path, line
        super().__init__(f"{path}, line {line}: {fault}. {remedy}")


class SkillNotFoundError(BrainError, LookupError):
    """No live skill has this id in this namespace. Attributes: `skill_id`, `namespace`."""

    def __init__(self, skill_id: str, namespace: str) -> None:
        self.skill_id, self.namespace = skill_id, namespace
        super().__init__(
            f"No skill {skill_id!r} in namespace {namespace!r}. "
            "It may have expired; `brain skills` lists what is there."
        )


class ConflictError(BrainError):
    """The stored version is not the one the caller expected. Attributes: `skill_id`, `expected`, `actual`."""

    def __init__(self, skill_id: str, expected: int, actual: int | None) -> None:
        self.skill_id, self.expected, self.actual = skill_id, expected, actual
        if expected == 0:
            super().__init__(
                f"A skill with the id {skill_id!r} is already there. Choose another id, or change that skill."
            )
            return
        found = "no longer there" if actual is None else f"at version {actual}"
        super().__init__(
            f"Skill {skill_id!r} is {found}, not at version {expected} as expected. "
            "Read it again, apply the change to what you read, and save that."
        )


class StoreError(BrainError):
    """The store failed. `location` is its address without credentials."""

    def __init__(self, message: str, location: str = "") -> None:
        self.location = location
        super().__init__(message)


class LocationError(StoreError):
    """A location string that names no store."""


class StoreUnavailableError(StoreError):
    """Nothing answers at the location, or the connection broke and retries ran out."""


class StoreReplacedError(StoreUnavailableError):
    """Another file stands where the one stood that is open. A brain that is opened anew works on that one."""


class AuthenticationError(StoreError):
    """The server refused the credentials."""


class SchemaError(StoreError):
    """The store's schema and this version of the code do not fit."""


class StatementError(StoreError):
    """A file of statements breaks the rules of `brain.store.statements`; names file and line."""


class ModelError(BrainError):
    """An LLM endpoint did not answer, refused, or answered nothing that can be used.

    Attributes: `endpoint` is its address without credentials, `status` the HTTP status, 0 if there was no answer.
    """

    def __init__(self, message: str, endpoint: str = "", status: int = 0) -> None:
        self.endpoint, self.status = endpoint, status
        super().__init__(message)


class EmbeddingError(BrainError):
    """The embedder cannot be loaded, gave unusable vectors, or does not fit the vectors stored."""


class ServingError(BrainError):
    """The MCP server cannot begin: its address is taken, it has no input to read, or its package is not installed."""


class LocalServerError(BrainError):
    """The local Neo4j server could not be installed, started or stopped."""
