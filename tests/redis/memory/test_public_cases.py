"""See `tests.contract.test_public_cases`."""

from tests.contract.test_public_cases import *  # noqa: F403  # the same tests, on the place of this folder
