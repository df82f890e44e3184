"""Training at the paper's ideal cost: packed traces, online data, a loop that can be stopped at any step."""
