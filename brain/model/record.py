"""What do all records share? Validation at the door, unknown fields kept, plain dictionaries in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from brain.errors import InputError
from brain.model.text import check_json

RecordType = TypeVar("RecordType", bound=BaseModel)


class Record(BaseModel):
    """Base of the records: plain data that knows no database.

    Unknown fields are kept and given back, as long as they are JSON values: documents written by
    another version survive a round trip.
    """

    model_config = ConfigDict(extra="allow", validate_assignment=True)

    @model_validator(mode="after")
    def _check_unknown_fields(self) -> Self:
        for name, value in (self.__pydantic_extra__ or {}).items():
            check_json(value, name)
        return self

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON-ready values; times as ISO 8601 UTC text."""
        return self.model_dump(warnings=False)  # a list that was changed in place is refused when it is read

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Reads what `to_dict` wrote. Raises `InputError` that names every field that does not fit."""
        return validated(cls, data)


def validated(kind: type[RecordType], data: Any, name: str = "") -> RecordType:
    """`data`, a mapping or a record of that `kind`, as a `kind` that was checked now.

    Raises `InputError` that names field and fault of everything that does not fit.
    """
    if isinstance(data, kind):  # its lists and objects may have been changed in place
        data = data.model_dump(warnings=False)
    if not isinstance(data, Mapping):
        raise InputError(
            f"{name or kind.__name__} must be an object (a dict or {kind.__name__}), not {type(data).__name__}."
        )
    try:
        return kind.model_validate(dict(data))
    except ValidationError as error:
        faults = "; ".join(_fault(e) for e in error.errors(include_url=False, include_context=False)[:5])
        raise InputError(f"{name or kind.__name__} is not valid: {faults}.") from error
    except RecursionError:
        raise InputError(f"{name or kind.__name__} is nested too deeply. Flatten it.") from None


def _fault(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"])
    message = error["msg"].removeprefix("Value error, ")
    return f"{where[:120]}: {message}" if where else message
