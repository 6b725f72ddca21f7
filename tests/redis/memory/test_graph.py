"""See `tests.contract.test_graph`."""

from tests.contract.test_graph import *  # noqa: F403  # the same tests, on the place of this folder
