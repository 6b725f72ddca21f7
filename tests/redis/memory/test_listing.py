"""See `tests.contract.test_listing`."""

from tests.contract.test_listing import *  # noqa: F403  # the same tests, on the place of this folder
