"""Do secrets leave a file before anything of it is stored, and can what is left still be read?"""

import pytest
import yaml

from brain.skillfiles.exporting import export_skills
from brain.skillfiles.importing import import_skills
from tests.contract.samples import bread, skill
from tests.skillfiles.conftest import PLAIN

KEY = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
MAIL = "jane.doe@corp-mail.com"

SECRETS = f"""---
name: deploy
description: >-
  Deploy the service. Use the key {KEY}
  when asked.
metadata:
  author: {MAIL}
  contacts: [{MAIL}, "{MAIL}"]
  api_key: "{KEY}"
# ask {MAIL}
license: MIT
---

1. Log in with {TOKEN}
2. Write to {MAIL}
"""


def everything(brain):
    store = brain._memory.store
    return repr([(one.skill.to_dict(), one.profile, one.terms, one.traces) for page in store.export() for one in page])


def test_no_secret_of_a_file_is_stored_and_the_file_stays_valid(write, brain, other, tmp_path):
    report = import_skills(brain, write(SECRETS, "deploy", **{"scripts/run.sh": f"export TOKEN={TOKEN}\n"}))
    stored = everything(brain)
    assert not any(secret in stored for secret in (KEY, TOKEN, MAIL))
    assert report.redacted.total() >= 8 and {"email", "api_key"} <= set(report.redacted)
    assert "redacted" in {warning.rule for warning in report.imported[0].warnings}
    export_skills(brain, tmp_path / "out")
    text = (tmp_path / "out" / "deploy" / "SKILL.md").read_text("utf-8")
    told = yaml.safe_load(text.split("---\n")[1])
    assert told["license"] == "MIT" and isinstance(told["metadata"]["author"], str)
    assert [type(one) for one in told["metadata"]["contacts"]] == [str, str]
    again = import_skills(other, tmp_path / "out")
    assert again.redacted.total() == 0
    assert other.get_skill("deploy").skill_file == brain.get_skill("deploy").skill_file


@pytest.mark.parametrize(
    "told", ["<password>swordfish9</password>", f"Authorization: Bearer abcdef12\\\n   {'a1b2c3d4' * 4}"]
)
def test_a_secret_that_only_markdown_s_own_marks_tell_is_not_in_the_steps(told, write, brain):
    body = f"1. Send {told} along\n2. Wait\n"
    report = import_skills(brain, write(f"---\nname: deploy\ndescription: y\n---\n{body}", "deploy"))
    stored = everything(brain)
    assert "swordfish9" not in stored and "a1b2c3d4" not in stored
    assert report.redacted.total() == 1 and "[redacted" in brain.get_skill("deploy").procedure[0].action


def test_the_same_file_is_known_again_though_it_was_redacted(write, brain):
    import_skills(brain, write(SECRETS, "deploy"))
    assert import_skills(brain, write(SECRETS, "deploy")).imported[0].status == "unchanged"


def test_nothing_is_touched_where_there_is_nothing_to_hide_or_when_asked(write, brain, other, tmp_path):
    report = import_skills(brain, write(PLAIN))
    assert report.redacted.total() == 0
    import_skills(other, write(SECRETS, "deploy"), redact=False)
    export_skills(other, tmp_path / "out", ["deploy"])
    assert (tmp_path / "out" / "deploy" / "SKILL.md").read_text("utf-8") == SECRETS


def test_secrets_in_what_travels_in_the_metadata_are_replaced_too(brain, other, tmp_path):
    brain.observe(**bread(), skill_id="bread", skill_name="Bread")
    brain.feedback("bread", {"task": f"mail {MAIL}"}, True, {"token": TOKEN})
    brain.skill_graph.save_skill(skill("friend", f"use {KEY}", tags=[MAIL]))
    brain.skill_graph.add_edge("bread", "COMPLEMENTS", "friend", {"who": MAIL})
    export_skills(brain, tmp_path)
    report = import_skills(other, tmp_path)
    stored = everything(other) + repr(other.skill_graph.get_edges("bread"))
    assert report.refused == [] and report.redacted.total() >= 3
    assert not any(secret in stored for secret in (KEY, TOKEN, MAIL))
    assert other.get_skill("bread").id == "bread"
    assert other.get_skill("bread").created_at == brain.get_skill("bread").created_at


@pytest.mark.parametrize(
    "place", ["description: |\n  key {}\n  more\n", "description: 'a {} b'\n", "description: {}\n"]
)
def test_a_description_is_redacted_in_any_form(place, write, brain):
    import_skills(brain, write(f"---\nname: x\n{place.format(KEY)}---\nbody\n", "x"))
    found = brain.get_skill("x")
    assert KEY not in everything(brain) and "redacted" in found.description
