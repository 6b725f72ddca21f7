"""Deciding and writing: `Brain` and what it is made of."""
