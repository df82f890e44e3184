import pytest

from pencil.errors import ParseError
from pencil.tasks.einstein.english import read_clue


@pytest.mark.parametrize(
    ("sentence", "meaning"),
    [
        ("the one who keeps Dogs is the same house as the Red house", "Dogs SAME Red"),
        ("the Brit is immediately to the right of the German", "Brit RIGHT German"),
        ("the one who smokes Blue Master is next to the Blue house", "Blue Master NEXT Blue"),
        ("the one who smokes Pall Mall is in House#5", "Pall Mall POSITION House#5"),
        ("The Englishman lives in the red house", "Brit SAME Red"),
        ("The British man lives in the red house", "Brit SAME Red"),
        ("THE BRIT LIVES IN THE RED HOUSE", "Brit SAME Red"),
        ("In the red house lives the Brit", "Red SAME Brit"),
        ("The Swede keeps dogs as pets", "Swede SAME Dogs"),
        ("The Swede breeds dogs", "Swede SAME Dogs"),
        ("The green homeowner drinks coffee", "Green SAME Coffee"),
        ("The green house's owner drinks coffee", "Green SAME Coffee"),
        ("Coffee is drunk in the green house", "Coffee SAME Green"),
        ("The Pall Mall smoker raises birds", "Pall Mall SAME Birds"),
        ("Birds are kept by the person who smokes pall malls", "Birds SAME Pall Mall"),
        ("The owner who smokes Bluemasters drinks bier", "Blue Master SAME Beer"),
        ("The German’s favourite cigarette is Prince", "German SAME Prince"),
        ("The man living in the center house drinks milk", "Milk POSITION middle"),
        ("Milk is drunk in the middle house", "Milk POSITION middle"),
        ("The man living in the house right in the centre drinks milk", "Milk POSITION middle"),
        ("The Norwegian lives in the first house on the left", "Norwegian POSITION House#1"),
        ("The Norwegian lives in the leftmost house", "Norwegian POSITION House#1"),
        ("The Norwegian lives in house number 2", "Norwegian POSITION House#2"),
        ("The Norwegian lives in the 4th house", "Norwegian POSITION House#4"),
        ("The Norwegian lives in the last house", "Norwegian POSITION last"),
        ("The man who smokes Blends lives next door to the one who keeps cats", "Blend NEXT Cats"),
        ("The man who smokes Blend has a neighbour who drinks water", "Blend NEXT Water"),
        ("The Norwegian lives right next to the blue house", "Norwegian NEXT Blue"),
        ("The Norwegian lives by the blue house", "Norwegian NEXT Blue"),
        ("The Swede and the Dane live next to each other", "Swede NEXT Dane"),
        ("The green house is on the left of the white house", "Green LEFT White"),
        ("The green house is just to the left of the white one", "Green LEFT White"),
        ("The green house is next to, and on the left of the white house", "Green LEFT White"),
        ("The green house is exactly one house to the left of the white house", "Green LEFT White"),
        ("To the left of the white house is the green house", "Green LEFT White"),
        ("The white house has the green house on its left", "Green LEFT White"),
        ("The white house's left neighbor is the green house", "Green LEFT White"),
        ("The green house is the left neighbor of the white house", "Green LEFT White"),
        ("The white house is directly right of the green house", "White RIGHT Green"),
    ],
)
def test_common_wordings(sentence: str, meaning: str) -> None:
    clue = read_clue(sentence)
    assert f"{clue.first} {clue.relation} {clue.second}" == meaning


@pytest.mark.parametrize(
    ("sentence", "complaint"),
    [
        ("The Brit lives in the purple house", "found 'purple', expected a known value"),
        ("The purple house is next to the Brit and the Swede", "found 'purple'"),
        ("The Brit does not live in the red house", "found 'does'"),
        ("The Brit lives in the red or the green house", "found 'or'"),
        ("The Brit lives somewhere to the left of the Swede", "found 'somewhere'"),
        ("The Brit lives two doors to the left of the Swede", "found 'two'"),
        ("The Brit lives in house 6", "found 'house#6'"),
        ("The Brit the red house", "expected one relation"),
        ("the one who keeps Dogs the one who drinks Tea", "expected one relation"),
        ("The Brit is left of the right neighbor of the Swede", "expected one relation"),
        ("The Brit has a neighbor whose neighbor keeps dogs", "expected one relation"),
        ("The Brit lives next to the house to the right of the red house", "expected one relation"),
        ("The Brit lives to the left of the neighbor of the Swede", "expected one relation"),
        ("The Dane lives to the left of the house next to the German", "expected one relation"),
        ("The Brit lives in the left house", "expected X is immediately to the left of Y"),
        ("The green house and the white house are left", "expected X is immediately to the left of Y"),
        ("The Brit keeps", "expected two different values"),
        ("The Brit keeps dogs and drinks tea", "expected two different values"),
        ("The Brit is the Brit", "expected two different values"),
        ("The Brit keeps dogs in the first house", "expected two different values"),
        ("The Brit lives next to the first house", "expected two different values"),
        ("", "found nothing"),
    ],
)
def test_what_is_not_a_clue_is_refused(sentence: str, complaint: str) -> None:
    with pytest.raises(ParseError) as caught:
        read_clue(sentence, "clue 7")
    assert str(caught.value).startswith("clue 7: ")
    assert complaint in str(caught.value)
