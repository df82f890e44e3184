"""A checkpoint as Hugging Face files: `AutoModelForCausalLM` and `AutoTokenizer` load the result as it is.

GPTNeoX has the same architecture. It keeps biases, which are zero here, and it stores queries, keys and values head by
head. transformers and tokenizers are the `hf` extra and are imported inside of the functions.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from pencil.errors import PencilError
from pencil.files import beside
from pencil.model.checkpoint import Checkpoint
from pencil.model.transformer import ModelConfig, Transformer
from pencil.tokens import END, SPECIAL_WORDS, START, Vocab

if TYPE_CHECKING:
    from transformers import GPTNeoXForCausalLM, PreTrainedTokenizerFast

NAMES = {
    "attention_norm": "input_layernorm",
    "qkv": "attention.query_key_value",
    "out": "attention.dense",
    "mlp_norm": "post_attention_layernorm",
    "up": "mlp.dense_h_to_4h",
    "down": "mlp.dense_4h_to_h",
}


def export(checkpoint: Checkpoint, directory: Path) -> None:
    """Write model and tokenizer to a new directory."""
    directory = Path(os.path.realpath(directory))
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise PencilError(f"{directory}: found something there already, expected a new or empty directory")
    unfinished = beside(directory, "new")
    shutil.rmtree(unfinished, ignore_errors=True)
    with _no_progress_bar():
        to_gpt_neox(checkpoint.model, checkpoint.vocab).save_pretrained(unfinished)
    to_tokenizer(checkpoint.vocab, checkpoint.model.context).save_pretrained(unfinished)
    shutil.copymode(unfinished / "config.json", unfinished / "model.safetensors")  # which its owner alone may read
    unfinished.rename(directory)


@contextmanager
def _no_progress_bar() -> Iterator[None]:
    """A few megabytes are written before a bar can be read."""
    logging = _require("transformers").utils.logging
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def to_gpt_neox(model: Transformer, vocab: Vocab) -> "GPTNeoXForCausalLM":
    """The same weights in transformers' GPTNeoX; logits agree to the rounding of float32."""
    if model.surroundings is not None:
        raise PencilError(
            "words of this model know what is around them (recent, levels or places of its config), which GPTNeoX"
            " cannot express; expected a model where these are 0, such as qbf"
        )
    if model.config.frames:
        raise PencilError("this model does not see all frames, which GPTNeoX cannot express; expected frames of 0")
    transformers = _require("transformers")
    config, ids = model.config, vocab.encode([START, END])
    twin: GPTNeoXForCausalLM = transformers.GPTNeoXForCausalLM(
        transformers.GPTNeoXConfig(
            vocab_size=config.vocab_size,
            hidden_size=config.d_model,
            num_hidden_layers=config.n_layers,
            num_attention_heads=config.n_heads,
            intermediate_size=4 * config.d_model,
            max_position_embeddings=config.context,
            hidden_act="gelu",
            rope_parameters={"rope_type": "default", "rope_theta": config.rope_base, "partial_rotary_factor": 1.0},
            use_parallel_residual=False,
            attention_bias=False,
            tie_word_embeddings=True,
            bos_token_id=ids[0],
            eos_token_id=ids[1],
        )
    )
    twin.load_state_dict(_rename(model.state_dict(), config, twin.state_dict()), strict=True)
    return twin.eval()


def to_tokenizer(vocab: Vocab, context: int) -> "PreTrainedTokenizerFast":
    """Words split as `pencil.tokens.split` does, with the same ids."""
    transformers, tokenizers = _require("transformers"), _require("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: index for index, word in enumerate(vocab.words)}))
    split = tokenizers.pre_tokenizers.Split
    space, newline = tokenizers.Regex("[ \t]+"), tokenizers.Regex("\n")
    words.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split(space, "removed"), split(newline, "isolated")])
    tokenizer: PreTrainedTokenizerFast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words,
        bos_token=START,
        eos_token=END,
        pad_token=END,
        extra_special_tokens=[word for word in SPECIAL_WORDS if word not in (START, END)],
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    return tokenizer


def _rename(ours: dict[str, Tensor], config: ModelConfig, theirs: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under their names; what we do not have is a bias, and zero."""
    renamed = {name: torch.zeros_like(weight) for name, weight in theirs.items() if name.endswith("bias")}
    renamed["gpt_neox.embed_in.weight"] = renamed["lm_head.weight"] = ours["embedding.weight"]
    renamed["gpt_neox.final_layer_norm.weight"] = ours["norm.weight"]
    for layer in range(config.n_layers):
        for name, other in NAMES.items():
            weight = ours[f"blocks.{layer}.{name}.weight"]
            weight = _interleave(weight, config) if name == "qkv" else weight
            renamed[f"gpt_neox.layers.{layer}.{other}.weight"] = weight
    return renamed


def _interleave(qkv: Tensor, config: ModelConfig) -> Tensor:
    """Rows (3, H, E) -> (H, 3, E): each head's query, key and value together."""
    return qkv.view(3, config.n_heads, config.head_width, -1).transpose(0, 1).reshape(qkv.shape)


def _require(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise PencilError(f"{name} is not installed; try: pip install 'pencil[hf]'") from None
