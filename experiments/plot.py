"""What all plots share."""

from pathlib import Path
from typing import Any


def subplots(rows: int, columns: int, width: float, height: float, **settings: Any) -> tuple[Any, Any]:
    """A figure and its axes, always in rows and columns; matplotlib is imported by those who draw."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (width * columns, height * rows)
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **settings)
    return figure, axes


def save_figure(figure: Any, path: Path) -> None:
    """Write a PNG and free the memory."""
    from matplotlib import pyplot

    figure.savefig(path, dpi=150)
    pyplot.close(figure)
