"""See `tests.contract.test_byte_for_byte`."""

from tests.contract.test_byte_for_byte import *  # noqa: F403  # the same tests, on the place of this folder
