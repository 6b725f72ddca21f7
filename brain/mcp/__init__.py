"""How does an agent reach the memory over the Model Context Protocol? The server of `brain mcp`."""
