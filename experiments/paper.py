"""The numbers that the paper prints, exact; what its figures show without a number is not here."""

FORMATS = {"direct": "baseline", "cot": "CoT", "pencil": "PENCIL"}
"""Our names of the methods, and the paper's."""

SIZES = tuple(range(3, 11))
"""Variables of its SAT and QBF instances."""
PUZZLES = (3, 4, 5)
"""Houses of its puzzles."""

TABLE_SAT_QBF: dict[str, dict[str, dict[str, tuple[float, ...]]]] = {
    "sat": {
        "direct": {"accuracy": (66, 57, 46, 51, 46, 51, 49, 51)},
        "cot": {
            "accuracy": (100, 100, 100, 99, 84, 63, 54, 50),
            "trace_rate": (99.6, 99.0, 98.0, 96.2, 74.0, 69.9, 63.8, 51.4),
        },
        "pencil": {
            "accuracy": (100, 100, 100, 99, 99, 100, 100, 100),
            "trace_rate": (100, 99.0, 97.1, 95.9, 91.8, 93.3, 92.9, 83.0),
        },
    },
    "qbf": {
        "direct": {"accuracy": (90, 82, 85, 68, 60, 69, 71, 66)},
        "cot": {
            "accuracy": (100, 100, 97, 94, 74, 72, 69, 73),
            "trace_rate": (100, 100, 98.3, 93.9, 65.1, 49.4, 40.7, 32.8),
        },
        "pencil": {
            "accuracy": (100, 100, 100, 100, 100, 100, 100, 100),
            "trace_rate": (100, 100, 100, 100, 100, 100, 100, 100),
        },
    },
}
"""Table 1, in percent, by size; 10.63M parameters, a window of 2,048 tokens, 100 instances of each size."""

TABLE_PUZZLE: dict[str, dict[str, tuple[float, ...]]] = {
    "cot": {"accuracy": (99, 34, 25), "trace_rate": (99.37, 8.33, 2.97)},
    "pencil": {"accuracy": (99, 100, 97), "trace_rate": (99.66, 86.52, 78.27)},
}
"""Table 2, in percent, for 3x3, 4x4 and 5x5; 25.19M parameters."""

LENGTHS: dict[str, dict[str, tuple[int, int]]] = {
    "sat": {"cot": (10, 13_804), "pencil": (10, 2_507)},
    "qbf": {"cot": (10, 151_661), "pencil": (10, 649)},
    "einstein": {"cot": (5, 151_192), "pencil": (5, 3_335), "no tail recursion": (5, 7_705)},
}
"""The figure of maximal lengths: a size and the longest sequence, where the text states it."""

SECONDS: dict[str, tuple[int, float]] = {"sat": (10, 10), "qbf": (10, 40), "einstein": (5, 42.98)}
"""The figure of inference time: a size that PENCIL solves and the seconds for one instance; those of SAT and QBF are
"around" that."""
SOLVED = 0.95
"""From this accuracy on a size counts as solved in that figure."""

SMALLEST_MILLIONS, SMALLEST_LAYERS = 3.15, 4
"""The smallest model that solves 3x3 puzzles consistently with PENCIL: parameters and layers."""
