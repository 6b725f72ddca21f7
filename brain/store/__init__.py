"""Keeping: the store protocol and its implementations."""
