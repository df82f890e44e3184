"""What each head of a transformer has to remember, read off its matrices.

A row can be recognised as constant, as n times something (a unit whose gate is the position n), or as a uniform average
that is only ever multiplied by n, in which case the sum is carried instead. From this follows which heads need no scan.
"""

from collections.abc import Iterable, Sequence

from pencil.theory.decode.heads import Number
from pencil.theory.decode.sparse import ONE, HeadTerms, LayerTerms, SparseWeights, Terms, UnitTerms, weighted
from pencil.theory.weights import Weights


class Plan:
    """The sparse rows of a transformer, its heads classified; see `pencil.theory.decode.heads` for the kinds."""

    def __init__(self, weights: Weights) -> None:
        self.sparse = SparseWeights(weights)
        self.n, self.layers, self.written_once = self.sparse.n, self.sparse.layers, self.sparse.written_once
        self.sums = self._find_sums()
        self.integers = self._embedded_integers()
        for layer in self.layers:
            self._classify_layer(layer)

    def _readers(self) -> Iterable[Terms]:
        """Every row that is read, except those of units."""
        yield from self.sparse.output
        for layer in self.layers:
            for head in layer.heads:
                yield from (row for pair in head.pairs for row in pair)
                yield from head.values

    # ---- averages that are only multiplied by n

    def _find_sums(self) -> set[int]:
        """Mark the uniform heads all of whose averages are read by nothing but units n * average."""
        read = {coordinate for row in self._readers() for coordinate in row}
        for layer in self.layers:
            for units in layer.units.values():
                for unit in units:
                    read.update(unit.gate if self.multiplies_by_n(unit) else {**unit.gate, **unit.value})
        for layer in self.layers:
            for head in layer.heads:
                uniform = all(key.keys() <= {ONE} for _, key in head.pairs)
                head.sums = uniform and not read & head.out.keys() and head.out.keys() <= self.written_once
        return {c for layer in self.layers for head in layer.heads if head.sums for c in head.out}

    def multiplies_by_n(self, unit: UnitTerms) -> bool:
        """Whether a unit is n times one coordinate."""
        return len(unit.value) == 1 and self.n is not None and unit.gate == {self.n: 1}

    def carries_sum(self, unit: UnitTerms) -> bool:
        """Whether what a unit reads is a sum in place of an average, so that it is n times too large already."""
        return unit.value.keys() <= self.sums

    # ---- what each head must remember

    def _classify_layer(self, layer: LayerTerms) -> None:
        for head in layer.heads:
            self._classify(head)
        for head in layer.heads:
            self._note_integers(head.out, [self._head_gives_integers(head, row) for row in head.out.values()])
        rows = [all(self._unit_is_integer(unit) for unit in units) for units in layer.units.values()]
        self._note_integers(layer.units, rows)

    def _classify(self, head: HeadTerms) -> None:
        core = self._core(head.pairs)
        pairs = head.pairs if core is None else core
        head.rightmost = core is not None
        changing = [(query, key) for query, key in pairs if query.keys() - {ONE}]
        fixed = weighted((query.get(ONE, 0), key) for query, key in pairs if not query.keys() - {ONE})
        if not changing:
            head.kind, head.query, head.key = "best", [], [fixed]
        elif len(changing) == 1 and head.rightmost:
            head.kind, head.query, head.key = "match", [changing[0][0]], [changing[0][1], fixed]
        else:
            head.query, head.key = [query for query, _ in pairs], [key for _, key in pairs]

    def _core(self, pairs: list[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]] | None:
        """The pairs of q.k where the score is n * (q.k) + j with integers q and k: then the last best match wins."""
        ties = [(query, key) for query, key in pairs if query == {ONE: 1} and key == {self.n: 1}]
        if self.n is None or len(ties) != 1:
            return None
        core = [(self._divided_by_n(query), key) for query, key in pairs if (query, key) != ties[0]]
        found = [(query, key) for query, key in core if query is not None]
        integral = all(self._is_integer(row) for pair in found for row in pair)
        return found if len(found) == len(core) and integral else None

    def _divided_by_n(self, query: Terms) -> Terms | None:
        """f, if a row is n * f: its terms are n itself, or units n * f that nothing else is added to."""
        parts: list[tuple[Number, Terms]] = []
        for coordinate, factor in query.items():
            units = [unit for layer in self.layers for unit in layer.units.get(coordinate, [])]
            if coordinate == self.n:
                parts.append((factor, {ONE: 1}))
            elif coordinate in self.written_once and len(units) == 1 and units[0].gate == {self.n: 1}:
                if self.carries_sum(units[0]):
                    return None
                parts.append((factor * units[0].weight, units[0].value))
            else:
                return None
        return weighted(parts)

    # ---- integers

    def _embedded_integers(self) -> set[int]:
        width = len(self.sparse.embedding[0])
        return {c for c in range(width) if all(isinstance(row[c], int) for row in self.sparse.embedding)} | {ONE}

    def _is_integer(self, row: Terms) -> bool:
        return row.keys() <= self.integers and all(isinstance(factor, int) for factor in row.values())

    def _unit_is_integer(self, unit: UnitTerms) -> bool:
        return isinstance(unit.weight, int) and self._is_integer(unit.value) and self._is_integer(unit.gate)

    def _head_gives_integers(self, head: HeadTerms, row: Terms) -> bool:
        """An average of integers need not be one, unless all that tie are equal: then the value is the score."""
        values = [head.values[index] for index in row]
        whole = head.rightmost or head.sums or (head.kind == "best" and all(value == head.key[0] for value in values))
        return whole and all(map(self._is_integer, values)) and all(isinstance(w, int) for w in row.values())

    def _note_integers(self, coordinates: Iterable[int], whole: Sequence[bool]) -> None:
        self.integers -= {coordinate for coordinate, is_whole in zip(coordinates, whole, strict=True) if not is_whole}

    # ---- what depends on what

    def needed_by_keys(self) -> set[int]:
        """The coordinates that any key or value depends on."""
        needed: set[int] = set()
        for layer in reversed(self.layers):
            for units in (units for c, units in layer.units.items() if c in needed):
                needed.update(c for unit in units for c in (*unit.value, *unit.gate))
            for head in layer.heads:
                queries = head.query if needed & head.out.keys() else []
                needed.update(c for row in (*head.key, *head.values, *queries) for c in row)
        return needed

    def last_inputs(self) -> list[int]:
        """The coordinates that the last feed-forward and the output read."""
        read = {c for row in self.sparse.output for c in row}
        for layer in self.layers[-1:]:
            read -= {c for c in layer.units if c in self.written_once}
            read |= {c for units in layer.units.values() for unit in units for c in (*unit.value, *unit.gate)}
        return sorted(read - {ONE})
