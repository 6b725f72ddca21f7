"""See `tests.contract.test_bad_input`."""

from tests.contract.test_bad_input import *  # noqa: F403  # the same tests, on the place of this folder
