import pencil

PUBLIC = """
    TASKS Context Marks ParseError PencilError Reduction Segment SizeError Stats Step Task Trace TraceError
    TraceWriter Vocab VocabError get_task load measure reduce replay scaffold segments
"""


def test_the_public_names_are_these() -> None:
    assert sorted(pencil.__all__) == sorted(PUBLIC.split())


def test_every_public_name_is_there() -> None:
    for name in pencil.__all__:
        assert getattr(pencil, name) is not None
