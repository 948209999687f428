"""Asynchronous copies and products in SASS traces: bounds that follow from the platform's
parameters, what waits for what, and what a run says of it."""
import pytest

import harness
from harness import HEDDLE, run
import sass_bounds
from sass_bounds import AMPERE, CASES, G, HOPPER, NEAREST
from sass_traces import (END, EXIT, FULL, Folder, arrive, bulk, chain, commit, copy, hopper, load,
                         phase, product, wait)

PLAYER = "platforms/rtx3070.heddle --generic --no-cache --set player.launch_latency=0cy"


@pytest.fixture
def sass(tmp_path):
    folder = Folder(tmp_path)

    def cycles(lines, warps=1, options="--set sms=1", head=HOPPER, **more):
        trace = folder.trace("kernel-1.traceg", more.pop("blocks", 1), warps, lines,
                             **{"registers": 128, **head, **more})
        done = harness.measure(f"{PLAYER} {options} --play sass={folder.list('list.g', [trace])}",
                               folder=tmp_path)
        folder.said = done.stderr
        return done.stats["kernels"][0]["cycles"]

    folder.cycles = cycles
    return folder


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_cycles_lie_between_their_bounds(tmp_path, case):
    kernel, _ = sass_bounds.play(HEDDLE, Folder(tmp_path), case)
    assert case[3] <= kernel["cycles"] <= case[4]


def test_copy_leaves_its_warp_alone_until_it_is_waited_for(sass):
    """A chain of FP32 beside a copy takes as long as the longer of both."""
    lines = copy(0, 0x1000, G) + [commit(0x20)] + chain(40) + [wait(0x30, 0), EXIT]
    assert 0 <= sass.cycles(lines, head=AMPERE) - sass.cycles(lines[:2] + lines[-2:],
                                                              head=AMPERE) < 10


def test_wait_counts_empty_groups(sass):
    """As cp.async.wait_group does: a copy that two groups follow is waited for by `1`."""
    def taken(empty, most):
        return sass.cycles(copy(0, 0x1000, G) + [commit(0x20)] * (1 + empty)
                           + [wait(0x40, most)] + chain(60) + [EXIT], head=AMPERE)

    after = NEAREST + 60 * 8  # the chain begins when the copy is there
    assert taken(0, 1) < after and taken(1, 2) < after
    assert taken(0, 0) >= after and taken(2, 1) >= after


def test_fence_does_not_wait_for_copies(sass):
    fence = f"0040 {FULL} 0 MEMBAR.SC.GPU 0 0"
    lines = copy(0, 0x1000, G) + [commit(0x20), fence] + chain(60) + [EXIT]
    assert sass.cycles(lines, head=AMPERE) < NEAREST + 60 * 8


@pytest.mark.parametrize("warps", [5, 8])
def test_four_warps_begin_a_product_together(sass, warps):
    """A late warp holds up the other three of its four, and no others."""
    def lines(block, warp):
        late = [line + " 0 0 NoVal" for line in chain(100)] if warp == 1 else []
        return late + [hopper(0x900, "WARPGROUP.ARRIVE"), product(0x910, closes=1),
                       hopper(0x920, "WARPGROUP.DEPBAR.LE")] + [END]

    taken = sass.cycles(lines, warps)
    assert 100 * 8 + 128 <= taken <= 100 * 8 + 128 + 50
    assert sass.cycles(lambda block, warp: lines(block, 0), warps) < 400


def test_product_is_waited_for_by_its_group(sass):
    """One group of two products may be under way: the wait ends with the first."""
    def taken(most):
        return sass.cycles([hopper(0, "WARPGROUP.ARRIVE"), product(0x10, closes=1),
                            product(0x20, closes=1), hopper(0x30, "WARPGROUP.DEPBAR.LE", most)]
                           + [line + " 0 0 NoVal" for line in chain(60)] + [END], 4)

    assert taken(0) - taken(1) == 128


def test_copy_to_a_barrier_holds_up_who_waits_there(sass):
    beside = [line + " 0 0 NoVal" for line in chain(60)]

    def taken(barrier):
        return sass.cycles([bulk(0, "UTMALDG.2D", sass_bounds.rows(0), barrier=0x400),
                            phase(0x10, barrier)] + beside + [END])

    assert taken(0x400) >= NEAREST + 64 * 4 + 60 * 8
    assert taken(0x408) < NEAREST + 64 * 4 + 60 * 8


@pytest.mark.parametrize("stages", [1, 4])
def test_wait_that_is_tried_again_waits_for_the_same_phase(sass, stages):
    once, thrice = (sass.cycles(sass_bounds.pipeline(8, stages, again), 5) for again in (1, 3))
    assert once <= thrice < once + 8 * 3 * 20


def test_consumer_with_fewer_waits_than_phases_is_held_up_all_the_same(sass):
    """Two groups of warps that share a barrier's phases each wait less often than it has phases."""
    def lines(block, warp):
        if warp == 1:
            return [line for i in range(4) for line in
                    (arrive(0x10, 0x400, "TRANS64"),
                     bulk(0x20, "UTMALDG.2D", sass_bounds.rows(i), barrier=0x400))] + [END]
        return [phase(0x100), hopper(0x110, "NOP")] * 2 + [END]

    assert sass.cycles(lines, 2) >= 4 * 64 * 4


def test_wait_that_nothing_ends_holds_up_no_warp_for_ever(sass):
    """The warp waits for the copy that it issues behind the wait: no card has recorded that."""
    lines = [phase(0), arrive(0x10, 0x400, "TRANS64"),
             bulk(0x20, "UTMALDG.2D", sass_bounds.rows(0), barrier=0x400), END]
    assert NEAREST + 64 * 4 <= sass.cycles(lines) < NEAREST + 64 * 4 + 300


def test_restored_run_takes_the_same_cycles(sass, tmp_path):
    lines = sass_bounds.pipeline(6, 2)
    reference = sass.cycles(lines, 5, blocks=3)
    for cycle in 300, 1000:
        state = f"--set sms=1 --checkpoint {tmp_path / 'state'} --checkpoint-at {cycle}"
        assert sass.cycles(lines, 5, state, blocks=3) == reference
        restore = f"--set sms=1 --restore {tmp_path / 'state'}"
        assert sass.cycles(lines, 5, restore, blocks=3) == reference


def test_lines_of_older_tracers_move_nothing_and_say_so(sass):
    lines = ["0000 00000001 0 UTMALDG.2D 2 UR8 UR14 0 0 0 NoVal", END]
    assert sass.cycles(lines) < 40
    assert sass.said.count("note: approximated: bulk copies whose lines have no transfers") == 1


def test_blocks_of_a_cluster_are_placed_together(sass):
    """One of two SMs is taken by another kernel, so a cluster of two blocks waits for its end."""
    fill, long = chain(300) + [EXIT], chain(600) + [EXIT]

    def end(cluster):
        names = [sass.trace("kernel-1.traceg", 1, 16, fill, stream=1, shared=90000),
                 sass.trace("kernel-2.traceg", 2, 16, lambda b, w: fill[-1:] if b else long,
                            stream=2, shared=90000, cluster=cluster)]
        done = harness.measure(f"{PLAYER} --set sms=2 --play sass={sass.list('l.g', names)}",
                               folder=sass.path)
        return {k["name"]: k["cycles"] for k in done.stats["kernels"]}["kernel_2"]

    alone = end(1)
    assert end(2) > alone + 1000


def test_named_barriers_are_kept_apart(sass):
    """Two warps meet at a barrier of their own while the others go on."""
    def lines(block, warp):
        late = chain(100) if warp == 3 else []
        meet = [f"0900 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0 1 64 NoVal"] if warp < 2 else []
        rest = [f"0910 {FULL} 0 BAR.SYNC.DEFER_BLOCKING 0 0 2 64 NoVal"] if warp > 1 else []
        return [line + " 0 0 NoVal" for line in late] + meet + rest \
            + [line + " 0 0 NoVal" for line in chain(100 if warp < 2 else 1)] + [END]

    assert sass.cycles(lines, 4) < 100 * 8 + 8 * 8 + 100


def test_blackwells_names_are_known_and_noted_once(sass):
    names = ("UTCHMMA", "UTCQMMA.2CTA", "UTCCP.T.S", "LDTM.x32", "STTM.x8", "UTCBAR", "LDCU.64",
             "FFMA2", "UTCATOMSWS")
    lines = [hopper(16 * i, name) for i, name in enumerate(names)]
    sass.cycles(lines + [END], head={"version": 100})
    assert "in no table" not in sass.said
    assert sass.said.count("note: approximated: Blackwell's tensor memory") == 1


def test_note_is_said_once_a_run_and_only_of_what_is_there(sass):
    tile = [bulk(0, "UTMALDG.2D", sass_bounds.rows(0)), END]
    names = [sass.trace(f"kernel-{i}.traceg", 2, 1, tile, **HOPPER) for i in (1, 2)]
    done = run(f"{PLAYER} --play sass={sass.list('l.g', names)}")
    assert done.output.count("note: approximated: bulk copies") == 1
    assert done.output.count("note:") == 1
    plain = [sass.trace("kernel-3.traceg", 1, 1, [load(0, G), EXIT])]
    assert "note:" not in run(f"{PLAYER} --play sass={sass.list('l.g', plain)}").output


@pytest.mark.parametrize("old, new, says", [
    (" 4 0x", " 5 0x", "how transfers are written .3 all, 4 differences"),
    (" 64 4096", " 99999 4096", "how many transfers follow, 256 KiB in all at most"),
    ("UR14 128 ", "UR14 999999 ", "transfers of 999999 bytes"),
    (" 4096 4096 4096 0", " 0", "the difference of each transfer from the one before")])
def test_mistake_in_a_bulk_copy_is_named(sass, old, new, says):
    line = bulk(0, "UTMALDG.2D", sass_bounds.rows(0))
    assert old in line
    path = sass.list("l.g", [sass.trace("kernel-1.traceg", 1, 1, [line.replace(old, new), END],
                                        **HOPPER)])
    run(f"{PLAYER} --play sass={path}", f"kernel-1.traceg:20: .*({says})", status=3)


@pytest.mark.parametrize("order", ["--tick-order descending", "--tick-order random:5", "--tick-all",
                                   "--threads 2"])
def test_order_of_ticks_changes_no_cycle(sass, order):
    def lines(block, warp):
        return [bulk(0x10 * i, "UTMALDG.2D", sass_bounds.rows(8 * block + i)) for i in range(4)] \
            + [phase(0x80), hopper(0x90, "WARPGROUP.ARRIVE"), product(0xa0, closes=1),
               hopper(0xb0, "WARPGROUP.DEPBAR.LE"),
               bulk(0xc0, "UTMASTG.2D", sass_bounds.rows(8 * block + 6)),
               hopper(0xd0, "UTMACMDFLUSH"), hopper(0xe0, "DEPBAR.LE"), END]

    how = {"blocks": 6, "options": "--set sms=4"}
    assert sass.cycles(lines, 4, **how) == \
        sass.cycles(lines, 4, blocks=6, options=f"--set sms=4 {order}")
