"""How does the tour of cypher/explore.cypher become favourites of Neo4j Browser? One file a question.

`python -m tests.interface.favourites` writes them to examples/browser; a test compares what is there.
"""

import re
import textwrap
from pathlib import Path

from brain.store.statements import data_folder, load

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "browser"
WIDTH = 120
PARAMETER = re.compile(r":param (\w+) => (.*?);(?= :param|$)")
SETTING = "Parameters of the tour"
ADVICE = (
    'Run this first. For your own skills, set namespace to what you use (mostly "default"), id to what a click on a '
    "skill shows, domain and tag to their names."
)


def tour():
    """The statements of the tour, by name, in their order."""
    return load(data_folder("cypher"), "explore.cypher")


def favourites():
    """Name of each file -> its text. The first line is the title that Browser shows."""
    commands = {name: line for statement in tour().values() for name, line in _commands(statement).items()}
    found = {"00-parameters.cypher": _comment(SETTING, ADVICE) + "".join(f"{line}\n" for line in commands.values())}
    for place, statement in enumerate(tour().values(), 1):
        question, _, reading = statement.doc.partition("? ")
        names = ", ".join(_commands(statement))
        needs = f'Parameters: {names}. The favourite "{SETTING}" sets them.' if names else ""
        head = _comment(f"{question}?", reading, needs)
        found[f"{place:02}-{statement.name.replace('_', '-')}.cypher"] = f"{head}{statement.text};\n"
    return found


def _commands(statement):
    return {match.group(1): match.group() for match in PARAMETER.finditer(statement.try_line)}


def _comment(*paragraphs):
    lines = [line for paragraph in paragraphs for line in textwrap.wrap(paragraph, WIDTH - len("// "))]
    return "".join(f"// {line}\n" for line in lines)


def main():
    """Writes all files anew."""
    for path in FOLDER.glob("*.cypher"):
        path.unlink()
    for name, text in favourites().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
