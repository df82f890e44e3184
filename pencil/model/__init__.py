"""The paper's transformer, its cache and its checkpoints; nothing here knows of calls and returns."""
