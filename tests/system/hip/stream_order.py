"""An independent model of the order of streams, for test_streams.py.

It is given what tests/programs/random_streams.hip.cpp printed, and the trace of events of the same
run: when the driver began and ended each command. Every two commands of a program that the rules
order must have run one after the other. It knows nothing of how the rules are kept; they are
written down here once more, from the documents:

hip     HIP programming guide, "Default stream": a stream is in order; on a device, the null
        stream's commands begin after those before them in blocking streams, and the other way
        round; streams 5 to 7 take no part in that.
balar   SST's "Balar In Depth", CUDA stream support: a stream is in order; a call on a default
        stream is taken only when nothing is pending anywhere, so what is called later begins after
        what was called earlier.
both    what the host waited for ended before what it called next began; after a wait for an event,
        a stream's commands begin after what the event was recorded behind.
"""

COMMANDS = {"copy": ("write", "read"), "copy_wait": ("write",), "copy_on": ("copy",),
            "fill": ("fill",), "fill_wait": ("fill",), "launch": ("launch",), "record": ("mark",)}
WAITS = ("wait", "sync_stream", "sync_event", "sync_device")


class Call:
    def __init__(self, words):
        self.kind, self.device, self.stream = words[0], int(words[1]), int(words[2])
        self.event = int(words[3]) if len(words) > 3 else None
        self.begin = self.end = None

    def queue(self):
        return self.device, self.stream

    def blocking(self):
        return 1 <= self.stream <= 4


def read_calls(text):
    programs = []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["program"]:
            programs.append([])
        elif words and words[0] in (*COMMANDS, *WAITS):
            programs[-1].append(Call(words))
        else:
            assert words == ["PASS", "random_streams"], f"unexpected: {line}"
    return programs


def read_spans(path):
    """(name, begin, end) of the driver's commands in the order of their tickets."""
    spans = {}
    for line in open(path, encoding="utf-8"):
        if '"cat": "driver"' not in line:
            continue
        fields = {key: line.split(f'"{key}": ')[1].split(",")[0].strip('"} \n]')
                  for key in ("ph", "name", "ts", "id")}
        span = spans.setdefault(int(fields["id"], 16), [fields["name"], None, None])
        span[1 if fields["ph"] == "b" else 2] = float(fields["ts"])
    return [spans[ticket] for ticket in sorted(spans)]


def assign(programs, spans):
    """Gives calls the times of their commands; what was before the first program is left over."""
    calls = [call for program in programs for call in program if call.kind in COMMANDS]
    names = {name for kinds in COMMANDS.values() for name in kinds}
    found = [span for span in spans if span[0] in names][-len(calls):]
    for call, (name, begin, end) in zip(calls, found, strict=True):
        assert name in COMMANDS[call.kind], f"{call.kind} ran as {name}"
        assert begin is not None and end is not None, f"{name} ran from {begin} to {end}"
        call.begin, call.end = begin, end


def waited(rules, host, before, records):
    """What of the calls before a call the host has waited for with it."""
    if host.kind == "sync_device":
        return [c for c in before if c.device == host.device]
    if host.kind == "sync_event":
        return covered(before, records.get((host.device, host.event)))
    if host.kind == "sync_stream":
        null = rules == "hip" and host.stream == 0
        return [c for c in before if c.queue() == host.queue()
                or null and c.device == host.device and c.blocking()]
    if host.kind == "copy_wait" or host.kind == "fill_wait" and rules == "hip":
        return [host]
    return []


def covered(before, record):
    return [c for c in before if record and c.queue() == record.queue()
            and before.index(c) <= before.index(record)]


def is_default_call(call):
    return call.stream == 0 and call.kind in COMMANDS


def must_follow(rules, program):
    """Pairs (a, b): b begins after a has ended."""
    pairs, done, barriers, records = [], [], {}, {}
    for number, call in enumerate(program):
        before = [c for c in program[:number] if c.kind in COMMANDS]
        own = list(done) + barriers.get(call.queue(), [])
        own += [c for c in before if c.queue() == call.queue()]
        if rules == "hip" and call.stream == 0:
            own += [c for c in before if c.device == call.device and c.blocking()]
        if rules == "hip" and call.blocking():
            own += [c for c in before if c.device == call.device and c.stream == 0]
        if rules == "balar" and is_default_call(call):
            own += before
            done += before  # the host was held until all of that was done
        if call.kind in COMMANDS:
            pairs += [(a, call) for a in own]
        if call.kind == "record":
            records[call.device, call.event] = call
        if call.kind == "wait":
            behind = covered(before, records.get((call.device, call.event)))
            barriers.setdefault(call.queue(), []).extend(behind)
        done += waited(rules, call, before, records)
    return pairs


def check(rules, calls, trace):
    """Every order that the rules ask for was kept. Returns the number of programs."""
    programs = read_calls(calls)
    assign(programs, read_spans(trace))
    ordered = together = 0
    wrong = []
    for number, program in enumerate(programs):
        commands = [c for c in program if c.kind in COMMANDS]
        together += sum(b.begin < a.end for i, a in enumerate(commands) for b in commands[i + 1:])
        for a, b in must_follow(rules, program):
            ordered += 1
            if b.begin < a.end:
                wrong.append(f"program {number}: {b.kind} on {b.queue()} began at {b.begin}, "
                             f"{a.kind} on {a.queue()} ended at {a.end}")
    assert not wrong, "\n".join(wrong[:10])
    assert ordered and together
    return len(programs)
