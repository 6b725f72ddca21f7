"""Which texts are secrets, and which only look like some? Replaced by form or by name, and counted; the rest stays."""

import json
import time
from collections import Counter

import pytest

from brain import Skill, SyncBrain
from brain.analysis.redaction import redact, redact_text
from brain.errors import InputError
from tests.shared_data import FOLDER, shared_json

SECRETS = {
    # text: what must be gone
    "sk-ant-api03-AbCdEf0123456789abcdef": "AbCdEf",
    "export OPENAI_API_KEY=sk-proj-abcDEF123456_7890-abc": "abcDEF",
    "AKIAIOSFODNN7EXAMPLE": "IOSFODNN",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY": "wJalr",
    "token ghp_a1b2c3d4e5a1b2c3d4e5a1b2c3d4e5a1b2c3": "a1b2c3",
    "glpat-abcdefghij0123456789": "abcdefghij",
    "xoxb-123456789012-abcdefghijkl": "123456789012",
    "AIzaSyA1234567890abcdefghijklmnopqrstuv": "SyA123",
    "stripe sk_live_abcdefghijklmnop": "abcdefghij",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH": "abcdefghij",
    "123456789:AAabcdefghijklmnopqrstuvwxyz0123456": "AAabcdef",
    "Authorization: Bearer abc": None,
    "Authorization: Bearer abcdefgh12345678": "abcdefgh1",
    "Authorization: Basic dXNlcjpwYXNz": "dXNlcjpwYXNz",
    "curl -H 'authorization: token abcd1234'": "abcd1234",
    "Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF123": "eyJ",
    "Set-Cookie: sid=abc123; Path=/": "abc123",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----": "MIIEow",
    "-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXk\\n": "b3Blbn",
    "postgres://bob:hunter2@db.example.org/x": "hunter2",
    "https://bob:p@ss:word@host/x": "ss:word",
    "password=hunter2": "hunter2",
    "PGPASSWORD=swordfish psql": "swordfish",
    "DB_PASS=x9": "x9",
    "Password: swordfish\nUser: bob": "swordfish",
    '{"password": "correct horse"}': "correct horse",
    '{\\"api_key\\": \\"abcd1234efgh\\"}': "abcd1234",
    'os.environ["API_KEY"] = "abc123xyz"': "abc123xyz",
    "password: str = 'hunter2'": "hunter2",
    "<password>swordfish</password>": "swordfish",
    "?access_token=abcdefg1&x=1": "abcdefg1",
    "--password hunter2 --verbose": "hunter2",
    "curl -u bob:hunter2 https://x": "hunter2",
    "sshpass -p hunter2 ssh bob@10.0.0.1": "hunter2",
    "the password is hunter2.": "hunter2",
    "Passwort: geheim42": "geheim42",
    "write to bob@example.com.": "bob@",
    "联系bob@x.com谢谢": "bob@",
    "jürgen@müller.de": "jürgen",
    "log in as bob with password hunter2, then go on": "hunter2",
    "my API key: abcd1234efgh5678": "abcd1234",
    "Secret Access Key: wJalrXUtnFEMI/K7MDENG": "wJalr",
    "a new vendor's prefix_v1_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4": "a1B2c3",
    "https://x.blob.example.org/f?sv=2&sig=a1b2c3d4e5f6%3D&se=2030": "a1b2c3",
    "docker login -u me -p hunter2 registry": "hunter2",
    "echo 'hunter2' | docker login --password-stdin": "hunter2",
    "machine api.example.org login me password hunter2": "hunter2",
    "redis-cli -a hunter2 ping": "hunter2",
    "htpasswd -b file user hunter2": "hunter2",
    "openssl enc -aes-256-cbc -pass pass:hunter2": "hunter2",
    "CREATE USER x IDENTIFIED BY 'hunter2'": "hunter2",
    "ALTER ROLE x WITH PASSWORD 'hunter2'": "hunter2",
    "Authorization: Bearer a1b2c3d4e5f6\\\ng7h8i9j0k1l2": "g7h8i9",
    '"sk-proj-abcDEF123456_7890-abc"\n    "g7h8i9j0k1l2"': "g7h8i9",
}

HARMLESS = [
    "def login(user, password: str) -> None:",
    "password=password, token=self.token",
    "password = get_password()",
    "token = tokens[3]",
    "password=$PASSWORD and https://${USER}:${PASS}@host",
    "password: required",
    "the password is required, and the token is invalid",
    "use --password to set it",
    "password: it must be long",
    "secret sauce: onion; the secret: it is good",
    "Bearer certificates and authentication-tokens",
    "max_tokens=100 and input_tokens: 2256",
    "token: Hello",
    "git@github.com:a/b.git",
    "logo@2x.png, react@18.2.0, pkg@1.2.3-beta.rc, actions/checkout@v4.beta",
    "commit 1d79dc1ec4db27e28f1f6b6a0f9f4bf5c5e0e1c2",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "dc34609e-3eeb-459d-bc2a-6fedb01d2e6e",
    "call_MY94XAcnfHzfAZcVHqt5FRRQ toolu_01USom24cuiyvAembLhEryrn chatcmpl-90c35dea-eb25-484c-aaa7-d9d00048f64a",
    "fc_07c65bfd34e192ce006941ac4bcf588196805e5b21f968823c",
    "/usr/lib/python3.11/site-packages/x.py:41",
    "sk-learn-very-long-name-here-for-test",
    "http://localhost:8080/a?key=value&page=2",
    "10:30:45 and 2026-01-01T00:00:00+00:00",
    "Größe ½ 日本語 👩‍👧 می‌خواهم",
    "test_ThatTheThirdOf10LongNamesWithDigits42IsNone",
    "my_module_name_1_that_is_rather_long_2_and_longer_3",
    "a password policy, password reset2, password fields, and password-based login",
    "API key: required; get your API key: https://example.org/keys",
    "the login page: -p is the port, and login -p $PORT",
    "grant it with password auth, identified by the key",
    "echo 'done' | tee log",
    "private key: ~/.ssh/id_rsa",
]


@pytest.mark.parametrize(("text", "gone"), [pair for pair in SECRETS.items() if pair[1]])
def test_a_secret_is_replaced(text, gone):
    found = redact(text)
    assert gone not in found.value and "[redacted " in found.value
    assert sum(found.counts.values()) >= 1


@pytest.mark.parametrize("text", SECRETS)
def test_redacting_twice_changes_nothing(text):
    once = redact(text).value
    assert redact(once) == redact(once).__class__(once, {})


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text):
    assert redact(text).value == text


def test_what_stands_around_a_secret_stays():
    assert redact_text("联系bob@x.com谢谢") == "联系[redacted email]谢谢"
    assert redact_text("https://bob:hunter2@host/x") == "https://bob:[redacted password]@host/x"
    assert redact_text('{"password": "a", "user": "b"}') == '{"password": "[redacted password]", "user": "b"}'


def test_the_value_of_a_name_is_replaced_and_kinds_are_counted():
    given = {
        "password": "hunter2",
        "dbPassword": 1234,
        "apiKeys": ["abcdefgh", "ijklmnop"],
        "headers": [{"name": "Authorization", "value": "Basic dXNlcjpwYXNz"}],
        "attribute": {"key": "db.password", "value": {"stringValue": "abc"}},
        "max_tokens": 5,
        "token": "Hello",
        "password_policy": "long",
        "requires_secrets": ["trello.token", "OPENAI_API_KEY", "aws.secretAccessKey"],
        "private": {"deep": ["mail a@b.org", {"token": "a1b2c3d4e5"}]},
    }
    found = redact(given)
    assert found.value == {
        "password": "[redacted password]",
        "dbPassword": "[redacted password]",
        "apiKeys": ["[redacted api key]"] * 2,
        "headers": [{"name": "Authorization", "value": "[redacted token]"}],
        "attribute": {"key": "db.password", "value": {"stringValue": "[redacted password]"}},
        "max_tokens": 5,
        "token": "Hello",
        "password_policy": "long",
        "requires_secrets": ["trello.token", "OPENAI_API_KEY", "aws.secretAccessKey"],
        "private": {"deep": ["mail [redacted email]", {"token": "[redacted token]"}]},
    }
    assert found.counts == {"password": 3, "api_key": 2, "token": 2, "email": 1}
    assert given["password"] == "hunter2"


def test_keys_are_redacted_too_and_none_is_lost():
    assert redact({"a@b.org": 1, "c@d.org": 2}).value == {"[redacted email]": 1, "[redacted email] 2": 2}


def test_values_of_every_kind_come_back_as_they_were():
    value = {"a": [1, 2.5, None, True, "", {"b": []}], "c": {}}
    assert redact(value).value == value and redact(value).counts == {}


def test_what_is_nested_too_deeply_is_not_let_through_unread():
    value = "a@b.org"
    for _ in range(10_000):
        value = [value]
    assert "a@b.org" not in json.dumps(redact(value).value)


GREEDY = {
    "letters": "a",
    "at signs": "a@",
    "dots": "a.",
    "keys": "-----BEGIN PRIVATE KEY-----",
    "names": "password=",
    "names and blanks": "password" + " " * 50,
    "options": "--password ",
    "dashes": "a-",
    "addresses": "://a:",
    "headers": "authorization: ",
    "tokens": "eyJ",
    "commands": "curl -u ",
    "logins": "docker login ",
    "machines": "machine a login b ",
    "pipes": "echo a |",
    "prefixes": "a1_",
    "signatures": "://?sig=",
    "statements": "identified by '",
}


@pytest.mark.parametrize("piece", GREEDY.values(), ids=GREEDY)
def test_the_time_grows_with_the_length(piece):
    def seconds(size):
        text, begun = piece * (size // len(piece)) + "token", time.process_time()
        redact(text)
        return time.process_time() - begun

    seconds(1_000)
    assert min(seconds(400_000) for _ in range(2)) < 32 * max(0.01, min(seconds(50_000) for _ in range(2)))


@pytest.mark.parametrize("piece", ["a_", "a.", "aB", "a1_", "key."])
def test_a_value_that_only_begins_like_a_name_takes_no_time(piece):
    begun = time.process_time()
    redact({"api_key": piece * 5_000 + "!", "secrets": [piece * 60 + "!"] * 20})
    assert time.process_time() - begun < 2


def leaves(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from leaves(item)


def test_texts_as_found_hold_nothing_but_addresses():
    shared_json("traces/index.json")
    counts = Counter()
    for file in FOLDER.rglob("*"):
        if file.suffix in (".json", ".jsonl", ".md", ".traj"):
            counts.update(redact(file.read_text("utf-8")).counts)
    assert set(counts) == {"email"}


STEP = {"action": "log in", "description": "with password=hunter2", "parameters": {"api_key": "abcdefgh"}}
TASK = "Mail alice@example.com the report"
EXECUTION = {
    "execution_trace": {"steps": [STEP, "write to bob@example.com"]},
    "context": {"task": TASK, "domain": "mail"},
    "outcome": {"success": True},
}
GONE = ("hunter2", "abcdefgh", "alice@", "bob@", "carol@")


@pytest.fixture
def opened():
    brains = []

    def opens(**options):
        brains.append(SyncBrain.open("sqlite://:memory:", **options))
        return brains[-1]

    yield opens
    for brain in brains:
        brain.close()


def everything(brain):
    """All that a brain keeps, as text."""
    skills = brain.get_skills()
    traces = [trace.to_dict() for skill in skills for trace in brain.get_traces(skill.id)]
    edges = [edge.to_dict() for skill in skills for edge in brain.skill_graph.get_edges(skill.id)]
    return json.dumps([[skill.to_dict() for skill in skills], traces, edges], default=str)


def test_a_brain_opened_with_redact_keeps_no_secrets(opened):
    brain = opened(redact=True)
    skill = brain.learn(**EXECUTION)
    brain.learn_many([EXECUTION | {"context": {"task": f"{TASK} again"}}])
    saved = Skill(id="a@b.org", name="x", description="Bearer abcdefgh12345678", tags=["carol@example.com"])
    brain.skill_graph.save_skill(saved)
    brain.skill_graph.save_skills([saved.model_copy(update={"id": "second"})])
    brain.skill_graph.add_edge(skill.id, "COMPLEMENTS", "second", {"who": "carol@example.com"})
    brain.feedback(skill.id, {"task": "as bob@example.com"}, True, {"password": "hunter2"})
    kept = everything(brain)
    assert not [secret for secret in GONE if secret in kept]
    assert brain.get_skill("a@b.org") is not None  # an id is no text
    assert brain.redacted["email"] > 5 and brain.redacted["password"] > 1


def test_a_context_to_recall_for_is_treated_alike(opened):
    brain = opened(redact=True)
    brain.learn(**EXECUTION)
    assert brain.recall({"task": TASK, "domain": "mail"})[0].semantic_score == 1.0


def test_by_default_a_brain_keeps_what_it_is_told(opened):
    brain = opened()
    brain.learn(**EXECUTION)
    assert "hunter2" in everything(brain) and brain.redacted == {}


def test_the_switch_is_checked(opened):
    with pytest.raises(InputError, match="redact must be True or False"):
        opened(redact="yes")
