"""What can go wrong: one tree under `BrainError`.

    BrainError
    ├── InputError (ValueError)         what was given is not valid; nothing was written
    │   └── LimitError                  valid, but larger than a configured cap
    ├── SkillNotFoundError (LookupError)   a verb that needs an existing skill got an unknown id
    ├── ConflictError                   the skill was changed since the caller read it
    ├── StoreError                      the place where skills are kept
    │   ├── LocationError               the location string names no store
    │   ├── StoreUnavailableError       nothing answers at the address, or it stopped answering
    │   ├── AuthenticationError         the server answers and refuses the credentials
    │   ├── SchemaError                 the schema is newer than this code, or was changed by hand
    │   └── StatementError              a statement file is malformed (a defect of this package)
    ├── EmbeddingError                  the embedder is missing, failed, or does not fit the store
    └── LocalServerError                the local Neo4j could not be installed, started or stopped

Every message ends with what to do next. Attributes hold the ids, so that a program need not parse text.
"""

from __future__ import annotations


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
            f"Shorten it, or raise the cap with Brain.open(..., limits=Limits({limit}={actual}))."
        )


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


class AuthenticationError(StoreError):
    """The server refused the credentials."""


class SchemaError(StoreError):
    """The store's schema and this version of the code do not fit."""


class StatementError(StoreError):
    """A file of statements breaks the rules of `brain.store.statements`; names file and line."""


class EmbeddingError(BrainError):
    """The embedder cannot be loaded, gave unusable vectors, or does not fit the vectors stored."""


class LocalServerError(BrainError):
    """The local Neo4j server could not be installed, started or stopped."""
