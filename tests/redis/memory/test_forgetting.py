"""See `tests.contract.test_forgetting`."""

from tests.contract.test_forgetting import *  # noqa: F403  # the same tests, on the place of this folder
