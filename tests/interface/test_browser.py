"""Does Neo4j Browser show what the tour promises? A real Browser in a real Chromium, on the sample graph.

With BRAIN_PICTURES=1 the pictures of the README are taken anew, into examples/pictures.
"""

import os
import re
import subprocess
import sys

import neo4j
import pytest
from playwright.sync_api import expect, sync_playwright

from brain.errors import LocalServerError
from brain.model.relations import Relation
from brain.neo4j_local import LocalNeo4j
from brain.store.statements import data_folder, load
from tests.interface.favourites import FOLDER, PARAMETER, SETTING, favourites, tour
from tests.interface.neo4j_browser import NeoBrowser, chromium
from tests.interface.sample import EXAMPLES, sample_graph
from tests.services import missing

pytestmark = [pytest.mark.neo4j, pytest.mark.xdist_group("browser")]

STYLE = FOLDER / "style.grass"
PICTURES = EXAMPLES / "pictures"
SHOWN = {"how_a_skill_works": "browser-skill.png", "domains_that_share_a_shape": "browser-shapes.png"}
"""Queries whose pictures stand in the README."""
TABLES = {"transfers_between_domains", "most_reused_steps", "namespaces"}
FEWEST_SHOWN = 3
"""Nodes or rows with which an answer of the tour tells nothing yet."""
LABELS = "Skill Step Condition Shape Domain Tag Trace Transfer".split()
STATEMENTS = load(data_folder("cypher"), "*.cypher")
SLOTS = {"relations": "|".join(Relation), "depth": "2"}


def rules(grass):
    """Selector -> its properties, as Browser reads a style sheet."""
    found = {}
    for selector, body in re.findall(r"([\w.]+) \{\n(.*?)\n\}", grass, flags=re.S):
        found[selector] = dict(re.findall(r"^  ([\w-]+): '?(.*?)'?;$", body, flags=re.M))
    return found


RULES = rules(STYLE.read_text("utf-8"))


@pytest.fixture(scope="module")
def server():
    try:
        with LocalNeo4j(ephemeral=True) as found:
            location = found.uri.replace("://", f"://{found.user}:{found.password}@", 1)
            sample_graph().make(location)
            yield found
    except LocalServerError as error:
        missing(f"No Neo4j Browser for the tests: {error}")


@pytest.fixture(scope="module")
def driver(server):
    with neo4j.GraphDatabase.driver(server.uri, auth=(server.user, server.password)) as found:
        yield found


@pytest.fixture(scope="module")
def chrome():
    with sync_playwright() as playwright:
        found = chromium(playwright)
        yield found
        found.close()


@pytest.fixture(scope="module")
def styled(server, chrome):
    """Browser after a log-in and a drop of the style sheet."""
    found = logged_in(server, chrome)
    found.drop("style.grass", STYLE.read_bytes())
    yield found
    found.page.context.close()


@pytest.fixture
def fresh(server, chrome):
    """Browser as it is on a first visit."""
    found = logged_in(server, chrome)
    yield found
    found.page.context.close()


def logged_in(server, chrome):
    found = NeoBrowser(chrome.new_context(viewport={"width": 1400, "height": 860}).new_page())
    found.log_in(server.browser_url, server.user, server.password)
    return found


def returned(driver, statement):
    """What the driver gets for a statement of the tour: nodes by id, relationships by id, columns, rows."""
    given = {}
    if statement.try_line:
        expressions = ", ".join(f"{value} AS {name}" for name, value in PARAMETER.findall(statement.try_line))
        given = driver.execute_query(f"RETURN {expressions}").records[0].data()
    records, _, columns = driver.execute_query(statement.text, given)
    values = list(flattened([list(record.values()) for record in records]))
    nodes, relationships = (
        {value.element_id: value for value in values if isinstance(value, kind)}
        for kind in (neo4j.graph.Node, neo4j.graph.Relationship)
    )
    return nodes, relationships, columns, records


def flattened(values):
    for value in values:
        if isinstance(value, list):
            yield from flattened(value)
        else:
            yield value


def worded(template, properties):
    """A caption of the style sheet for one node, as Browser words it: lists with commas between, nothing for null."""
    return " ".join(re.sub(r"\{(\w+)\}", lambda match: properties.get(match.group(1)) or "", template).split())


def test_every_question_stands_beside_the_tour_as_a_favourite():
    found = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.cypher")}
    assert found == favourites(), "write them anew: python -m tests.interface.favourites"


@pytest.mark.parametrize("name", sorted(tour().keys() - {"namespaces"}))  # the sample is in one
def test_every_question_has_an_answer_on_the_sample_that_one_learns_from(driver, name):
    nodes, _, _, records = returned(driver, tour()[name])
    assert max(len(nodes), len(records)) > FEWEST_SHOWN


def test_every_question_is_one_and_says_how_to_read_the_answer():
    for name, statement in tour().items():
        question, _, reading = statement.doc.partition("? ")
        assert question[0].isupper() and "." not in question, name
        assert reading.endswith("."), name
        assert statement.mode == "read", name


def test_the_style_tells_all_labels_and_relations_apart():
    nodes = [RULES[f"node.{label}"] for label in LABELS]
    edges = [RULES[f"relationship.{relation}"] for relation in Relation]
    colors = [rule["color"] for rule in (*nodes, *edges)]
    assert len(set(colors)) == len(colors)
    assert all(re.fullmatch(r"#[0-9A-F]{6}", color) for color in colors)
    assert all("{" in rule["caption"] for rule in nodes)
    assert all(float(rule["shaft-width"].removesuffix("px")) > 1 for rule in edges)


@pytest.mark.parametrize("way", ["drop", "command"])
def test_the_style_is_taken_as_it_stands(fresh, way):
    text = STYLE.read_text("utf-8")
    if way == "drop":
        fresh.drop("style.grass", text.encode())
    else:
        fresh.run(":style " + " ".join(text.split()))
    fresh.page.wait_for_function("() => JSON.parse(localStorage.getItem('neo4j.grass')) !== null")
    kept = fresh.stored("grass")
    assert {selector: kept[selector] for selector in RULES} == RULES


@pytest.mark.parametrize("name", sorted(set(tour()) - TABLES))
def test_the_graph_that_answers_is_drawn_in_the_colours_of_the_style(driver, styled, name):
    statement = tour()[name]
    if statement.try_line:
        styled.run(statement.try_line)
    frame = styled.run(statement.text)
    assert frame.error == ""
    nodes, relationships, _, _ = returned(driver, statement)
    assert len(nodes) > 1
    drawn = frame.nodes
    assert {node["id"] for node in drawn} == set(nodes)
    for node in drawn:
        rule = RULES[f"node.{node['label']}"]
        assert (node["color"], f"{node['diameter']:g}px") == (rule["color"], rule["diameter"]), node
        wanted = worded(rule["caption"], node["properties"])
        assert wanted and (node["caption"] == wanted or is_cut(node["caption"], wanted)), (node, wanted)
    arrows = frame.relationships
    assert set(relationships) <= {arrow["id"] for arrow in arrows}
    for arrow in arrows:
        rule = RULES["relationship"] | RULES.get(f"relationship.{arrow['type']}", {})
        assert arrow["color"] == rule["color"], arrow
    if name in SHOWN and os.environ.get("BRAIN_PICTURES"):
        frame.take_picture(PICTURES / SHOWN[name])


def is_cut(caption, wanted):
    """Whether Browser made `caption` of a text too long for its circle; it may leave out words before the last."""
    *words, last = caption.removesuffix("…").split()
    return wanted.startswith(" ".join(words)) and any(word.startswith(last) for word in wanted.split())


@pytest.mark.parametrize(("label", "fewest", "share"), [("Skill", 200, 0.95), ("Shape", 20, 0.85)])
def test_nearly_all_captions_fit_their_circles(styled, label, fewest, share):
    """Where Browser wraps words oddly, or the machine's letters are wide, some are cut."""
    found = styled.run(f'MATCH (n:{label}) WHERE n.namespace = "sample" RETURN n LIMIT 250').nodes
    rule = RULES[f"node.{label}"]
    whole = [node for node in found if node["caption"] == worded(rule["caption"], node["properties"])]
    assert len(found) >= fewest
    assert len(whole) > share * len(found)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_table_that_answers_has_all_rows(driver, styled, name):
    statement = tour()[name]
    if statement.try_line:
        styled.run(statement.try_line)
    frame = styled.run(statement.text)
    _, _, columns, records = returned(driver, statement)
    assert (frame.error, frame.columns) == ("", columns)
    assert records and len(frame.cells) == len(records) * len(columns)
    assert str(records[0][0]) in frame.cells[0]


@pytest.mark.parametrize("picture", SHOWN.values())
def test_the_picture_of_the_readme_is_there(picture):
    size = (PICTURES / picture).stat().st_size
    assert 20_000 < size < 500_000


def test_a_favourite_is_dropped_saved_and_run(fresh):
    titled = {text.partition("\n")[0].removeprefix("// "): (name, text) for name, text in favourites().items()}
    question = "How does this skill work?"
    for title in (SETTING, question):
        name, text = titled[title]
        fresh.drop(name, text.encode())
        fresh.page.get_by_role("button", name="Save to favorites").click()
    fresh.page.get_by_test_id("navigationFavorites").locator("button").click()
    for title in (SETTING, question):
        fresh.page.get_by_test_id(f"scriptTitle-{title}").click()
        frame = fresh.run_editor()
    assert frame.error == ""
    assert "Skill" in {node["label"] for node in frame.nodes}


def test_all_favourites_come_in_one_zip_with_a_folder_of_their_own(fresh, tmp_path):
    """As the folder's README makes it, itself and the style sheet included."""
    archive = tmp_path / "brain.zip"
    subprocess.run([sys.executable, "-m", "zipfile", "-c", archive, "browser"], cwd=EXAMPLES, check=True)
    fresh.drop(archive.name, archive.read_bytes())
    fresh.page.get_by_test_id("navigationFavorites").locator("button").click()
    fresh.page.get_by_test_id("expandFolder-browser").click()
    titles = fresh.page.get_by_test_id("savedScriptsFolder-browser").locator("[data-testid^=scriptTitle-]")
    expect(titles).to_have_count(len(tour()) + 1)


@pytest.mark.parametrize(
    "name", sorted(name for name, one in STATEMENTS.items() if one.mode == "read" and name not in tour())
)
def test_what_is_read_can_be_pasted_with_its_parameters(styled, name):
    """Of every other file in cypher/: the line sets each parameter to what the statement can use."""
    statement = STATEMENTS[name]
    if statement.try_line:
        styled.run(statement.try_line)
    assert styled.run(statement.filled(**SLOTS)).error == ""
