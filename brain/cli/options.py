"""Which options do commands share? Each is defined here once."""

from __future__ import annotations

from typing import Annotated

import typer

from brain.config import STORE_VARIABLE

EMBEDDER_VARIABLE = "BRAIN_EMBEDDER"
"""Environment variable that names the embedder of the CLI."""

_PANEL = "Common options"

Location = Annotated[
    str | None,
    typer.Option(
        "--store",
        envvar=STORE_VARIABLE,
        metavar="LOCATION",
        help="Where the skills are kept: sqlite:///skills.db, neo4j://user:password@host:7687, "
        "redis://host:6379/0. By default a file in the user's data folder.",
        rich_help_panel=_PANEL,
    ),
]
Namespace = Annotated[
    str,
    typer.Option("--namespace", metavar="NAME", help="Which of the store's separate memories.", rich_help_panel=_PANEL),
]
EmbedderName = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        envvar=EMBEDDER_VARIABLE,
        metavar="MODEL",
        help="Embedding model: a name for sentence-transformers, or a folder. By default none.",
        rich_help_panel=_PANEL,
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", metavar="", help="Print data as one JSON document.", rich_help_panel=_PANEL)
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", metavar="", help="No notices and no progress; warnings and errors stay.", rich_help_panel=_PANEL
    ),
]
SkillId = Annotated[
    str,
    typer.Argument(
        metavar="SKILL_ID", help="The id of a skill, in full; after -- if it begins with a dash.", show_default=False
    ),
]
