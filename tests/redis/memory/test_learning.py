"""See `tests.contract.test_learning`."""

from tests.contract.test_learning import *  # noqa: F403  # the same tests, on the place of this folder
