"""The theory, runnable: Turing machines, FASP, and a compiler to transformer weights (paper, section 5)."""
