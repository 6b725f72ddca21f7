"""The guide's ten scenarios, to try the whole cycle without a server or an LLM."""
