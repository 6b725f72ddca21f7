"""A client of one's own: starts the server, learns a skill and recalls it for a task in another field.

It needs `pip install ".[mcp]"` in this repository, and the command `brain` on the path.

    python examples/mcp/client.py
"""

import asyncio
import os

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

PLACE = {name: value for name, value in os.environ.items() if name.startswith("BRAIN_")}
"""The server gets only what it is given of the environment: here, where the skills are kept."""


async def main() -> None:
    """One session."""
    async with Client(StdioServerParameters(command="brain", args=["mcp"], env=PLACE)) as client:
        await client.call_tool(
            "learn",
            {
                "task": "Find out why a patient feels ill: analyze the symptoms, test possible causes and conclude",
                "domain": "medicine",
                "steps": ["gather the symptoms", "form several hypotheses", "test each hypothesis", "conclude"],
                "success": True,
                "trace_id": "patient-17",
            },
        )
        found = await client.call_tool(
            "recall",
            {"task": "Find out why the build fails: read the reports, test possible causes", "domain": "software"},
        )
        print(found.content[0].text)  # for a model
        for skill in found.structured_content["skills"]:  # for a program
            print(skill["skill_id"], skill["scores"]["combined"])


if __name__ == "__main__":
    asyncio.run(main())
