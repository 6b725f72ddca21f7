"""How do several commands write one file of figures? Each replaces its own part, from its title to the next one."""

from __future__ import annotations

import re
from pathlib import Path

FILE = Path(__file__).resolve().parents[2] / "examples" / "benchmarks.md"
SPEED, QUALITY = "# Speed", "# How well recall ranks"
ORDER = (SPEED, QUALITY)


def replace_part(title: str, text: str, path: Path = FILE) -> None:
    """Puts `text`, which begins with the line `title`, in place of the part that begins with it; the others stay."""
    assert text.startswith(title + "\n")
    found = re.split(r"^(?=# )", path.read_text("utf-8") if path.exists() else "", flags=re.MULTILINE)
    parts = {part.partition("\n")[0]: part.strip() for part in found if part.strip()}
    parts[title] = text.strip()
    known = [parts.pop(name) for name in ORDER if name in parts]
    path.write_text("\n\n".join([*known, *parts.values()]) + "\n", "utf-8")
