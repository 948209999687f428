"""Which outcomes the memory models allow litmus tests (tests/programs/litmus_tests.def), by
enumeration of candidate executions: every read takes every write to its location, and the writes to
a location come in every order.

The axioms are those of RC11 (Lahav, Vafeiadis, Kang, Hur, Dreyer, Repairing sequential consistency
in C/C++11, PLDI 2017) for atomics that all include each other's scopes: coherence, atomicity and
SC. Cycles of program order and reads-from are allowed (load buffering), as C11, HSA and PTX have
it; values are constants, so none comes from thin air. HSA's model (HSA Platform System
Architecture 1.2, chapter 3) and PTX's (Lustig, Sahasrabuddhe, Giroux, A formal analysis of the
NVIDIA PTX memory consistency model, ASPLOS 2019) give these tests the same verdicts. Where
scopes do not include the other threads, only values that were never written are forbidden."""
import functools
import itertools
import re
from pathlib import Path

LEVELS = ["relaxed", "acq_rel", "seq_cst", "fences", "sc_fences"]
TABLE = Path(__file__).parents[2] / "programs/litmus_tests.def"


def read_tests(path=TABLE):
    """Names to weak outcome and threads, each a tuple of (kind, location, value). Data that is not
    atomic is taken as relaxed: both of its values may come where it is not ordered."""
    tests = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        found = re.fullmatch(r"LITMUS\(([^,]+), (.*)\)", line)
        if found:
            weak, *threads = re.findall(r'"([^"]*)"', found[2])
            tests[found[1]] = weak, tuple(tuple((op[0].upper(), op[1], op[2])
                                                for op in t.split()) for t in threads)
    return tests


class Event:
    """An access, a fence, or the initial write of a location (thread None)."""

    def __init__(self, number, thread, kind, location=None, value=None):
        self.number, self.thread, self.kind = number, thread, kind
        self.location, self.value = location, value
        self.reads, self.writes = kind in "RU", kind in "WUI"


def events_of(threads, level):
    """Initial writes, then the threads; at the levels of fences one before each access but the
    first of its thread."""
    events = [Event(i, None, "I", x, "0") for i, x in enumerate("xyz")]
    for number, thread in enumerate(threads):
        for at, (kind, location, value) in enumerate(thread):
            if at and level.endswith("fences"):
                events.append(Event(len(events), number, "F"))
            events.append(Event(len(events), number, kind, location, value))
    return events


def closure(size, pairs):
    """The transitive closure, as a list of sets of successors."""
    after = [set() for _ in range(size)]
    for a, b in pairs:
        after[a].add(b)
    for k in range(size):
        for row in after:
            if k in row:
                row |= after[k]
    return after


def has_cycle(size, pairs):
    return any(i in row for i, row in enumerate(closure(size, pairs)))


class Execution:
    """Reads-from `rf` (read to write) and the order of writes `mo` (location to a list)."""

    def __init__(self, events, level, rf, mo):
        self.events, self.level, self.rf, self.mo = events, level, rf, mo
        self.size = len(events)
        self.order = [(a.number, b.number) for a in events for b in events
                      if b.thread is not None and (a.thread is None or a.thread == b.thread)
                      and a.number < b.number]
        self.before = [(a, b) for writes in mo.values()
                       for a, b in itertools.combinations(writes, 2)]
        self.from_read = [(r, b) for r, w in rf.items() for a, b in self.before
                          if a == w and b != r]

    def synchronizes(self):
        """A release, or a fence before a write, to an acquire, or a fence behind a read, that takes
        that write or a later exchange of its chain."""
        if self.level == "relaxed":
            return []
        pairs = []
        for read, write in self.rf.items():
            chain = {write}
            while self.events[write].kind == "U":
                write = self.rf[write]
                chain.add(write)
            for head in chain:
                pairs += itertools.product(self.side(head, True), self.side(read, False))
        return [(a, b) for a, b in pairs if self.events[a].thread != self.events[b].thread]

    def side(self, number, releases):
        """What releases with a write, or acquires with a read."""
        event = self.events[number]
        if event.thread is None:
            return []
        if self.level in ("acq_rel", "seq_cst"):
            return [number]
        return [f.number for f in self.events if f.kind == "F" and f.thread == event.thread
                and (f.number < number) == releases]

    def is_consistent(self):
        happens = closure(self.size, self.order + self.synchronizes())
        extended = closure(self.size, self.before + self.from_read
                           + [(w, r) for r, w in self.rf.items()])
        for a, row in enumerate(happens):
            if a in row or any(a in extended[b] for b in row):
                return False  # coherence
        for r, w in self.rf.items():
            if self.events[r].kind == "U":
                writes = self.mo[self.events[r].location]
                if writes.index(r) != writes.index(w) + 1:
                    return False  # atomicity
        return not has_cycle(self.size, self.sequential(happens, extended))

    def sequential(self, happens, extended):
        """RC11's psc: what the order of sequentially consistent events has to include."""
        events = self.events
        if self.level == "seq_cst":
            own = {(a, b) for a, b in self.order if events[a].thread is not None}
            near = own | {(a, b) for a, b in self.before + self.from_read}
            near |= {(a, b) for a, row in enumerate(happens) for b in row
                     if events[a].location == events[b].location}
            far = {(a, b) for a, c in own for d, b in own if d in happens[c]
                   and events[a].location != events[c].location
                   and events[d].location != events[b].location}
            return [(a, b) for a, b in near | far
                    if events[a].thread is not None and events[b].thread is not None]
        if self.level == "sc_fences":
            fences = [e.number for e in events if e.kind == "F"]
            return [(f, g) for f in fences for g in fences if f != g
                    and (g in happens[f] or any(a in happens[f] and g in happens[b]
                                                for a in range(self.size)
                                                for b in extended[a]))]
        return []

    def outcome(self):
        reads = [self.events[self.rf[e.number]].value for e in self.events if e.reads]
        last = [self.events[self.mo[x][-1]].value for x in "xyz"]
        return f"{''.join(reads)} {''.join(last)}"


@functools.cache
def outcomes(threads, level, scoped=True):
    """All that may come, as the program writes it."""
    events = events_of(threads, level if scoped else "relaxed")
    reads = [e for e in events if e.reads]
    writes = {x: [e.number for e in events if e.writes and e.location == x] for x in "xyz"}
    allowed = set()
    for taken in itertools.product(*([w for w in writes[r.location] if w != r.number]
                                     for r in reads)):
        rf = dict(zip((r.number for r in reads), taken))
        for orders in itertools.product(*(itertools.permutations(writes[x][1:]) for x in "xyz")):
            mo = {x: [writes[x][0], *o] for x, o in zip("xyz", orders)}
            run = Execution(events, level if scoped else "relaxed", rf, mo)
            if not scoped or run.is_consistent():
                allowed.add(run.outcome())
    return allowed
