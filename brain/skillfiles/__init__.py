"""What does a skill look like as a SKILL.md folder? Reading and writing, by the Agent Skills specification."""
