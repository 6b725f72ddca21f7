"""How does a new Neo4j version get its list of jars?

For maintainers, in a checkout: `python -m brain.neo4j_local.pin VERSION` resolves the version's jars
from public repositories, downloads them into a temporary folder, and writes `jars/neo4j-VERSION.txt`.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from brain.neo4j_local.pinned import Jar

BROWSER = "org.neo4j.client:neo4j-browser:5.21.0"
"""Neo4j Browser is not a dependency of the server, so it is pinned beside it."""


def roots(version: str) -> list[str]:
    """The coordinates that the whole list follows from."""
    return [f"org.neo4j:neo4j:{version}", f"org.neo4j.app:neo4j-server:{version}", BROWSER]


def resolve(version: str, folder: Path) -> list[Jar]:
    """Resolve and download the jars of `version` into `folder`; sorted by coordinate after the roots."""
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext, PythonResolver
    from jgo.parse import Coordinate

    context = MavenContext(
        resolver=PythonResolver(),
        repo_cache=folder,
        remote_repos={"central": MAVEN_CENTRAL_URL},
        timeout=60,
    )
    wanted = [context.create_dependency(Coordinate.parse(root)) for root in roots(version)]
    direct, transitive = context.resolver.resolve(wanted)
    artifacts = [dependency.artifact for dependency in direct]
    artifacts += [d.artifact for d in transitive if d.scope in ("compile", "runtime")]
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(_measured, (a for a in artifacts if a.packaging == "jar")))


def _measured(artifact: Any) -> Jar:
    content = Path(artifact.resolve()).read_bytes()
    return Jar(
        group=artifact.groupId,
        artifact=artifact.artifactId,
        classifier=artifact.classifier,
        version=artifact.version,
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
    )


def main(version: str) -> Path:
    """Write the list of one version and return its path."""
    with tempfile.TemporaryDirectory(prefix="brain-pin-") as folder:
        jars = resolve(version, Path(folder))
    target = Path(__file__).parent / "jars" / f"neo4j-{version}.txt"
    head = f"# Neo4j Community {version} and {BROWSER}, resolved. Written by brain.neo4j_local.pin.\n"
    target.write_text(head + "".join(f"{jar.line}\n" for jar in jars), encoding="utf-8")
    return target


if __name__ == "__main__":
    sys.stderr.write(f"{main(sys.argv[1])}\n")
