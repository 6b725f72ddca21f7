"""How does a model's client reach the brain? A server of the Model Context Protocol: tools, resources and a prompt.

`fence`, `budget` and `page` need no protocol: whoever puts recalled skills into a model's context by hand can use them.
"""
