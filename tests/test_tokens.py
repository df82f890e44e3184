import pytest
from hypothesis import given
from hypothesis import strategies as st

from pencil.errors import VocabError
from pencil.tokens import CALL, END, RETURN, SEP, SPECIAL_WORDS, Vocab, join, split

words = st.lists(st.text(st.characters(categories=["L", "N", "P"]), min_size=1) | st.just("\n"))


@given(words)
def test_split_undoes_join(sequence: list[str]) -> None:
    assert split(join(sequence)) == sequence


def test_a_newline_is_a_word() -> None:
    assert split("a\n b") == split("a \n b") == ["a", "\n", "b"]


@given(st.data())
def test_ids_round_trip(data: st.DataObject) -> None:
    vocab = Vocab(["x", "y", "\n"])
    sequence = data.draw(st.lists(st.sampled_from(vocab.words)))
    assert vocab.decode(vocab.encode(sequence)) == sequence


def test_special_words_come_first_and_give_the_marks() -> None:
    vocab = Vocab(["x"])
    assert vocab.words[: len(SPECIAL_WORDS)] == SPECIAL_WORDS
    assert vocab.decode([vocab.marks.call, vocab.marks.sep, vocab.marks.ret, vocab.end]) == [CALL, SEP, RETURN, END]


def test_an_unknown_word_is_named_with_its_place() -> None:
    with pytest.raises(VocabError, match="word 2 is 'z'"):
        Vocab(["x"]).encode(["x", "z"])


@pytest.mark.parametrize("bad", [-1, 7])
def test_an_id_outside_is_an_error(bad: int) -> None:
    with pytest.raises(VocabError, match=f"id {bad} is outside"):
        Vocab(["x"]).decode([bad])


@pytest.mark.parametrize("declared", [["x", "x"], [CALL]])
def test_a_word_is_declared_once(declared: list[str]) -> None:
    with pytest.raises(VocabError, match="declared twice"):
        Vocab(declared)


def test_vocabularies_compare_by_their_words() -> None:
    assert Vocab(["x"]) == Vocab(["x"]) != Vocab(["y"])
    assert len({Vocab(["x"]), Vocab(["x"])}) == 1
