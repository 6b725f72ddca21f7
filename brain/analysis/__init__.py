"""Pure thinking: text to features, trace to procedure, features to scores. No driver, no server."""
