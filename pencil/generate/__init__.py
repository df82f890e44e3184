"""Running a model under the rule: events, sampling, the reference loop, the engine and text in, text out."""
