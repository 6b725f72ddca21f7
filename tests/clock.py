"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    def __init__(self, now=datetime(2026, 1, 1, 12, tzinfo=UTC)):
        self.now = now

    def __call__(self):
        return self.now

    def advance(self, **delta):
        self.now += timedelta(**delta)
