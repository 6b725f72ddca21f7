"""See `tests.contract.test_damage`."""

from tests.contract.test_damage import *  # noqa: F403  # the same tests, on the place of this folder
