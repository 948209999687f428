"""The random memory tester: every load and atomic is checked against a model of its own, on many
memory systems; a mistake is reported with the whole story of its line."""
import shutil
from pathlib import Path

import pytest

from harness import heddle, same, same_bytes, ways
from programs import only_full

import seeded

MEMTEST = "tests/system/platforms/memtest.heddle"
LEVELS = "tests/system/platforms/memtest_levels.heddle"
FOUR = "tests/system/platforms/memtest4.heddle"
MOVES = "tests/system/platforms/memtest_moves.heddle"
DELAYS = {"HEDDLE_THREAD_DELAYS": "3"}
ORDERS = ["--threads=3", "--generic", "--tick-order=random:4", "--tick-all"]


def test_memory_system_makes_no_mistake(run):
    run(MEMTEST)


# THREADS is how many the tester has there, ports times 8.
AGENTS = "tester.order=scoped tester.agents=4"
OWN_L2S = "node.l2_caches=all " + AGENTS
LARGE_L2 = " node.l2.size=16KiB node.l2.ways=16 node.l2.targets=8 tester.actions=64"
COPIES = "tester.calm=5000cy tester.copies=true node.policy=pinned"
HIERARCHIES = {
    "l1-write-around": (LEVELS, "memtest_flat", 32, ""),
    "l1-write-through": (LEVELS, "memtest_flat", 32, "l1.write=through"),
    "own-l1-write-back": (LEVELS, "memtest_flat", 8, "ports=1 l1.write=back"),
    "l1-around-l2-back": (MEMTEST, "memtest", 32, ""),
    "lines-stay-in-l1": (MEMTEST, "memtest", 32, "l1.size=64KiB tester.span=16KiB"),
    "l1-and-l2-write-through": (MEMTEST, "memtest", 32, "l1.write=through l2.write=through"),
    "l1-write-evict": (MEMTEST, "memtest", 32, "l1.write=evict"),
    "l2-write-evict": (MEMTEST, "memtest", 32, "l2.write=evict"),
    "translation-and-tlbs": (MEMTEST, "memtest_translated", 32, ""),
    "three-clocks-and-link": (LEVELS, "memtest_clocks", 32, ""),
    "four-levels": (LEVELS, "memtest_deep", 32, ""),
    "lines-of-64-and-128": (LEVELS, "memtest_lines", 32, ""),
    "lines-of-64-and-128-through": (LEVELS, "memtest_lines", 32,
                                   "short.write=through long.write=through l2.write=through"),
    "lines-of-128-take-64": (LEVELS, "memtest_lines", 32, "above=64B"),
    "lines-of-128-two-a-cycle": (LEVELS, "memtest_lines", 32, "long.ports=4 long.latency=40cy"
                                 " tester.span=4KiB tester.locations=900"),
    "lines-of-128-take-64-around": (LEVELS, "memtest_lines", 32, "above=64B l2.write=around"),
    "two-dies": (LEVELS, "memtest_dies", 32, ""),
    "two-dies-scoped": (LEVELS, "memtest_dies", 32, "tester.order=scoped tester.agents=1"),
    "four-dies-large-l2": (LEVELS, "memtest_dies", 64, "dies=4 die.l2.size=32KiB die.l2.ways=16"),
    "two-dies-probed": (LEVELS, "memtest_dies", 32, "probes=2"),
    "two-dies-probed-scoped": (LEVELS, "memtest_dies", 32,
                               "probes=2 tester.order=scoped tester.agents=1"),
    "four-dies-probed-large-l2": (LEVELS, "memtest_dies", 64, "probes=2 dies=4 die.l2.size=32KiB"
                                  " die.l2.ways=16"),
    "two-dies-of-two-gpus-probed": (LEVELS, "memtest_nodes", 32, "gpu.probes=2"),
    "two-dies-of-two-gpus": (LEVELS, "memtest_nodes", 32, ""),
    "two-dies-of-two-gpus-scoped": (LEVELS, "memtest_nodes", 32,
                                    "tester.order=scoped tester.agents=2"),
    "eight-banks": (MEMTEST, "memtest", 128, "ports=16 banks=8 xbar.width=16B/cy"),
    "four-gpus-l2-back": (FOUR, "memtest4", 64, ""),
    "four-gpus-l2-through": (FOUR, "memtest4", 64, "node.l2_write=through"),
    "four-gpus-one-way-ring": (FOUR, "memtest4", 64, "topology=one_way node.depth=2"),
    "l2s-of-one-gpu-back": (FOUR, "memtest4", 64, OWN_L2S),
    "l2s-of-one-gpu-through": (FOUR, "memtest4", 64, OWN_L2S + " node.l2_write=through"),
    "l2s-of-one-gpu-large": (FOUR, "memtest4", 64, OWN_L2S + LARGE_L2),
    "pages-move-l2-back": (MOVES, "memtest_moves", 64, "tester.calm=5000cy"),
    "pages-move-l2-through": (MOVES, "memtest_moves", 64,
                              "tester.calm=5000cy node.l2_write=through"),
    "few-pages-large-l1": (MOVES, "memtest_moves", 8,
                           "node.l1.size=16KiB node.l1.ways=16 tester.threads=1 tester.frames=2"
                           " tester.span=16KiB tester.locations=512 tester.calm=5000cy"),
    "copies-l2-back": (MOVES, "memtest_moves", 64, COPIES),
    "copies-l2-through": (MOVES, "memtest_moves", 64, COPIES + " node.l2_write=through"),
}


@pytest.mark.parametrize("episodes", [1000, *only_full(1000000)])
@pytest.mark.parametrize("name", HIERARCHIES)
def test_no_mistake_in_so_many_episodes(measure, name, episodes):
    """With --full specialised builds, which compile more and run faster."""
    file, platform, threads, settings = HIERARCHIES[name]
    options = [] if episodes > 1000 else ["--generic"]
    for setting in *settings.split(), "tester.seed=2", f"tester.episodes={-(-episodes // threads)}":
        options += ["--set", setting]
    done = measure(f"{file} --platform {platform} {' '.join(options)}", seconds=3600)
    assert done.components["tester"]["episodes_done"] >= episodes


HOP = "^ *[0-9]+ ps, cycle [0-9]+:"  # a line of the report: a message that was sent
NARROW = "--set l1.size=16KiB --set tester.span=16KiB"


def own_cache(folder, bug):
    """The tester's platform above a copy of the cache that has a bug."""
    for part in "components/memory/cache", "components/memory/tlb":
        shutil.copytree(part, folder / part)
    file, text = seeded.place(seeded.bug_called(bug))
    (folder / file).write_text(text)
    with open(MEMTEST, encoding="utf-8") as file:
        text = file.read().replace("std/cache", "cache/cache")
    (folder / "memtest.heddle").write_text(text)
    return f"{folder}/memtest.heddle -I {folder}/components/memory {NARROW}"


@pytest.mark.parametrize("bug", ["cache-stale-fill",
                                 *only_full("cache-dropped-invalidate", "cache-byte-mask")])
def test_report_tells_who_wrote_the_line_and_where_it_went(run, tmp_path, bug):
    run(own_cache(tmp_path, bug),
        "port [0-9]+, thread [0-9]+, episode [0-9]+: (load|atomic) of 0x[0-9a-f]+"
        " in line 0x[0-9a-f]+ sent at cycle [0-9]+ returned",
        "last written by port [0-9]+, thread [0-9]+ at cycle [0-9]+|never written",
        "the messages about the line at 0x[0-9a-f]+ from [0-9]+ ps on",
        HOP + r" tester -> l1\[[0-9]+\]: (write|atomic|read) 0x",
        HOP + r" l1\[[0-9]+\] -> (xbar|tester): [a-z]+ 0x", status=3)


def test_report_tells_every_hop_of_a_store(run):
    """Down through all levels, and its answer. `acquire = here` does not tell the levels below."""
    l1 = r"cluster\[[01]\].l1\[[01]\]"
    run(f"{LEVELS} --platform memtest_deep --allow-incoherent --set cluster.l1.acquire=here"
        " --set cluster.mid.size=16KiB --set tester.span=16KiB",
        f"{HOP} tester -> {l1}: write 0x", rf"{HOP} {l1} -> cluster\[[01]\].bus: write 0x",
        rf"{HOP} cluster\[[01]\].bus -> cluster\[[01]\].mid: write 0x",
        rf"{HOP} cluster\[[01]\].mid -> xbar: write 0x", rf"{HOP} xbar -> l2\[[01]\]: write 0x",
        rf"{HOP} l2\[[01]\] -> xbar: done 0x", f"{HOP} {l1} -> tester: done 0x", status=3)


def test_release_of_an_agent_with_several_dies_reaches_their_l2s(run):
    platform = f"{LEVELS} --platform memtest_dies --set die.release=system"
    heddle(f"check {platform}", "E0507", "after fences of agent scope", status=1)
    run(f"{platform} --generic --allow-incoherent",
        "load of 0x[0-9a-f]+ in line 0x[0-9a-f]+ .* returned", status=3)


def test_report_tells_virtual_and_physical_address(run, tmp_path):
    run(f"{own_cache(tmp_path, 'cache-byte-mask')} --platform memtest_translated",
        "the line at 0x100000[0-9a-f]+ = 0x[0-9a-f]+ from", f"{HOP} tester -> l1.*0x100000",
        f"{HOP} (l1.* -> xbar|xbar -> l2).*: [a-z]+ 0x[0-9a-f]{{1,5}},", status=3)


def test_watched_line_is_an_address(run):
    run(f"{MEMTEST} --watch 0x7fffffff000", "no message was about the line at 0x7fffffff000")
    run(f"{MEMTEST} --watch here", "it is an address", status=2)


@pytest.mark.parametrize("write, topology", [
    ("back", "ring"), ("through", "one_way"),
    *only_full(("back", "one_way"), ("through", "ring"), ("evict", "ring"), ("evict", "one_way"))])
def test_four_memory_systems_make_no_mistake(run, write, topology):
    """The ways between them are too narrow for what the tester does to them."""
    run(f"{FOUR} --generic --set tester.episodes=50 --set node.l2_write={write}"
        f" --set topology={topology} --set node.depth=2")


def test_four_memory_systems_count_the_same_however_they_are_run(measure):
    text = f"{FOUR} --set node.depth=2 --set tester.episodes=2 {{}}"
    reference = measure(text.format(""))
    for order in ways(ORDERS):
        done = measure(text.format(order), env=DELAYS)
        assert "no partitions" not in done.output
        same(reference, done)


def settings(text):
    return " ".join(f"--set {one}" for one in text.split())


@pytest.mark.parametrize("text, old", [(OWN_L2S + LARGE_L2, 100), (AGENTS, 1)],
                         ids=["all", "own"])
def test_order_of_agents_allows_old_values_and_some_come(measure, text, old):
    """An L2 that keeps lines of all memory shows others old values until it releases and they
    acquire; where the owner's L2 is the place of each line, only first levels do."""
    order = measure(f"{FOUR} --generic --set tester.episodes=50 {settings(text)}"
                    ).components["tester.order"]
    assert order["unordered_loads"] > 5000 and order["old_values"] >= old


def test_fences_of_agent_scope_are_not_enough_for_l2s_of_one_gpu(run):
    """The tester believes that all ports are of one agent, and says agent in each fence."""
    platform = f"{FOUR} --set node.l2_caches=all"
    heddle(f"check {platform}", "E0507", "after fences of agent scope", status=1)
    run(f"{platform} --generic --allow-incoherent --set tester.episodes=50",
        "port [0-9]+, thread [0-9]+, .*returned", status=3)


@pytest.mark.parametrize("options, says", [
    ("--set tester.agents=4", "threads of 4 agents need an order .* set order = scoped"),
    ("--set tester.agents=3 --set tester.order=scoped",
     "heddle: tester: its 8 ports are not spread evenly over 3")])
def test_agents_of_the_tester_need_an_order_and_even_runs(run, options, says):
    run(f"{FOUR} --generic {options}", says, status=1)


def test_l2s_of_one_gpu_count_the_same_however_they_are_run(measure):
    text = f"{FOUR} {settings(OWN_L2S)} --set node.depth=2 --set tester.episodes=2 {{}}"
    same_bytes(measure, text, ORDERS, env=DELAYS)


MANY = "--set tester.episodes=30"
# Few pages, and first levels that hold all of them: what is left of a page that has gone is met
# again.
FEW = ("--set node.l1.size=16KiB --set node.l1.ways=16 --set tester.frames=2"
       " --set tester.span=16KiB --set tester.locations=512 --set tester.actions=64"
       " --set tester.episodes=60 --set tester.threads=1 --set tester.seed=3")


@pytest.mark.parametrize("write, options", [
    ("back", FEW), ("through", MANY), *only_full(("back", MANY), ("through", FEW))],
    ids=["back-few", "through-many", "back-many", "through-few"])
def test_pages_move_while_they_are_used(measure, write, options):
    c = measure(f"{MOVES} --generic --set node.l2_write={write} {options}").components
    moves = c["tester"]["moves"]
    cps, pages = ([c[f"node[{i}].{name}"] for i in range(4)] for name in ("cp", "pages"))
    assert moves > 50 and moves == sum(p["pages"] for p in pages)
    assert all(cp["shootdowns"] == moves and 0 < cp["pauses"] <= moves and cp["paused_cycles"]
               for cp in cps)


READ_COPIES = "--set tester.copies=true --set node.policy=read_duplicate"


@pytest.mark.parametrize("write", ["through", *only_full("back")])
def test_copies_for_reading_go_when_somebody_writes(measure, write):
    """Further copies of a page take no pause."""
    c = measure(f"{MOVES} --generic {READ_COPIES} --set node.l2_write={write}"
                " --set tester.episodes=15").components
    tester, pages = c["tester"], [c[f"node[{i}].pages"] for i in range(4)]
    assert tester["moves"] + tester["copies_made"] == sum(p["pages"] for p in pages)
    assert min(tester[name] for name in ("moves", "copies_made", "copies_written")) > 50
    assert all(p["write_faults"] > 50 for p in pages)


def test_moving_pages_count_the_same_however_they_are_run(measure, tmp_path):
    """Also from a checkpoint in which pages are on their way."""
    text = f"{MOVES} --set tester.episodes=1 --set tester.threads=2 {READ_COPIES} {{}}"
    reference = same_bytes(measure, text, ORDERS, env=DELAYS)
    state = tmp_path / "state"
    heddle("run " + text.format(f"--checkpoint {state} --checkpoint-at 20us"))
    same(reference, measure(text.format(f"--restore {state}")))


def test_pages_do_not_move_where_a_tlb_is_not_told(run, tmp_path):
    platform = tmp_path / "moves.heddle"
    text = Path(MOVES).read_text(encoding="utf-8")
    platform.write_text(text.replace("cp.tlb_control[*]    -> l2tlb.control latency 5cy;", ""))
    run(f"{platform} --generic",
        "heddle: tester: pages cannot move: no shoot-down reaches the TLB 'node.0..l2tlb'",
        status=1)
