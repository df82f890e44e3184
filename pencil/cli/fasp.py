"""`pencil fasp`: run, draw and compile programs in FASP, the language of constant-depth transformers."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pencil.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Hashable

    from pencil.theory.fasp import Program, Run

app = typer.Typer(
    help="FASP, the paper's language for transformers: run a program, draw it, compile it to weights.",
    no_args_is_help=True,
)

File = Annotated[
    Path,
    typer.Argument(metavar="PROGRAM.py", help="A Python file that defines PROGRAM, such as examples/fasp/dyck.py."),
]
Input = Annotated[str, typer.Argument(metavar="INPUT", help="The tokens, one letter each or with spaces between.")]
OptionalInput = Annotated[str, typer.Argument(metavar="[INPUT]", help="The tokens to draw or to check it on.")]


@app.command()
def run(
    file: File,
    word: Input,
    floats: Annotated[
        bool, typer.Option("--floats", help="Compute with floats; faster, and no promise checked.")
    ] = False,
    json_: Json = False,
) -> None:
    """Run a program by its definition: every named value at every prefix of the input.

    \b
    Example:
      pencil fasp run examples/fasp/dyck.py "(()())("
    """
    from pencil.theory.fasp import interpret

    program = load_program(file)
    result = interpret(program, split_input(program, word), exact=not floats)
    if json_:
        print(json.dumps(_plain(result)))
        return
    print(result)
    if program.predicts_tokens:
        print("next token:", " ".join(map(str, result.next_tokens())))


@app.command()
def show(file: File, word: OptionalInput = "") -> None:
    """Draw a program: its values as formulas and, on an input, what each attention looks at.

    \b
    Example:
      pencil fasp show examples/fasp/induction.py abcab
    """
    from pencil.theory.fasp import interpret
    from pencil.theory.fasp.show import draw_attentions

    program = load_program(file)
    print(program)
    if word:
        print(draw_attentions(interpret(program, split_input(program, word))))


@app.command("compile")
def compile_(
    file: File,
    word: OptionalInput = "",
    out: Annotated[Path | None, typer.Option(help="Write the weights, a safetensors file.")] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="Do not fold choices: more layers, same function.")
    ] = False,
    json_: Json = False,
) -> None:
    """Compile a program to the weights of a transformer, and check them on an input.

    \b
    Example:
      pencil fasp compile examples/fasp/reverse.py "abc#" --out reverse.safetensors
    """
    from pencil.theory.compiler import compile_program

    program = load_program(file)
    compiled = compile_program(program, fold=not literal)
    report = {
        **compiled.weights.report(),
        "exact_length": {"float64": compiled.exact_length("float64"), "float32": compiled.exact_length("float32")},
    }
    if word:
        report["agrees"] = _agrees(program, compiled.weights, split_input(program, word))
    if out is not None:
        compiled.weights.save(out)
        report["out"] = str(out)
    print(json.dumps(report) if json_ else _lines(report))


def load_program(file: Path) -> "Program":
    """The PROGRAM of a Python file; whatever goes wrong in it is told with its place."""
    import runpy
    import traceback

    from pencil.errors import ParseError, PencilError
    from pencil.theory.fasp import Program

    if not file.is_file():
        raise ParseError(str(file), "<no such file>", "a Python file that defines PROGRAM")
    try:
        program = runpy.run_path(str(file)).get("PROGRAM")
    except PencilError:
        raise
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else 1)
        found = f"<{type(error).__name__}: {error}>"
        raise ParseError(f"{file}:{line}", found, "Python that defines PROGRAM") from error
    if not isinstance(program, Program):
        found = "<no PROGRAM>" if program is None else f"<a PROGRAM of type {type(program).__name__}>"
        raise ParseError(str(file), found, "PROGRAM = Program(alphabet, {name: value, ...})")
    return program


def split_input(program: "Program", word: str) -> "list[Hashable]":
    """The tokens of an input: letters where every token is a letter, else words. An unknown one stays as it is."""
    tokens = {str(token): token for token in program.alphabet}
    letters = all(len(text) == 1 for text in tokens)
    texts = "".join(word.split()) if letters else word.split()
    return [tokens.get(text, text) for text in texts]


def _plain(run: "Run") -> dict[str, Any]:
    """A run as JSON; fractions become floats."""
    values = {}
    for name in run.program.values:
        value = run[name]
        values[name] = {"type": str(value.type), "values": [[_number(entry) for entry in row] for row in value.array]}
    following = {"next": [str(token) for token in run.next_tokens()]} if run.program.predicts_tokens else {}
    return {"input": [str(token) for token in run.tokens], "values": values, **following}


def _number(entry: Any) -> int | float:
    return int(entry) if entry == int(entry) else float(entry)


def _agrees(program: "Program", weights: Any, tokens: "list[Hashable]") -> bool:
    """Whether the weights give exactly the program's result at every prefix."""
    from pencil.theory.decode import RunningDecoder
    from pencil.theory.fasp import interpret

    expected = interpret(program, tokens).result.tolist()  # refuses a token that is not in the alphabet
    decoder = RunningDecoder(weights)
    return bool([decoder.outputs([program.alphabet.index(token)]) for token in tokens] == expected)


def _lines(report: dict[str, Any]) -> str:
    texts = {**report, **{f"exact in {name}": f"up to {n:,} tokens" for name, n in report["exact_length"].items()}}
    del texts["exact_length"]
    return "\n".join(f"{name.replace('_', ' '):<18}{text}" for name, text in texts.items())
