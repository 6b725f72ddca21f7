"""What did OrKa leave in Redis after given calls? The goldens, see `golden/README.md`."""

import json
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
CLOCK = datetime(2026, 11, 30, 12, 0, 0, 123456, UTC)
"""The time at which the goldens were made."""


def golden(name):
    (path,) = FOLDER.glob(f"{name}*.json")
    return json.loads(path.read_text("utf-8"))


def documents(found):
    """id -> (text, fields) of a golden's documents."""
    mark = "orka:brain:skill:"
    return {
        row["key"].removeprefix(mark): (row["value"], row["parsed"])
        for row in found["keys"]
        if row["key"].startswith(mark)
    }


def differences(spot, found):
    """What a spot holds otherwise than a golden says; one second less to live is fine."""
    there, wanted = spot.dump(), {spot.key(row["key"]): row for row in found["keys"]}
    faults = [f"{key} is missing" for key in wanted.keys() - there.keys()]
    faults += [f"{key} is too much" for key in there.keys() - wanted.keys()]
    for key in wanted.keys() & there.keys():
        value, seconds = there[key]
        row = wanted[key]
        expected = set(row["value"]) if row["type"] == "set" else row["value"]
        if value != expected:
            faults.append(f"{key}: {value!r} is not {expected!r}")
        if not (seconds == row["ttl_s"] == -1 or 0 <= row["ttl_s"] - seconds <= 1):
            faults.append(f"{key} lives {seconds} s, not {row['ttl_s']}")
    return faults
