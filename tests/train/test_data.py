import os
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, replace
from itertools import islice
from random import Random

import numpy as np
import pytest

from pencil.rule import Context
from pencil.train.batch import Batch
from pencil.train.config import DataConfig
from pencil.train.data import PAIRS, Data, deal, random_stretch
from pencil.train.pack import Hints, Packed
from pencil.train.split import is_held_out
from tests.train.examples import task_trace

CONFIG = DataConfig("qbf", {2: 1.0, 3: 1.0}, batch=4)


def assert_same(some: list[Batch], others: list[Batch]) -> None:
    for one, other in zip(some, others, strict=True):
        np.testing.assert_equal(asdict(one), asdict(other))


def test_a_steps_batch_is_the_same_whoever_makes_it_and_when() -> None:
    in_order = list(islice(Data(CONFIG).batches(first=0, workers=0), 3))
    resumed = next(Data(CONFIG).batches(first=2, workers=0))
    assert_same(in_order[2], resumed)


DIGEST = """
from hashlib import sha256
from pencil.train.config import DataConfig
from pencil.train.data import Data
data = Data(DataConfig({task!r}, {{3: 1.0}}))
for packed in map(data.packed, range(3)):
    hints = packed.hints
    arrays = packed.ids, packed.positions, packed.ends, packed.inputs, packed.targets, hints.mind, hints.looks
    print(sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


@pytest.mark.parametrize("task", ["sat", "qbf", "einstein"])
def test_an_instance_does_not_depend_on_how_python_orders_its_sets(task: str) -> None:
    command = [sys.executable, "-c", DIGEST.format(task=task)]
    runs = [
        subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        for seed in "12"
    ]
    assert len({run.stdout for run in runs}) == 1


@pytest.mark.slow
def test_workers_give_the_batches_in_order() -> None:
    plain = islice(Data(CONFIG).batches(first=5, workers=0), 6)
    for here, there in zip(plain, Data(CONFIG).batches(first=5, workers=2), strict=False):
        assert_same(here, there)


def test_processes_share_the_instances_of_a_step() -> None:
    whole = Counter(Data(CONFIG)[3][0].targets.tolist())
    parts = [batch for part in range(2) for batch in Data(CONFIG, part, 2)[3]]
    assert sum((Counter(part.targets.tolist()) for part in parts), Counter()) == whole


def test_threads_share_the_instances_of_a_process_about_equally() -> None:
    [whole], shares = Data(CONFIG)[3], Data(CONFIG, shares=2)[3]
    assert sorted(np.concatenate([share.targets for share in shares])) == sorted(whole.targets)
    assert min(share.packed for share in shares) > 0.3 * whole.packed


def test_large_shares_are_cut_where_threads_share_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    [whole], pair = Data(CONFIG)[3], Data(CONFIG, shares=2)[3]
    monkeypatch.setattr("pencil.train.data.BATCH", whole.packed // 4)
    assert len(Data(CONFIG)[3]) == 1
    assert len(pair) < len(many := Data(CONFIG, shares=2)[3])
    assert sorted(np.concatenate([batch.targets for batch in many])) == sorted(whole.targets)


def test_no_share_is_empty() -> None:
    traces = [Data(CONFIG).packed(index) for index in range(3)]
    assert [len(share) for share in deal(traces, 8)] == [1, 1, 1]


def test_shares_cost_about_the_same() -> None:
    def made(length: int, position: int) -> Packed:
        zeros = np.zeros(length, np.int64)
        return Packed(zeros, zeros + position, zeros, np.zeros((length, 2), np.int64), zeros, zeros, Hints.of())

    near, dear, short = made(100, 0), made(40, 2 * PAIRS), made(60, 0)  # cost 100, 120 and 60
    assert [[len(trace) for trace in share] for share in deal([near, dear, short], 2)] == [[40], [100, 60]]


def test_every_other_stretch_has_the_rarest_words_of_many() -> None:
    config = DataConfig("einstein", {3: 1.0}, stretch=300, hints=False)
    plain, choosy = Data(config), Data(replace(config, choices=4))
    for index in range(8):
        one, other = plain.packed(index).targets, choosy.packed(index).targets
        assert index % 2 or one.tolist() == other.tolist()
        assert choosy.rarity(one) <= choosy.rarity(other)
    whole = replace(config, format="cot")
    assert Data(whole).packed(1).ids.tolist() == Data(replace(whole, choices=4)).packed(1).ids.tolist()
    assert choosy.rarity(choosy.vocab.encode(["Forcing"])) > 10 * choosy.rarity(choosy.vocab.encode(["House#1"]))


RENAMED = DataConfig("sat", {3: 1.0, 6: 1.0}, renamed=1.0)


def test_renamed_variables_are_any_that_the_largest_size_has() -> None:
    data = Data(RENAMED)
    tried = Counter[str]()
    for index in range(60):
        packed = data.packed(index)
        prompt = data.vocab.decode(packed.ids[: packed.inputs[0] + 1].tolist())
        assert not is_held_out(prompt)
        words = data.vocab.decode(packed.ids.tolist())
        tried[words[words.index("Try") + 1]] += 1
        assert len({word for word in words if word.isdigit()}) in (3, 6)
    assert tried.keys() == {"1", "2", "3", "4", "5", "6"}


def test_a_renamed_trace_is_the_same_but_for_its_names() -> None:
    data = Data(RENAMED)
    for index in range(20):
        plain, packed = Data(replace(RENAMED, renamed=0.0)).packed(index), data.packed(index)
        names = dict(zip(plain.ids.tolist(), packed.ids.tolist(), strict=True))
        assert [names[token] for token in plain.ids.tolist()] == packed.ids.tolist()
        assert len(set(names.values())) == len(names)
        assert all(data.vocab.words[token].isdigit() for token, other in names.items() if token != other)
        assert len(packed.hints.mind) == len(plain.hints.mind)


def test_nothing_is_learned_about_what_the_order_of_names_decides() -> None:
    data = Data(RENAMED)
    [try_] = data.vocab.encode(["Try"])
    plain, packed = Data(replace(RENAMED, renamed=0.0)).packed(0), data.packed(0)
    tried = (plain.ids[plain.inputs] == try_).sum()
    assert tried > 0
    assert len(packed.targets) == len(plain.targets) - tried
    assert not (packed.ids[packed.inputs] == try_).any()


def test_names_are_true_again_in_the_last_steps() -> None:
    config = replace(RENAMED, renamed_steps=3)
    always, never, first = (Data(each) for each in (RENAMED, replace(RENAMED, renamed=0.0), config))
    last = 3 * config.batch - 1
    assert first.packed(last).ids.tolist() == always.packed(last).ids.tolist() != never.packed(last).ids.tolist()
    assert first.packed(last + 1).ids.tolist() == never.packed(last + 1).ids.tolist()


RARE = DataConfig("einstein", {3: 1.0}, stretch=200, rare=1.0)


@pytest.mark.parametrize("size", [3, 4, 5])
@pytest.mark.parametrize(("frames", "layers"), [(0, 6), (2, 7)])
def test_a_rare_stretch_teaches_what_follows_and_not_how_it_came_to_that(size: int, frames: int, layers: int) -> None:
    config = replace(RARE, sizes={size: 1.0}, window=4_096)
    data = Data(config, frames=frames, outermost=frames > 0, layers=layers)
    for index in range(5):
        packed = data.packed(index)
        targets, read = data.vocab.decode(packed.targets), data.vocab.decode(packed.ids)
        assert targets[:3] == ["=>", "Puzzle", "not"]
        assert len(targets) <= 200
        assert "Unsatisfied" in read[: packed.inputs[0]]
        assert len(packed.hints.mind)


@pytest.mark.parametrize("choices", [1, 8])
def test_a_share_of_the_stretches_is_rare_where_thoughts_are_erased(choices: int) -> None:
    def rare(config: DataConfig) -> int:
        data = Data(replace(config, choices=choices))
        first = data.vocab.encode(("=>", "Puzzle", "not"))
        return sum(data.packed(index).targets[:3].tolist() == first for index in range(40))

    assert rare(RARE) == 40
    assert 5 < rare(replace(RARE, rare=0.3)) < 20
    assert rare(replace(RARE, format="cot")) == 0


def test_another_seed_gives_other_data() -> None:
    one, other = (Data(replace(CONFIG, seed=seed)).packed(0).ids.tolist() for seed in (0, 1))
    assert one != other


def test_no_prompt_is_a_held_out_one() -> None:
    data = Data(CONFIG)
    for index in range(50):
        packed = data.packed(index)
        prompt = packed.ids[: packed.inputs[0] + 1]
        assert not is_held_out(data.vocab.decode(prompt.tolist()))


def test_weights_decide_how_often_a_size_is_drawn() -> None:
    data = Data(replace(CONFIG, sizes={2: 1.0, 3: 3.0}))
    largest = [max(data.vocab.decode(data.packed(index).ids.tolist()).count("3"), 0) > 0 for index in range(200)]
    assert sum(largest) / 200 == pytest.approx(0.75, abs=0.1)


def test_a_steps_instances_are_of_one_size() -> None:
    data = Data(CONFIG)
    holds_3 = np.array(["3" in data.vocab.decode(data.packed(index).ids.tolist()) for index in range(64)])
    steps = holds_3.reshape(-1, CONFIG.batch)
    assert (steps == steps[:, :1]).all()
    assert 0 < steps[:, 0].sum() < len(steps)


def test_small_sizes_come_first() -> None:
    data = Data(replace(CONFIG, sizes={3: 1.0}, first_sizes={2: 1.0}, first_steps=2))
    holds_3 = ["3" in data.vocab.decode(data.packed(index).ids.tolist()) for index in range(16)]
    assert holds_3 == [False] * 8 + [True] * 8


def test_cot_erases_nothing_and_is_cut_to_the_window() -> None:
    packed = Data(replace(CONFIG, format="cot", window=200)).packed(1)
    assert packed.positions.tolist() == list(range(len(packed)))
    assert len(packed) <= 200
    assert packed.sees().all(1).sum() == 1  # only the last token sees all


def test_direct_learns_only_the_final_answer() -> None:
    data = Data(replace(CONFIG, format="direct"))
    words = data.vocab.decode(data.packed(0).targets.tolist())
    assert words[0] == "Answer:"
    assert words[-1] == "<|endoftext|>"
    assert len(words) == 3


def test_a_stretch_starts_after_a_reduction_with_what_is_live() -> None:
    trace = task_trace("qbf", 4)
    context = Context(trace.prompt, trace.marks)
    place_of = {tuple(context): 0}  # what is live after each reduction -> how much was generated by then
    for place, token in enumerate(trace.generated, start=1):
        if context.append(token):
            place_of[tuple(context)] = place
    starts = set()
    for seed in range(60):
        stretch = random_stretch(trace.prompt, trace.generated, trace.marks, 50, Random(seed))
        words = (*stretch.given, *stretch.said)
        found = {
            place
            for live, place in place_of.items()
            if words == (*live, *trace.generated[place : place + 50]) and stretch.given == list(trace.prompt)
        }
        assert len(found) == 1
        starts |= found
    assert 0 in starts
    assert len(starts) > 5
    assert len([start for start in starts if len(trace.generated) - start <= 50]) == 1  # all others are of full length


def test_stretches_bound_what_is_new() -> None:
    whole, part = (Data(replace(CONFIG, sizes={6: 1.0}, stretch=stretch)).packed(1) for stretch in (None, 40))
    assert len(part.targets) < 0.1 * len(whole.targets)


Known = tuple[int, frozenset[tuple[int, int]], frozenset[tuple[int, int, int]]]
"""A target, the hints of what is in mind before it, and where heads look, by its place in what is live."""


def known_from(packed: Packed) -> dict[tuple[int, ...], Known]:
    """By what is live, what is learned after it."""
    found: dict[tuple[int, ...], Known] = {}
    mind, looks, sees = packed.hints.mind.tolist(), packed.hints.looks.tolist(), packed.sees()
    for number, (index, target) in enumerate(zip(packed.inputs.tolist(), packed.targets.tolist(), strict=True)):
        live = np.flatnonzero(sees[index])
        place = {there: at for at, there in enumerate(live.tolist())}
        found[tuple(packed.ids[live].tolist())] = (
            target,
            frozenset((depth, word) for before, depth, word in mind if before == number),
            frozenset((depth, head, place[there]) for before, depth, head, there in looks if before == number),
        )
    return found


@pytest.mark.parametrize(("task", "size"), [("qbf", 4), ("sat", 4), ("einstein", 3)])
def test_a_stretch_teaches_what_the_whole_trace_does_of_what_is_live_too(task: str, size: int) -> None:
    config = DataConfig(task, {size: 1.0}, stretch=100)
    earlier = 0
    for index in range(4):
        whole, part = (known_from(Data(replace(config, stretch=some)).packed(index)) for some in (None, 100))
        earlier += len(part) - 100
        for live, (target, mind, looks) in part.items():
            assert target == whole[live][0]
            assert not mind or mind == whole[live][1]
            assert not looks or looks == whole[live][2]
        without = [live for live, known in part.items() if not any(known[1:]) and any(whole[live][1:])]
        assert len(without) < 0.05 * len(part)  # those after a reduction
    assert earlier > 0


def test_hints_are_those_of_the_task_before_each_target() -> None:
    data = Data(CONFIG)
    words, truth = data.vocab.words, data.vocab.encode(["True"])[0] + 1
    for index in range(5):
        packed = data.packed(index)
        assert len(packed.hints.mind)
        for target, _, hint in packed.hints.mind:
            assert hint in (truth, -truth)
            assert words[packed.targets[target]] in ("∨", ")")


def test_hints_may_be_left_out() -> None:
    [batch] = Data(replace(CONFIG, hints=False))[0]
    assert not len(batch.hints.mind)
