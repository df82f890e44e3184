import json
from pathlib import Path

import pytest

from pencil import Trace, get_task
from pencil.tokens import split
from tests.cli.conftest import RunPencil


@pytest.mark.parametrize("name", ["sat", "qbf", "einstein"])
def test_the_trace_of_a_seed_is_the_tasks_own(pencil: RunPencil, name: str) -> None:
    task = get_task(name)
    trace = task.trace(task.draw(7))
    shown = pencil("trace", name, "--seed", 7)
    assert split(shown.out) == [*trace.prompt, "\n", *trace.generated, "\n"]
    assert f"{len(trace):,} tokens in all" in shown.err


@pytest.mark.parametrize("name", ["sat", "qbf", "einstein"])
def test_json_describes_the_trace(pencil: RunPencil, name: str) -> None:
    shown = json.loads(pencil("trace", name, "--json").out)
    trace = Trace(tuple(split(shown["prompt"])), tuple(split(shown["trace"])))
    stats = trace.stats()
    assert shown["task"] == name
    assert shown["answer"] == get_task(name).answer(trace.final)
    assert [shown[key] for key in ("tokens", "peak", "reductions", "depth")] == [
        stats.tokens,
        stats.peak,
        stats.reductions,
        stats.depth,
    ]
    assert shown["attention_cost"] == {"pencil": stats.cost_pencil, "cot": stats.cost_cot}


def test_a_chain_of_thought_holds_everything(pencil: RunPencil) -> None:
    shown = json.loads(pencil("trace", "qbf", "--format", "cot", "--json").out)
    assert shown["peak"] == shown["tokens"]
    assert shown["reductions"] == 0


def test_direct_is_the_answer_at_once(pencil: RunPencil) -> None:
    shown = json.loads(pencil("trace", "sat", "--format", "direct", "--json").out)
    assert shown["trace"] == f"Answer: {shown['answer']} <|endoftext|>"


def test_steps_show_every_generation_and_reduction(pencil: RunPencil) -> None:
    shown = pencil("trace", "sat", "--text", "( 1 ) ∧ ( ¬ 1 )", "--steps").out
    assert shown.splitlines()[1:] == [
        "",
        "Model Generation (1)",
        "[CALL] Question: ( 1 ) ∧ ( ¬ 1 ) Found 1 Let 1 = True [SEP] Answer: False [RETURN]",
        "",
        "Reduction Rule (1)",
        "Answer: False",
        "",
        "Model Generation (Final Response)",
        "Answer: False <|endoftext|>",
    ]


def test_json_has_the_steps_too(pencil: RunPencil) -> None:
    shown = json.loads(pencil("trace", "qbf", "--steps", "--json").out)
    assert len(shown["steps"]) == shown["reductions"] + 1
    assert shown["steps"][0]["generation"].endswith("[RETURN]")
    assert shown["steps"][-1] == {"generation": f"Answer: {shown['answer']} <|endoftext|>", "reduction": None}


def test_a_chain_of_thought_is_one_step(pencil: RunPencil) -> None:
    shown = json.loads(pencil("trace", "qbf", "--steps", "--json", "--format", "cot").out)
    assert shown["steps"] == [{"generation": shown["trace"], "reduction": None}]


def test_an_instance_from_a_file(pencil: RunPencil, tmp_path: Path) -> None:
    (tmp_path / "problem.cnf").write_text("p cnf 2 2\n1 -2 0\n2 0\n")
    shown = json.loads(pencil("trace", "sat", "--file", tmp_path / "problem.cnf", "--json").out)
    assert shown["answer"] == "True"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["sat", "--size", "2"], "sat has no size 2"),
        (["sat", "--text", "( 1 ∨ banana )"], "clause 1, word 4: found 'banana'"),
        (["qbf", "--text", ""], "found nothing"),
        (["sat", "--text", "( 1 )", "--file", "x"], "found both --text and --file"),
        (["sat", "--file", "no/such/file"], "no/such/file: found No such file or directory"),
        (["sat", "--file", "."], "found Is a directory"),
    ],
)
def test_bad_input_names_the_place(pencil: RunPencil, arguments: list[str], complaint: str) -> None:
    result = pencil("trace", *arguments)
    assert (result.status, result.out) == (2, "")
    assert complaint in result.err
    assert result.err.count("\n") == 1


def test_two_values_of_a_kind_in_one_house_have_no_solution(pencil: RunPencil) -> None:
    text = "There are five houses. The fish is in the same house as the cats."
    shown = json.loads(pencil("trace", "einstein", "--text", text, "--json").out)
    assert shown["answer"] == "No Solution"
    assert shown["reductions"] == 2


def test_what_is_too_hard_is_given_up(pencil: RunPencil, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pencil.trace.TraceWriter.__init__.__defaults__", (1000,))
    text = "∃ 1 ∃ 2 ∃ 3 ∃ 4 ∃ 5 : #1 ( 1 ) #2 ( ¬ 1 )"
    result = pencil("trace", "qbf", "--text", text)
    assert result.status == 2
    assert "longer than 1,000 words" in result.err


def test_clues_that_decide_nothing_get_a_note(pencil: RunPencil) -> None:
    result = pencil("trace", "einstein", "--text", "The Brit lives in the red house. The Swede keeps dogs.")
    assert "note: the clues leave open who owns the Fish: Brit or German" in result.err


def test_a_byte_order_mark_is_no_word(pencil: RunPencil, tmp_path: Path) -> None:
    (tmp_path / "problem.cnf").write_text("p cnf 1 1\n1 0\n", encoding="utf-8-sig")
    assert pencil("trace", "sat", "--file", tmp_path / "problem.cnf").status == 0


def test_binary_junk_is_named(pencil: RunPencil, tmp_path: Path) -> None:
    (tmp_path / "junk").write_bytes(b"p cnf \xff\xfe\x00")
    result = pencil("trace", "sat", "--file", tmp_path / "junk")
    assert result.status == 2
    assert "byte 6: found binary data, expected UTF-8 text" in result.err
