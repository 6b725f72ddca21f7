"""What runs a YAML workflow? Loading and checking the file, templates, agents, the run."""
