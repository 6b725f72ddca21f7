"""Do the notebooks of examples/ run from top to bottom, and are they kept without what they printed?

With BRAIN_PICTURES=1 they run where they stand, and save their pictures to examples/pictures.
"""

import importlib.util
import json
import os
import re
import shutil
import uuid

import pytest

from tests.conftest import OPENED
from tests.interface.sample import EXAMPLES
from tests.services import missing
from tests.shared_data import FOLDER

NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))
NEEDED = ("nbclient", "nbformat", "ipykernel", "matplotlib", "networkx", "rustworkx", "neo4j_viz")
MOST_SECONDS = 60
"""Of computing, for a whole notebook; and of waiting, for one cell."""
MEASURE = "import time; print('seconds', time.process_time())"
OVERLAPS = """
from itertools import combinations
from matplotlib.backends.backend_agg import FigureCanvasAgg
canvas = FigureCanvasAgg(figure)
canvas.draw()
boxes = [text.get_window_extent(canvas.get_renderer()) for text in axes.texts]
print(len(boxes), "titles,", sum(one.overlaps(other) for one, other in combinations(boxes, 2)), "overlaps")
"""


def read(name):
    return json.loads((EXAMPLES / name).read_text("utf-8"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where to run: a copy, away from the checkout; the folder itself if pictures are wanted."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        missing(f'The notebooks need {", ".join(absent)}: pip install ".[notebooks]"')
    for variable in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))
    if os.environ.get("BRAIN_PICTURES"):
        return EXAMPLES
    copied = tmp_path / "examples"
    shutil.copytree(EXAMPLES, copied, ignore=shutil.ignore_patterns("pictures", ".*"))
    return copied


def run(folder, name, *, behind="", code="", **parameters):
    """All that the notebook printed; `parameters` replace those of its cell with this tag, and `code` is run behind the
    cell that draws the picture `behind`.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(folder / name, 4)
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if "parameters" in cell.metadata.get("tags", []):
            given = "\n".join(f"{key} = {value!r}" for key, value in parameters.items())
            cells.append(nbformat.v4.new_code_cell(given))
        if behind and f'"{behind}")' in cell.source:
            cells.append(nbformat.v4.new_code_cell(code))
    notebook.cells = [*cells, nbformat.v4.new_code_cell(MEASURE)]
    client = NotebookClient(
        notebook, timeout=MOST_SECONDS, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    assert float(printed.rpartition("seconds ")[2]) < MOST_SECONDS
    drawn = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(drawn) >= len(pictures_of(name))
    return printed


def pictures_of(name):
    return re.findall(
        r'keep\([^\n]*"([\w-]+\.png)"\)', "".join("".join(cell["source"]) for cell in read(name)["cells"])
    )


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_without_what_it_printed(name):
    notebook = read(name)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None), cell["source"]
        assert set(cell["metadata"]) <= {"tags"}
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_the_pictures_of_a_notebook_stand_beside_it(name):
    pictures = pictures_of(name)
    assert pictures
    for picture in pictures:
        assert 20_000 < (EXAMPLES / "pictures" / picture).stat().st_size < 500_000, picture


def test_quickstart_learns_recalls_and_forgets(folder):
    printed = run(folder, "quickstart.ipynb")
    assert "created  Diagnosis by elimination" in printed
    assert "0.66  Diagnosis by elimination, learned in medicine" in printed
    assert "bread: []" in printed
    assert "'deleted': 3" in printed


@pytest.mark.neo4j
def test_analytics_of_the_graph_on_neo4j(folder, neo4j_server):
    namespace = f"test-{uuid.uuid4().hex}"
    OPENED.add(namespace)
    given = {"namespace": namespace, "location": neo4j_server.location}
    printed = run(folder, "graph_analytics.ipynb", behind="analytics-communities.png", code=OVERLAPS, **given)
    assert int(re.search(r"(\d+) skills, \d+ transfers", printed).group(1)) > 200
    assert float(re.search(r"modularity (\d\.\d+)", printed).group(1)) > 0.5
    communities = re.search(r"(\d+) communities", printed).group(1)
    assert f"{communities} titles, 0 overlaps" in printed


def test_quality_runs_on_the_examples_own_words(folder):
    printed = run(folder, "recall_quality.ipynb")
    assert "240 questions in each of three wordings" in printed
    assert ("Left out: " in printed) == (folder != EXAMPLES or not FOLDER.is_dir())


def test_quality_runs_on_the_public_sets_where_they_are(folder):
    if not FOLDER.is_dir():
        pytest.skip("the public sets stand beside the checkout, in shared/data, and are not here")
    assert "Left out: " not in run(EXAMPLES, "recall_quality.ipynb")
