from itertools import islice

import pytest
import torch

from pencil.generate.engine import Engine
from pencil.generate.events import Token as Said
from pencil.generate.limits import Limits
from pencil.generate.reference import reference
from pencil.rule import Context, segments
from pencil.theory.compiler import Compiled, DType, compile_program
from pencil.theory.compiler.precision import LONGEST
from pencil.theory.fasp import Program
from pencil.theory.fasp.library import seq_sum
from pencil.theory.machines import load
from pencil.theory.program import turing_program
from pencil.theory.scroll import RuleName, Token, prompt, scroll
from pencil.theory.transformer import HardAttentionTransformer, PrecisionError, hard_attention
from pencil.tokens import RETURN, SEP, Marks
from tests.theory.programs import ALPHABET, CASES, Case, digit

RULES: tuple[RuleName, ...] = ("scroll", "call")


def beaver(rule: RuleName = "scroll", name: str = "bb4") -> tuple[Compiled, list[int], list[int]]:
    """A compiled busy beaver, its prompt, and all that it should generate."""
    machine = load(name)
    compiled = compile_program(turing_program(machine, rule))
    index = {word: place for place, word in enumerate(compiled.weights.alphabet)}
    expected = list(islice(scroll(machine, "", rule), 3000))
    return compiled, [index[word] for word in prompt(machine, "", rule)], [index[word] for word in expected]


def marks(compiled: Compiled) -> Marks[int]:
    words: list[Token] = list(compiled.weights.alphabet)  # type: ignore[arg-type]
    return Marks(len(words) - 1, words.index(SEP), words.index(RETURN))


def closed_loop(
    model: HardAttentionTransformer, start: list[int], ids: Marks[int], scroll: bool, count: int
) -> list[int]:
    """Greedy generation under the rule with a cache that is rewound at each reduction."""
    decoder, context = model.decoder(), Context(start, ids, scroll=scroll)
    unread, written = start, list[int]()
    while len(written) < count:
        token = int(decoder.feed([0], [unread])[0].argmax())
        written.append(token)
        unread = [token]
        reduction = context.append(token)
        if reduction is not None:
            decoder.rewind(0, reduction.kept)
            unread = list(reduction.answer)
    return written


@pytest.mark.parametrize("rule", RULES)
def test_the_fourth_busy_beaver_runs_to_its_end(rule: RuleName) -> None:
    compiled, start, expected = beaver(rule)
    model = HardAttentionTransformer.from_compiled(compiled)
    assert closed_loop(model, start, marks(compiled), rule == "scroll", len(expected)) == expected


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_cache_gives_what_the_definition_gives(case: Case) -> None:
    model = HardAttentionTransformer(compile_program(case.program).weights)
    tokens = [int(letter) for letter in case.word]
    whole = model(torch.tensor([tokens]))[0]
    decoder = model.decoder()
    by_one = torch.cat([decoder.feed([7], [[token]]) for token in tokens])
    at_once = model.decoder().feed([3, 5], [tokens, tokens[:1]])
    assert torch.equal(by_one, whole)
    assert torch.equal(at_once, whole[[-1, 0]])


def test_a_rewound_row_forgets_and_a_dropped_one_starts_again() -> None:
    model = HardAttentionTransformer(compile_program(Program(ALPHABET, {"sum": seq_sum(digit)})).weights)
    decoder = model.decoder()
    assert decoder.feed([0], [[1, 2, 3]]).tolist() == [[6]]
    decoder.rewind(0, 1)
    assert decoder.feed([0], [[4]]).tolist() == [[5]]
    decoder.drop(0)
    assert decoder.feed([0], [[4]]).tolist() == [[4]]


def test_hard_attention_averages_what_ties_and_sees_no_later_position() -> None:
    keys = torch.tensor([[[1.0], [3.0], [3.0], [9.0]]])
    values = torch.tensor([[[1.0], [2.0], [4.0], [7.0]]])
    found = hard_attention(torch.ones(1, 3, 1), keys, values)
    assert found.flatten().tolist() == [2, 3, 7]
    assert hard_attention(-torch.ones(1, 1, 1), keys, values).item() == 1


def test_long_prompts_are_attended_in_parts() -> None:
    keys = torch.arange(1300.0).reshape(1, -1, 1)
    found = hard_attention(torch.ones_like(keys), keys, keys)
    assert torch.equal(found, keys)


@pytest.mark.parametrize("temperature", [1 / 20, 1 / 40])
def test_a_softmax_at_low_temperature_gives_the_same_tokens(temperature: float) -> None:
    compiled, start, expected = beaver()
    model = HardAttentionTransformer.from_compiled(compiled, temperature=temperature)
    assert closed_loop(model, start, marks(compiled), True, len(expected)) == expected


def test_a_softmax_at_temperature_one_does_not() -> None:
    compiled, start, expected = beaver()
    model = HardAttentionTransformer.from_compiled(compiled, temperature=1.0)
    assert closed_loop(model, start, marks(compiled), True, len(expected)) != expected


def test_single_precision_fails_in_a_context_of_some_hundred_tokens() -> None:
    """The largest scores are near n^3, so 24 bits cannot keep them apart; the guard refuses long before."""
    machine, word = load("anbn"), "a" * 104 + "b" * 104
    weights = compile_program(turing_program(machine)).weights
    index = {token: place for place, token in enumerate(weights.alphabet)}
    segment = list(segments(prompt(machine, word), scroll(machine, word, max_steps=1200), scroll=True))[1]
    tokens = torch.tensor([[index[token] for token in segment.tokens]])

    def first_wrong(dtype: DType) -> int | None:
        predicted = HardAttentionTransformer(weights, dtype=dtype)(tokens)[0].argmax(-1)
        wrong = (predicted[:-1] != tokens[0, 1:])[segment.start - 1 :].nonzero()
        return segment.start + int(wrong[0]) if len(wrong) else None

    assert first_wrong("float64") is None
    assert first_wrong("float32") in range(600, 1000)


def test_the_guard_refuses_what_is_not_proven_exact() -> None:
    compiled, start, _ = beaver()
    single = HardAttentionTransformer.from_compiled(compiled, dtype="float32")
    double = HardAttentionTransformer.from_compiled(compiled)
    assert 15 < single.context < 100
    assert 10_904 < double.context < LONGEST  # the fifth busy beaver's first million steps fit
    tokens = torch.tensor([start * 200])
    with pytest.raises(PrecisionError, match="200 tokens, but float32 is proven exact up to"):
        single(tokens)
    assert double(tokens).shape == (1, 200, len(compiled.weights.alphabet))


def test_the_weights_are_parameters_that_are_not_trained() -> None:
    compiled, _, _ = beaver()
    model = HardAttentionTransformer(compiled.weights)
    assert sum(int(parameter.count_nonzero()) for parameter in model.parameters()) == compiled.weights.nonzeros
    assert not any(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("rule", RULES)
def test_the_ordinary_loops_drive_it_with_the_ordinary_rule(rule: RuleName) -> None:
    compiled, start, expected = beaver(rule, "bb3")
    model = HardAttentionTransformer.from_compiled(compiled)
    limits = Limits(tokens=len(expected))
    slow = list(reference(model, start, marks(compiled), limits=limits, scroll=rule == "scroll"))
    engine = Engine(model, marks(compiled), limits=limits, scroll=rule == "scroll")
    assert [event.id for event in slow if isinstance(event, Said)] == expected
    assert [event.id for event in engine.stream(start) if isinstance(event, Said)] == expected


def test_the_engine_runs_several_inputs_of_one_machine_at_once() -> None:
    machine = load("parity")
    compiled = compile_program(turing_program(machine))
    alphabet = compiled.weights.alphabet
    inputs = ["1", "10110", "0000"]
    prompts = [[alphabet.index(token) for token in prompt(machine, word)] for word in inputs]
    said: dict[int, list[int]] = {index: [] for index in range(len(inputs))}
    engine = Engine(
        HardAttentionTransformer.from_compiled(compiled), marks(compiled), limits=Limits(tokens=3), scroll=True
    )
    engine.run(prompts, lambda index, event: said[index].append(event.id) if isinstance(event, Said) else None)
    for index, word in enumerate(inputs):
        expected = [alphabet.index(token) for token in islice(scroll(machine, word), 3)]
        assert said[index][: len(expected)] == expected
