"""See `tests.contract.test_feedback`."""

from tests.contract.test_feedback import *  # noqa: F403  # the same tests, on the place of this folder
