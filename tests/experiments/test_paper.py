from experiments.paper import PUZZLES, SIZES, TABLE_PUZZLE, TABLE_SAT_QBF


def test_every_row_has_a_number_for_every_size() -> None:
    for formats in TABLE_SAT_QBF.values():
        assert all(len(row) == len(SIZES) for metrics in formats.values() for row in metrics.values())
    assert all(len(row) == len(PUZZLES) for metrics in TABLE_PUZZLE.values() for row in metrics.values())


def test_a_few_numbers_as_printed() -> None:
    at = {size: place for place, size in enumerate(SIZES)}
    assert TABLE_SAT_QBF["sat"]["cot"]["accuracy"][at[7]] == 84
    assert TABLE_SAT_QBF["sat"]["pencil"]["trace_rate"][at[10]] == 83.0
    assert TABLE_SAT_QBF["qbf"]["cot"]["trace_rate"][at[9]] == 40.7
    assert TABLE_PUZZLE["pencil"] == {"accuracy": (99, 100, 97), "trace_rate": (99.66, 86.52, 78.27)}
