from pathlib import Path

import pytest
import torch

from pencil.errors import PencilError
from pencil.model import hf
from pencil.model.checkpoint import Checkpoint
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tasks import get_task
from pencil.tokens import Vocab, join, split

transformers = pytest.importorskip("transformers")
TASKS = {"sat": 4, "qbf": 4, "einstein": 3}


def make(vocab: Vocab) -> Checkpoint:
    """Weights unlike any default, so that no layer can be confused with another."""
    config = ModelConfig(len(vocab), n_layers=3, d_model=48, n_heads=3, context=256, rope_base=5000.0)
    model = Transformer(config)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            scale = 0.15 if weight.ndim == 2 else 0.3
            weight.add_(torch.randn(weight.shape, generator=generator) * scale)
    return Checkpoint(model, vocab, "sat", (4,))


@pytest.mark.parametrize("name", TASKS)
def test_the_auto_classes_load_the_same_model_and_the_same_words(name: str, tmp_path: Path) -> None:
    task = get_task(name, TASKS[name])
    checkpoint = make(task.vocab)
    hf.export(checkpoint, tmp_path / "out")
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    prompt = task.prompt(task.draw(0))
    ids = tokenizer(join(prompt))["input_ids"]
    assert ids == task.vocab.encode(prompt)
    assert split(tokenizer.decode(ids)) == list(prompt)
    tokens = torch.tensor([ids[:200]])
    with torch.no_grad():
        torch.testing.assert_close(model(tokens).logits, checkpoint.model(tokens), atol=2e-5, rtol=1e-5)


def test_the_greedy_continuation_is_the_same(tmp_path: Path) -> None:
    task = get_task("sat", 4)
    checkpoint = make(task.vocab)
    hf.export(checkpoint, tmp_path / "out")
    twin = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out")
    tokens = torch.tensor([task.vocab.encode(task.prompt(task.draw(1)))[:40]])
    theirs = twin.generate(tokens, max_new_tokens=60, do_sample=False, eos_token_id=None)
    with torch.no_grad():
        for _ in range(60):
            tokens = torch.cat((tokens, checkpoint.model(tokens)[:, -1:].argmax(-1)), -1)
    assert theirs.tolist() == tokens.tolist()
    assert len(set(tokens[0, 40:].tolist())) > 1  # it says more than one thing


def test_words_are_split_as_ours_are() -> None:
    vocab = Vocab(["House#1", "\n", "is", "Red"])
    tokenizer = hf.to_tokenizer(vocab, 64)
    for text in ("House#1\n is Red", "  is\tRed  \n\n House#1", "[CALL] is [SEP] Red [RETURN]<|endoftext|>", ""):
        separated = text.replace("<|", " <|")
        assert tokenizer(text)["input_ids"] == vocab.encode(split(separated))


def test_everyone_may_read_what_was_written_without_a_word(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    hf.export(make(get_task("sat", 4).vocab), tmp_path / "out")
    assert len({path.stat().st_mode for path in (tmp_path / "out").iterdir()}) == 1
    assert capfd.readouterr() == ("", "")


def test_words_that_know_what_is_around_them_have_no_twin() -> None:
    model = Transformer(ModelConfig(12, n_layers=1, d_model=16, n_heads=2, recent=3, levels=5))
    with pytest.raises(PencilError, match=r"know what is around them .* which GPTNeoX cannot express"):
        hf.to_gpt_neox(model, Vocab(["a"]))


def test_a_model_that_does_not_see_all_frames_has_no_twin() -> None:
    model = Transformer(ModelConfig(12, n_layers=1, d_model=16, n_heads=2, frames=2))
    with pytest.raises(PencilError, match="does not see all frames, which GPTNeoX cannot express"):
        hf.to_gpt_neox(model, Vocab(["a"]))


def test_a_full_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(PencilError, match="expected a new or empty directory"):
        hf.export(make(Vocab(["a"])), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(PencilError, match=r"transformers is not installed; try: pip install 'pencil\[hf\]'"):
        hf.to_tokenizer(Vocab(["a"]), 64)
