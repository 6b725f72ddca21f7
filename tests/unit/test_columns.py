"""Do rows that were added stay what and where they are?"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from brain.analysis.columns import Blocks


@given(st.integers(0, 5), st.lists(st.integers(0, 9), max_size=12), st.data())
def test_blocks_hold_what_was_added(first, pages, data):
    rows = np.arange(2 * (first + sum(pages)), dtype=np.float32).reshape(-1, 2)
    blocks, done = Blocks(rows[:first]), first
    blocks.LEAST = 4
    seen = []
    for page in pages:
        blocks.extend(rows[done : done + page])
        done += page
        seen.append((done, blocks.parts()))
    for count, parts in seen:  # a view that was given out is not touched by what came later
        assert np.concatenate(parts).tolist() == rows[:count].tolist()
    wanted = np.array(data.draw(st.lists(st.integers(0, done - 1), max_size=9) if done else st.just([])), np.int64)
    assert blocks.of(wanted).tolist() == rows[wanted].tolist()
