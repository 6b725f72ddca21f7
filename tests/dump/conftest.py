"""What do the tests of dumps stand on? Stores of every kind, as those of copying do."""

from tests.mirror.test_moving import place

__all__ = ["place"]
