"""See `tests.contract.test_recall`."""

from tests.contract.test_recall import *  # noqa: F403  # the same tests, on the place of this folder
