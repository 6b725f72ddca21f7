"""YAML workflows of brain and LLM agents, as OrKa's users have them (guide, "YAML Workflow Configuration").

The way of a workflow: `document` and `overrides` give values with their places, `schema` makes `records` of them,
`check` (with `compiling`, `references`, `plan`) tells everything that is wrong at once, `run` carries
the plan out, `acting` does what one agent does (`rendering` in its `sandbox` within `bounds`, with `helpers` and
`loops`, `llm`, `answers`, `choosing`, `brain_agent` with `payload`, `validator`), and `trace` keeps what was done.
"""
