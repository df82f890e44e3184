"""Turing machines as text: a readable format, and the standard notation of busy beavers.

A file names its symbols, its start state and its halting states, then gives one rule a line:

    about   accepts an odd number of ones
    symbols 0 1
    blank   _
    start   even
    accept  yes
    reject  no
    even 1   -> odd = L     // in state even, reading 1: go to odd, write the same symbol, move left
    even 0   -> even = L
    odd  0|1 -> even 0 L    // one line for two symbols
    odd  _   -> yes 1 N     // N stays

Moves are L, N and R. A pair without a rule rejects where there is a reject state: the head stays and the symbol is
kept (the first symbol is written over a blank). Where there is none, a missing rule is an error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pencil.errors import MachineError
from pencil.theory.turing import MOVES, Problem, TuringMachine, complete

_HEADERS = ("name", "about", "states", "symbols", "blank", "start", "accept", "reject")
_MOVE_OF = {letter: move for move, letter in MOVES.items()}
_RULE = "a rule such as 's 0|1 -> t = R' or a header: " + " ".join(_HEADERS)
NOTATION = re.compile(r"[0-9A-Z-]{3,}(_[0-9A-Z-]{3,})+")
"""What looks like the standard notation of a busy beaver."""


def parse_machine(text: str, name: str = "machine") -> TuringMachine:
    """A machine from the text format; every problem is raised at once, each with its line."""
    draft = _Draft(name)
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("//", 1)[0].split()
        if words:
            draft.read(f"line {number}", words)
    return draft.machine()


@dataclass
class _Draft:
    """What has been read of a file, with the line of each part."""

    name: str
    headers: dict[str, list[str]] = field(default_factory=dict)
    rules: dict[tuple[str, str], tuple[str, str, int]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    """From the places that `TuringMachine` names to lines."""
    problems: list[Problem] = field(default_factory=list)

    def read(self, place: str, words: list[str]) -> None:
        """One line that is not empty."""
        if "->" in words:
            self._read_rule(place, words)
        elif words[0] not in _HEADERS:
            self.problems.append((place, f"found {' '.join(words)!r}, expected {_RULE}"))
        elif words[0] in self.headers:
            self.problems.append((place, f"{words[0]!r} was given on {self.places[words[0]]} already"))
        else:
            self.headers[words[0]], self.places[words[0]] = words[1:], place

    def _read_rule(self, place: str, words: list[str]) -> None:
        if len(words) != 6 or words[2] != "->" or words[5] not in _MOVE_OF:
            self.problems.append((place, f"found {' '.join(words)!r}, expected {_RULE}; a move is L, N or R"))
            return
        state, reads, _, next_state, written, move = words
        for read in reads.split("|"):
            where = f"rule {state} {read}"
            if where in self.places:
                self.problems.append((place, f"state {state!r} reading {read!r} has a rule on {self.places[where]}"))
            self.places.setdefault(where, place)
            self.rules.setdefault((state, read), (next_state, read if written == "=" else written, _MOVE_OF[move]))

    def machine(self) -> TuringMachine:
        """The machine, or all that is wrong with it."""
        problems = [*self.problems, *self._header_problems()]
        try:
            machine = self._assemble()
        except MachineError as error:
            known = [(place, reason) for place, reason in error.problems if place not in self._missing_headers()]
            problems += [(self.places.get(place, place), reason) for place, reason in known]
        if problems:
            raise MachineError(self.name, sorted(problems, key=_line_number))
        return machine

    def _missing_headers(self) -> list[str]:
        return [header for header in ("symbols", "start") if header not in self.headers]

    def _header_problems(self) -> list[Problem]:
        single = [header for header in ("name", "blank", "start") if len(self.headers.get(header, [""])) != 1]
        reserved = [symbol for symbol in self.headers.get("symbols", []) if not _writable(symbol)]
        return [
            *((self.places[header], f"{header!r} takes exactly one word") for header in single),
            *((self.places["symbols"], f"{symbol!r} is reserved and cannot be a symbol") for symbol in reserved),
            *((header, "there is no such line") for header in self._missing_headers()),
        ]

    def _assemble(self) -> TuringMachine:
        accept, reject = (tuple(self.headers.get(header, ())) for header in ("accept", "reject"))
        found = dict.fromkeys([*(state for state, _ in self.rules), *accept, *reject])
        states = tuple(self.headers.get("states", found))
        symbols, (blank,) = tuple(self.headers.get("symbols", ())), self.headers.get("blank", ["_"])[:1] or ["_"]
        running = [state for state in states if state not in (*accept, *reject)]
        return TuringMachine(
            name=" ".join(self.headers.get("name", [self.name])),
            states=states,
            symbols=symbols,
            blank=blank,
            start=" ".join(self.headers.get("start", states[:1])),
            accept=accept,
            reject=reject,
            delta=complete(self.rules, running, (blank, *symbols), reject[0]) if reject and symbols else self.rules,
            about=" ".join(self.headers.get("about", ())),
        )


def parse_word(machine: TuringMachine, text: str) -> list[str]:
    """An input from text: symbols with spaces between them, or one letter each.

    >>> parse_word(parse_notation("1RB1LB_1LA1RH"), "0110")
    ['0', '1', '1', '0']
    """
    word = text.split() if " " in text or text in machine.symbols else list(text)
    machine.check_word(word)
    return word


def _line_number(problem: Problem) -> int:
    """Where to list a problem: by line, and last what has none."""
    digits = re.fullmatch(r"line (\d+)", problem[0])
    return int(digits[1]) if digits else 10**9


def _writable(word: str) -> bool:
    """Whether a state or symbol survives being written as text."""
    return word not in ("", "=", "->") and not re.search(r"\s|\||//", word)


def write_machine(machine: TuringMachine) -> str:
    """The text format of a machine, all rules included; `parse_machine` gives the machine back."""
    unwritable = [word for word in (*machine.states, *machine.alphabet) if not _writable(word)]
    if unwritable:
        raise MachineError(machine.name, [("names", f"{word!r} cannot be written as text") for word in unwritable])
    headers = {
        "name": [machine.name],
        "about": [machine.about],
        "states": machine.states,
        "symbols": machine.symbols,
        "blank": [machine.blank],
        "start": [machine.start],
        "accept": machine.accept,
        "reject": machine.reject,
    }
    lines = [f"{header:<8}{' '.join(words)}" for header, words in headers.items() if any(words)]
    rules = [
        f"{state} {read} -> {next_state} {written} {MOVES[move]}"
        for (state, read), (next_state, written, move) in machine.delta.items()
    ]
    return "\n".join([*lines, "", *rules, ""])


def parse_notation(text: str, name: str | None = None, about: str = "") -> TuringMachine:
    """A busy beaver in standard notation: a group for each state, in it what to do on 0, on 1, and so on.

    The machine reads a blank as 0 and writes 0, a pseudo-blank, in its place. A letter without a group halts and
    accepts; `---` is short for such a step.

    >>> bb2 = parse_notation("1RB1LB_1LA1RH")
    >>> bb2.states, bb2.delta["A", "_"] == bb2.delta["A", "0"] == ("B", "1", 1)
    (('A', 'B', 'H'), True)
    """
    groups = text.split("_")
    size = len(groups[0]) // 3
    states = [chr(ord("A") + index) for index in range(len(groups))]
    halt = "H" if "H" not in states else "Z"
    steps = [re.findall("...", group.replace("---", f"1R{halt}")) for group in groups]
    problems = _notation_problems(groups, size)
    if problems:
        raise MachineError(name or text, problems)
    symbols = tuple(map(str, range(size)))
    delta = {
        (state, read): (step[2], step[0], 1 if step[1] == "R" else -1)
        for state, row in zip(states, steps, strict=True)
        for read, step in zip(("_", *symbols), (row[0], *row), strict=True)
    }
    halting = tuple(sorted({next_state for next_state, _, _ in delta.values()} - set(states)))
    return TuringMachine(name or text, (*states, *halting), symbols, "_", "A", halting, (), delta, about)


def _notation_problems(groups: Sequence[str], size: int) -> list[Problem]:
    step = rf"(?:[0-{size - 1}][LR][A-Z]|---)"
    expected = f"{size} steps such as 1RB, with symbols up to {size - 1}" if size else "steps such as 1RB"
    return [
        (f"group {index}", f"found {group!r}, expected {expected}")
        for index, group in enumerate(groups, 1)
        if not size or not re.fullmatch(f"{step}{{{size}}}", group)
    ]
