"""Managed memory that is larger than the GPU's: results are those of a GPU with room for all, and
the pages that come and go are those that the policy says."""
import re

import pytest

from harness import FAILS, same, same_bytes, ways
from programs import only_full

PAGE = 4096
LINES = PAGE // 64
SMALL = ("platforms/managed4.heddle --set gpus=1 --set gpu.banks=1 --set gpu.vram=1MiB"
         " --set host_memory=8MiB --max-cycles 300000000")
DEMAND = f"{SMALL} --generic --set gpu.policy=demand"
OVER = 1536  # KiB; the card has 1024


def resident(done):
    return int(re.search(r"^resident (\d+)$", done.stdout, re.MULTILINE)[1])


def pages(done, gpu=0):
    return done.components[f"gpu[{gpu}].pages"]


def conserved(done, gpus=1):
    """What came and did not go is there, and the link to the host's memory carried just that."""
    came, went = (sum(pages(done, i)[name] for i in range(gpus))
                  for name in ("pages", "evicted_pages"))
    for i in range(gpus):
        p = pages(done, i)
        assert (p["bytes"], p["evicted_bytes"]) == (PAGE * p["pages"], PAGE * p["evicted_pages"])
    if gpus == 1:
        assert came - went == resident(done)
        link = next(value for name, value in done.stats["links"].items()
                    if name.endswith("-> system.dram.top via pcie"))
        assert link["forward"]["messages"] == LINES * (came + went)
        assert link["backward"]["bytes"] == LINES * (came * (64 + 8) + went * 8)
    return came, went


@pytest.mark.parametrize("pattern", ["random", *only_full("stream", "stencil")])
def test_more_memory_than_the_card_has(measure, pattern):
    over = measure(f"{DEMAND} -- oversubscribe {pattern} {OVER} 3")
    room = measure(f"{DEMAND} -- oversubscribe {pattern} 768 3")
    came, went = conserved(over)
    assert went > came / 2 and pages(over)["refaults"] > 100
    came, went = conserved(room)
    assert (went, pages(room)["refaults"]) == (0, 0) and came <= 768 * 1024 // PAGE


def test_order_threads_and_mode_change_no_result(measure):
    text = f"{DEMAND} --set driver.eviction.block=64KiB {{}} -- oversubscribe random {OVER} 1"
    reference = same_bytes(measure, text, ["--threads=2", "--tick-order=random:3"])
    conserved(reference)
    plain = measure(text.format("--mode functional"))
    assert pages(plain)["pages"] == 0 and resident(plain) == 0


def test_order_of_the_hosts_copies_is_not_the_processors(measure, monkeypatch):
    """With small caches the C library copies pages of four places in turn, and where string
    instructions are fast it takes them."""
    text = f"{DEMAND} -- oversubscribe random {OVER} 1"
    before = measure(text)
    for other in ("x86_non_temporal_threshold=0x10000", "hwcaps=-ERMS,-FSRM"):
        monkeypatch.setenv("GLIBC_TUNABLES", f"glibc.cpu.{other}")
        same(before, measure(text))


def test_several_gpus_take_pages_from_each_other_and_from_the_host(measure):
    text = (f"{DEMAND} --set gpus=4 {{}} -- oversubscribe stencil {OVER} 4").replace(
        "--set gpus=1 ", "")
    done = measure(text.format(""))
    came, _ = conserved(done, 4)
    assert done.components["driver"]["migrations"] == came
    assert all(pages(done, i)["evicted_pages"] > 100 for i in range(4))
    for order in ways(["--threads=2"]):
        same(done, measure(text.format(order), env={"HEDDLE_THREAD_DELAYS": "2"}))


@pytest.mark.parametrize("host", ["", "--set host_memory=8MiB --set gpu.banks=1"
                                  " --set gpu.vram=1MiB"])
@pytest.mark.parametrize("program", ["managed_both 2 2", "managed_pingpong 4 2"])
def test_gpus_that_want_one_page_at_once_get_it_in_turn(run, program, host):
    """One of several GPUs that wait for a page in the same pause gets it, and uses it before the
    next one does; kernels that wait for each other through that page go on."""
    run(f"platforms/managed4.heddle --generic {host} --set gpu.policy=demand"
        f" --max-cycles 5000000 -- {program}")


def test_recording_plays_the_same(measure, run, tmp_path):
    platform = DEMAND.replace("--set gpus=1", "--set gpus=2")
    done = measure(f"{platform} --record api={tmp_path}/api"
                   " -- oversubscribe stencil 1280 2 prefetch")
    played = measure(f"{platform} --play api={tmp_path}/api")
    for what in "components", "links":
        assert done.stats[what] == played.stats[what]
    advised = run(f"{platform} --record api={tmp_path}/no -- oversubscribe stencil 768 1 remote",
                  status=FAILS)
    assert "advises where managed memory lies" in advised.stderr


# ---- the policies against a model of their own ----

def scatter(i, turn):
    x = (i + turn * 0x9E3779B9) * 0x85EBCA6B & 0xFFFFFFFF
    x ^= x >> 15
    return (x * 0xC2B2AE35 & 0xFFFFFFFF) >> 8


def walk(rounds, count):
    """The pages that tests/programs/oversubscribe.hip.cpp touches, one after the other."""
    for step in range(256 * rounds):
        yield (scatter(step // 4 * 4, 0) + step % 4) % count


class Card:
    """Frames, and the pages in them from the oldest to the youngest."""

    def __init__(self, frames, block, refreshes, first):
        self.frames, self.block, self.refreshes, self.first = frames, block, refreshes, first
        self.order, self.left = [], set()
        self.came = self.went = self.again = 0

    def of_block(self, page):
        return [p for p in sorted(self.order)
                if (p + self.first) // self.block == (page + self.first) // self.block]

    def touch(self, page):
        if page in self.order:
            return
        self.again += page in self.left
        if len(self.order) == self.frames:
            gone = self.of_block(self.order[0])
            self.order = [p for p in self.order if p not in gone]
            self.left.update(gone)
            self.went += len(gone)
        self.order.append(page)
        self.left.discard(page)
        self.came += 1
        if self.refreshes:
            block = self.of_block(page)
            self.order = [p for p in self.order if p not in block] + block


@pytest.mark.parametrize("policy, kib", [("lru_eviction", 64), *only_full(
    ("lru_eviction", 4), ("fifo_eviction", 64))])
def test_pages_leave_as_in_a_model_of_the_policy(measure, policy, kib):
    rounds, count = 4, OVER * 1024 // PAGE
    full = measure(f"{DEMAND} -- oversubscribe stream {OVER} 1")
    done = measure(f"{DEMAND} --set driver.eviction={policy}"
                   f" --set driver.eviction.block={kib}KiB -- oversubscribe walk {OVER} {rounds}")
    model = Card(resident(full), kib * 1024 // PAGE, policy == "lru_eviction", 0)
    for page in walk(rounds, count):
        model.touch(page)
    p = pages(done)
    conserved(done)
    assert (p["pages"], p["evicted_pages"], p["refaults"]) == (model.came, model.went, model.again)
    assert model.again > 20 and p["far_faults"] == model.came


def test_any_page_leaves_and_every_run_is_the_same(measure):
    text = f"{DEMAND} --set driver.eviction=random_eviction {{}} -- oversubscribe walk 1536 4"
    first, other = measure(text.format("")), measure(text.format("--set driver.eviction.seed=2"))
    same(first, measure(text.format("--threads=2")))
    assert pages(first)["refaults"] != pages(other)["refaults"]
    conserved(first), conserved(other)


# ---- prefetch and advice ----

def test_tree_brings_neighbours_in_fewer_faults_and_thrashes_when_memory_is_short(measure):
    tree = "--set driver.prefetch=tree_prefetch --set driver.eviction.block=64KiB"
    with_it, alone = (measure(f"{DEMAND} {option} -- oversubscribe stream 768 1")
                      for option in (tree, ""))
    assert pages(with_it)["pages"] == pages(alone)["pages"] == 768 * 1024 // PAGE
    assert pages(with_it)["far_faults"] < pages(alone)["far_faults"] / 4
    short = measure(f"{DEMAND} {tree} -- oversubscribe random {OVER} 1")
    bare = measure(f"{DEMAND} -- oversubscribe random {OVER} 1")
    conserved(short)
    assert pages(short)["refaults"] > 2 * pages(bare)["refaults"]


# The whole comes to the card by itself, or as much as there is room for; remote memory never does.
# A page that is read mostly is copied; the other half of `stencil`, which is written, is, too, and
# loses its copies again.
@pytest.mark.parametrize("advice, kib, came, faults", [
    ("prefetch", 768, 192, 0), ("prefetch", OVER, None, None), ("back", 768, 384, None),
    ("remote", OVER, 0, 0), ("accessed", OVER, 0, 0)])
def test_program_says_where_pages_go(measure, advice, kib, came, faults):
    done = measure(f"{DEMAND} -- oversubscribe stencil {kib} 2 {advice}")
    p = pages(done)
    assert came is None or p["pages"] == came
    assert faults is None or p["far_faults"] == faults
    if advice in ("prefetch", "back"):
        conserved(done)


@pytest.mark.parametrize("kib", [OVER, *only_full(768)])
def test_pages_that_are_mostly_read_are_copied_while_there_is_room(measure, kib):
    done = measure(f"{DEMAND} -- oversubscribe stencil {kib} 2 read")
    assert done.components["driver"]["copies_made"] >= min(kib // 4, 200)
    assert (done.components["driver"]["migrations_refused"] > 0) == (kib == OVER)


def test_counted_touches_bring_pages_that_are_used_remotely_before(measure):
    done = measure(f"{SMALL} --generic --set gpu.policy=access_counter"
                   " --set gpu.policy.threshold=2 -- oversubscribe stencil 1536 3")
    p = pages(done)
    assert p["far_faults"] == 0 and p["evicted_pages"] > 0
    assert p["pages"] - p["evicted_pages"] == resident(done)


# ---- what else needs memory of the card ----

@pytest.mark.parametrize("what", ["private", *only_full("allocate")])
def test_pages_make_room_for_memory_of_the_card(measure, what):
    conserved(measure(f"{DEMAND} -- oversubscribe stream {OVER} 2 {what}"))


def test_without_memory_of_the_host_a_card_is_all_there_is(run):
    small = SMALL.replace("--set host_memory=8MiB ", "")
    refused = run(f"{small} --generic -- oversubscribe stream 1536", status=1)
    assert "hipErrorOutOfMemory" in refused.stdout
    assert "1572864 bytes of managed memory are more than the 1048576 of device 0" in refused.stderr
    text = run(f"{SMALL} --generic --set driver.eviction=none -- oversubscribe", status=FAILS)
    assert "set `eviction = lru_eviction` of the driver" in text.stderr
