"""Where do the tests get the sample graph of examples/ from?"""

import importlib.util
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def sample_graph():
    """The module examples/sample_graph.py."""
    if "sample_graph" not in sys.modules:
        spec = importlib.util.spec_from_file_location("sample_graph", EXAMPLES / "sample_graph.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules["sample_graph"] = module
        spec.loader.exec_module(module)
    return sys.modules["sample_graph"]
