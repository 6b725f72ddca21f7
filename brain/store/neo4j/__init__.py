"""Skills as a graph in Neo4j 5.26 or newer, Community or Enterprise, without plug-ins."""
