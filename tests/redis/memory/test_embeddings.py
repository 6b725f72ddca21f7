"""See `tests.contract.test_embeddings`."""

from tests.contract.test_embeddings import *  # noqa: F403  # the same tests, on the place of this folder
