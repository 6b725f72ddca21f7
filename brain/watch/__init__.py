"""What is in the memory right now? The terminal dashboard of `brain watch`."""
