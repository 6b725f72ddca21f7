"""Is the terminal still there? One that is killed tells only the session that it leads."""

import select
import sys


def terminal_is_gone() -> bool:
    """Whether nobody is at the other end of standard input; False where that cannot be asked (Windows)."""
    if not hasattr(select, "poll"):
        return False
    asked = select.poll()
    asked.register(sys.stdin, 0)
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in asked.poll(0))
