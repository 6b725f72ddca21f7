"""How do skills become folders with a SKILL.md? `export_skills`: each in its own, equal for equal skills."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brain.engine.memory import check_skill_id
from brain.engine.sync import memory_of
from brain.errors import InputError
from brain.model.skill import Skill
from brain.skillfiles.entries import with_entries
from brain.skillfiles.folder import write_folder
from brain.skillfiles.frontmatter import FrontMatterError
from brain.skillfiles.kept import file_of, files_of, is_as_imported
from brain.skillfiles.origin import is_origin
from brain.skillfiles.record import MOST_TRACES, Record, entries_of
from brain.skillfiles.rendering import rendered, slug, suffixed
from brain.skillfiles.skillfile import LARGEST, SkillFile
from brain.store.base import PAGE, Store, all_of
from brain.store.values import SeenTrace

if TYPE_CHECKING:
    from brain.engine.sync import SyncBrain

_DUMP = " (brain dump takes all along)"

NAMED = 5
"""Folders that a refusal names."""


@dataclass(frozen=True)
class Exported:
    """One skill as it was written: its id, its folder below the target, and what to know about it."""

    skill_id: str
    folder: str
    warnings: tuple[str, ...] = ()


def export_skills(
    brain: SyncBrain,
    target: Path,
    skill_ids: Sequence[str] | None = None,
    *,
    tag: str | None = None,
    force: bool = False,
    progress: Callable[[int], Any] = lambda _: None,
) -> list[Exported]:
    """Writes skills of `brain` as folders below `target`: those of `skill_ids`, or with `tag`, or all.

    A skill that was read from a SKILL.md and not used since is written as that file was, byte for byte but for a byte
    order mark; any other has in its metadata what the format has no field for. Skills of one name are told apart by
    their ids. A folder that is there is written into only with `force`; before the first is written, all are looked at.
    Raises `SkillNotFoundError`, `InputError`, `OSError`, `StoreError`.
    """
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is not a folder. Name one, new or not.")
    store = memory_of(brain).store
    folders = _folders(store, skill_ids, tag)
    there = [folder for folder in folders.values() if (target / folder).exists()]
    if there and not force:
        more = f" and {len(there) - NAMED} more" if len(there) > NAMED else ""
        raise InputError(
            f"{target} has {', '.join(there[:NAMED])}{more} already. Name another folder, or write over with --force."
        )
    exported = []
    for skill in _named(store, list(folders)):
        record = Record(skill, store.edges(skill.id), _traces(store, skill.id))
        text, warnings = skill_md(record, Path(folders[skill.id]).name)
        write_folder(target / folders[skill.id], text, files_of(skill))
        exported.append(Exported(skill.id, folders[skill.id], warnings))
        progress(1)
    return exported


def skill_md(record: Record, name: str | None = None) -> tuple[str, tuple[str, ...]]:
    """The text of the SKILL.md of a skill, and what does not go along. `name` is that of its folder."""
    skill = record.skill
    text = file_of(skill)
    if text is None:
        text = rendered(skill, name or slug(skill))
    elif is_as_imported(skill) and not record.edges and not record.traces:
        return text, ()
    try:
        told = with_entries(text, entries_of(record, text))
    except FrontMatterError:  # it was changed by hand in the store
        told = None
    if told is None:
        return text, (f"the metadata of its file has no room: how it was used stays behind{_DUMP}",)
    if len(told.encode()) > LARGEST:
        return told, (f"its file has over {LARGEST:,} bytes, and cannot be imported again{_DUMP}",)
    return told, ()


def _traces(store: Store, skill_id: str) -> list[SeenTrace]:
    return [seen for seen in store.traces(skill_id, MOST_TRACES) if not is_origin(seen)]


def _folders(store: Store, skill_ids: Sequence[str] | None, tag: str | None) -> dict[str, str]:
    """The folder of each skill by its id; of those that share a name, the first by id has it as it is."""
    folders: dict[str, str] = {}
    taken: set[str] = set()
    for skill in _chosen(store, skill_ids, tag):
        folder = _folder(skill, taken)
        folders[skill.id] = folder
        taken.add(folder.lower())
    return folders


def _folder(skill: Skill, taken: set[str]) -> str:
    name = _name_in_file(skill) or slug(skill)
    if name.lower() not in taken:
        return name
    apart = suffixed(name, skill.id)
    return apart if file_of(skill) is None else f"{apart}/{name}"  # a name in a file is left as it is


def _name_in_file(skill: Skill) -> str:
    """The name that a kept file gives itself, if a folder can be called so."""
    text = file_of(skill)
    try:
        return SkillFile.parse(text.encode()).name if text is not None else ""
    except InputError:
        return ""


def _chosen(store: Store, skill_ids: Sequence[str] | None, tag: str | None) -> Iterator[Skill]:
    """The skills to write, by id."""
    if skill_ids is None:
        return (skill for page in store.pages(tag=tag) for skill in page)
    wanted = sorted({check_skill_id(skill_id) for skill_id in skill_ids})
    return iter(all_of(wanted, list(_named(store, wanted)), store.namespace))


def _named(store: Store, skill_ids: Sequence[str]) -> Iterator[Skill]:
    """The live skills among `skill_ids`, a page at a time."""
    for start in range(0, len(skill_ids), PAGE):
        yield from store.get_many(skill_ids[start : start + PAGE])
