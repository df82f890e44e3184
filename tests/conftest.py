import os

# Small models gain nothing from threads, and on a busy machine threads wait for each other; before torch is imported.
os.environ["OMP_NUM_THREADS"] = "1"
