"""Lowering: a program's expressions become linear forms over slots.

Concatenations and linear maps disappear into forms. ReLU is one unit, a product one or two. Booleans that are choices
(`both`, `if_then_else`, `kron`) are kept as cases, disjoint conjunctions of literals, so that nested choices become one
layer of units instead of one layer for each level.
"""

from collections.abc import Hashable, Sequence
from itertools import product

from pencil.theory.compiler.graph import (
    Feature,
    Form,
    Graph,
    Head,
    Place,
    Read,
    Sum,
    Unit,
    combine,
    constant_of,
    is_constant,
    next_even,
)
from pencil.theory.fasp.expr import (
    Activate,
    Activation,
    Attend,
    Choice,
    Concat,
    Constant,
    Expr,
    Linear,
    Number,
    Operator,
    Position,
    Token,
    topological,
)
from pencil.theory.fasp.program import Program
from pencil.theory.fasp.types import Kind

Conjunction = tuple[Form, ...]
"""Boolean forms that must all be 1."""
Cases = list[Conjunction]
"""Conjunctions of which at most one holds; their sum is a boolean."""


def lower(program: Program, *, fold: bool = True) -> tuple[Graph, list[Form]]:
    """The graph of a program, and the forms of its result; `fold=False` takes every definition literally."""
    lowering = Lowering(program.alphabet, fold=fold)
    for expression in topological([program.result], lowering.dependencies):
        lowering.visit(expression)
    return lowering.graph, lowering.forms[id(program.result)]


class Lowering:
    """The forms of each expression, and the cases of those that are choices; both by identity."""

    def __init__(self, alphabet: Sequence[Hashable], *, fold: bool = True) -> None:
        self.alphabet = alphabet
        self.fold = fold
        self.graph = Graph()
        self.forms: dict[int, list[Form]] = {}
        self.cases: dict[int, list[Cases]] = {}

    def dependencies(self, expression: Expr) -> Sequence[Expr]:
        """What must be lowered before an expression."""
        if isinstance(expression, Operator):
            return expression.arguments if self._is_choice(expression) else (expression.body,)
        return expression.children

    def visit(self, expression: Expr) -> None:
        """Lower one expression whose dependencies are lowered."""
        if isinstance(expression, Operator) and self._is_choice(expression):
            self.cases[id(expression)] = chosen = self._choose(expression)
            self.forms[id(expression)] = [self._case_form(cases) for cases in chosen]
            return
        self.forms[id(expression)] = self._lower(expression)
        self._pass_cases_on(expression)

    # ---- expressions to forms

    def _lower(self, expression: Expr) -> list[Form]:
        graph = self.graph
        if isinstance(expression, Constant):
            return [graph.constant(value) for value in expression.values]
        if isinstance(expression, Token):
            return [self._feature(column) for column in zip(*map(expression.row, self.alphabet), strict=True)]
        if isinstance(expression, Position):
            return [graph.slot(Place())]
        inputs = [self.forms[id(child)] for child in self.dependencies(expression)]
        if isinstance(expression, Concat):
            return [form for forms in inputs for form in forms]
        if isinstance(expression, Linear):
            return [combine((factor, inputs[0][index]) for index, factor in row) for row in expression.matrix]
        if isinstance(expression, Attend):
            head = Head(tuple(inputs[0]), tuple(inputs[1]), expression.ties, expression.inverse_gap)
            return [graph.slot(Read(head, value)) for value in inputs[2]]
        if isinstance(expression, Activate):
            signs = [argument.type.kind <= Kind.BOOL for argument in expression.arguments]
            return [self._activate(expression.activation, signs, *forms) for forms in zip(*inputs, strict=True)]
        return [self._gather(form, expression.type.kind <= Kind.BOOL) for form in inputs[0]]

    def _feature(self, column: Sequence[Number]) -> Form:
        """A column of the token embedding; one that never changes is a constant."""
        same = len(set(column)) == 1
        return self.graph.constant(column[0]) if same else self.graph.slot(Feature(tuple(column)))

    def _activate(self, activation: Activation, nonnegative: list[bool], x: Form, y: Form = ()) -> Form:
        """ReLU is [x]+ times 1; a product takes one unit if a factor cannot be negative, and two if not."""
        graph = self.graph
        if activation is Activation.RELU:
            return x if nonnegative[0] else graph.unit(graph.one, x)
        if activation is Activation.REGLU or nonnegative[1] or graph.is_nonnegative(y):
            return graph.unit(x, y)
        if nonnegative[0] or is_constant(x) or graph.is_nonnegative(x):
            return graph.unit(y, x)
        negative = combine([(-1, y)])
        return self._gather(combine([(1, graph.unit(x, y)), (-1, graph.unit(x, negative))]), boolean=False)

    def _gather(self, form: Form, boolean: bool) -> Form:
        """Let units of one layer that are only read as a sum share a slot."""
        graph, time = self.graph, self.graph.time(form)
        rest = tuple(term for term in form if graph.times[term[0]] < time)
        terms: list[tuple[Unit, Number]] = []
        for index, factor in (term for term in form if term not in rest):
            slot = graph.slots[index]
            if not isinstance(slot, Sum):
                return form
            terms += [(unit, factor * weight) for unit, weight in slot.terms]
        if not terms or (len(form) - len(rest) == 1 and (rest or not boolean)):
            return form
        return combine([(1, graph.slot(Sum(tuple(terms), boolean and not rest))), (1, rest)])

    # ---- booleans as cases

    def _is_choice(self, expression: Operator) -> bool:
        return self.fold and expression.choice is not None and expression.type.kind <= Kind.BOOL

    def _choose(self, expression: Operator) -> list[Cases]:
        """The cases of each coordinate of a choice."""
        arguments = self._expand(expression.arguments)
        if expression.choice is Choice.KRON:
            return [_all_of(choice) for choice in product(*arguments)]
        if expression.choice is Choice.ALL:
            return [_all_of(coordinate) for coordinate in zip(*arguments, strict=True)]
        [condition], true, false = self._literals(expression.arguments[0]), arguments[1], arguments[2]
        otherwise: Cases = [(combine([(1, self.graph.one), *((-1, form) for [form] in condition)]),)]
        return [[*_all_of((condition, yes)), *_all_of((otherwise, no))] for yes, no in zip(true, false, strict=True)]

    def _expand(self, arguments: Sequence[Expr]) -> list[list[Cases]]:
        """Each argument as literals, or as its cases where reading those makes the whole choice earlier."""
        plain = [self._literals(argument) for argument in arguments]
        cases = [self.cases.get(id(argument), literal) for argument, literal in zip(arguments, plain, strict=True)]
        options = list(zip(plain, cases, strict=True))
        target = next_even(max(min(self._earliest(literal), self._earliest(case)) for literal, case in options))
        return [literal if next_even(self._earliest(literal)) <= target else case for literal, case in options]

    def _earliest(self, coordinates: list[Cases]) -> int:
        return self.graph.time(*(form for cases in coordinates for conjunction in cases for form in conjunction))

    def _case_form(self, cases: Cases) -> Form:
        """The sum of cases: single literals are linear, conjunctions are units [a + b - 1]+."""
        graph = self.graph
        linear = combine((1, conjunction[0]) for conjunction in cases if len(conjunction) == 1)
        constant = graph.constant(sum(1 for conjunction in cases if not conjunction))
        gates = [_gate(conjunction, graph.one) for conjunction in cases if len(conjunction) > 1]
        if not gates:
            return combine([(1, linear), (1, constant)])
        written = graph.slot(Sum(tuple((Unit(graph.one, gate), 1) for gate in gates), boolean=True))
        return combine([(1, written), (1, linear), (1, constant)])

    def _pass_cases_on(self, expression: Expr) -> None:
        """Cases survive concatenation, promises, and linear maps that add up exclusive coordinates."""
        found = [self.cases.get(id(child)) for child in self.dependencies(expression)]
        if not self.fold or all(cases is None for cases in found):
            return
        if isinstance(expression, Operator) and expression.type.kind <= Kind.BOOL and found[0] is not None:
            self.cases[id(expression)] = found[0]
        elif isinstance(expression, Concat):
            parts = [self.cases.get(id(part)) or self._literals(part) for part in expression.parts]
            self.cases[id(expression)] = [cases for part in parts for cases in part]
        elif isinstance(expression, Linear) and _adds_exclusive(expression) and found[0] is not None:
            rows = [[case for index, _ in row for case in found[0][index]] for row in expression.matrix]
            self.cases[id(expression)] = rows

    def _literals(self, expression: Expr) -> list[Cases]:
        return [[(form,)] if form else [] for form in self.forms[id(expression)]]


def _adds_exclusive(expression: Linear) -> bool:
    """Whether each row selects one coordinate, or adds coordinates of which at most one is 1."""
    ones = all(factor == 1 for row in expression.matrix for _, factor in row)
    selects = all(len(row) == 1 for row in expression.matrix)
    return ones and (selects or expression.child.type.kind is Kind.ONEHOT)


def _all_of(arguments: Sequence[Cases]) -> Cases:
    """AND of booleans given by their cases: every way to take one case of each."""
    joined = []
    for choice in product(*arguments):
        literals = dict.fromkeys(form for conjunction in choice for form in conjunction)
        if any(is_constant(form) and constant_of(form) == 0 for form in literals):
            continue
        joined.append(tuple(form for form in literals if not is_constant(form)))
    return joined


def _gate(conjunction: Conjunction, one: Form) -> Form:
    return combine([*((1, form) for form in conjunction), (1 - len(conjunction), one)])
