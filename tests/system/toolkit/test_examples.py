"""The examples of docs/examples do what their pages say."""
import re
from pathlib import Path

import pytest

from harness import call, hipcc, same_bytes

EXAMPLES = "docs/examples"
ORDERS = ["--tick-order=random:1", "--tick-all"]


def test_fifo_replaces_as_its_test_says(run):
    run(f"{EXAMPLES}/fifo/fifo_test.heddle")


def test_policy_of_replacement_is_used(measure, tmp_path):
    """The same program on the same platform, other misses."""
    platform = tmp_path / "fifo_tiny.heddle"
    platform.write_text('import "fifo/fifo";\n' + Path("platforms/tiny.heddle").read_text())
    fifo = "--set gpu.l2.replacement=fifo"
    counted = []
    for options in "", fifo, f"{fifo} --set gpu.l2.replacement.second_chance=true":
        done = measure(f"{platform} -I {EXAMPLES} --set gpu.l2=8KiB {options} -- matmul_tiled 128")
        counted.append([row for row in done.table if row[1].startswith("gpu.l2[")
                        and row[2] in ("hits", "misses", "evictions")])
    lru, first, second = counted
    assert lru and lru != first and first != second


def test_prefetcher_fetches_ahead(run, measure):
    run(f"{EXAMPLES}/prefetcher/prefetcher_test.heddle")
    done = same_bytes(measure, f"{EXAMPLES}/prefetcher/streaming.heddle {{}} -- matmul", ORDERS)
    assert done.total("ahead", "useful") > 0


def test_prefetcher_hears_of_fences(heddle, run):
    """With `acquire = here` it does not, which is an error; the memory tester reads what is too
    old."""
    memtest = f"{EXAMPLES}/prefetcher/prefetcher_memtest.heddle --set tester.span=16KiB"
    run(memtest)
    run(f"{memtest} --set l1.acquire=here", "E0507", "passes them on with 'acquire == below'",
        status=1)
    wrong = f"{memtest} --set l1.acquire=here --allow-incoherent"
    heddle(f"check {wrong}", "W0707")  # a run says so when it compiles
    run(wrong, "instead of", status=3)


@pytest.mark.parametrize("options", ["", "--set tester.seed=2"])
def test_middle_cache_passes_the_memory_tester(run, options):
    run(f"{EXAMPLES}/mid_cache/mid_cache_memtest.heddle {options}")


@pytest.mark.parametrize("program", ["vectoradd", "reduction", "histogram"])
def test_program_passes_with_the_middle_cache(run, program):
    run(f"{EXAMPLES}/mid_cache/mid_cache.heddle -- {program}")


def test_middle_cache_has_hits(measure):
    text = f"{EXAMPLES}/mid_cache/mid_cache.heddle {{}} -- matmul_tiled"
    done = same_bytes(measure, text, ORDERS)
    assert done.total("mid$", "hits") > 0


# What the L2 writes back at a flush must not stay in the L3; small caches keep it there if it can.
@pytest.mark.parametrize("program",
                         ["vectoradd", "histogram", "streams", "reduction", "shared_lines"])
def test_program_passes_with_the_l3(run, program):
    run(f"{EXAMPLES}/l3/l3.heddle -- {program}")


def test_l3_is_written_and_writes_back(measure):
    done = same_bytes(measure, f"{EXAMPLES}/l3/l3.heddle {{}} -- matmul_tiled", ORDERS)
    assert done.total("l3", "writes") > 0 and done.total("l3", "writebacks") > 0


CHIPLETS = f"{EXAMPLES}/chiplets/chiplets.heddle"


# Atomics, fences between work-groups, and copies beside kernels, over both chiplets.
@pytest.mark.parametrize("program", ["reduction", "fences", "shared_lines"])
def test_program_passes_on_chiplets(measure, program):
    done = measure(f"{CHIPLETS} --generic -- {program}")
    used = [done.total(rf"chiplet\[{i}\]\.l2$", "reads") > 0 for i in range(2)]
    assert all(used) or program == "shared_lines"  # whose work-groups find room in the first


def test_chiplets_without_the_flush_of_the_l3_are_refused_as_the_guide_says(tmp_path, heddle, run):
    platform = tmp_path / "noflush.heddle"
    kept = [line for line in Path(CHIPLETS).read_text().splitlines() if "l3_control" not in line]
    platform.write_text("\n".join(kept) + "\n")
    said = heddle(f"check {platform}", "E0507", status=1).output
    page = Path("docs/guide/coherence.md").read_text(encoding="utf-8")
    block = next(b for b in page.split("```") if b.startswith("\nnoflush.heddle"))
    assert re.sub(r"^/\S*/", "", said, flags=re.MULTILINE).strip() == block.strip()
    run(f"{platform} --generic --allow-incoherent -- vectoradd", "W0707", "element 0 is 0",
        status=1)


@pytest.mark.parametrize("file, control", [
    (CHIPLETS, "l3_control"), ("docs/examples/mid_cache/mid_cache.heddle", "l2_control"),
    ("docs/examples/l3/l3.heddle", "l3_control"),
    ("docs/examples/prefetcher/streaming.heddle", "mid_control")])
def test_connection_that_the_help_names_closes_the_hole(tmp_path, heddle, file, control):
    whole = Path(file).read_text()
    line = next(one for one in whole.splitlines() if re.search(rf"{control}\[\*\] +->", one))
    platform = tmp_path / "hole.heddle"
    platform.write_text(whole.replace(line, ""))
    said = heddle(f"check {platform} -I {Path(file).parent}", "E0507", status=1).output
    helps = [text for text in re.findall(r"^help: .*\('(.*;)'\): it is asked", said, re.M)
             if f".{control}[*] ->" in text]
    assert len(set(helps)) == 1
    platform.write_text(whole.replace(line, helps[0]))
    heddle(f"check {platform} -I {Path(file).parent}")


@pytest.mark.parametrize("setting, cache", [("sa.l1v.acquire=here", "l2"),
                                            ("l2.write=back", "l2"), ("sa.l1v.write=back", "l1v")])
def test_chiplets_with_private_caches_that_hide_something_are_refused(heddle, setting, cache):
    heddle(f"check {CHIPLETS} --set gpu.chiplet.{setting}", "E0507", rf"{cache}(\[0\])?' keeps",
           status=1)


TWO_KINDS = f"{EXAMPLES}/two_kinds"


def test_write_combiner_answers_right_and_orders_what_fences_order(run):
    run(f"{TWO_KINDS}/write_combiner_test.heddle")
    run(f"{TWO_KINDS}/write_combiner_memtest.heddle --set tester.span=16KiB")


def test_kinds_of_gpu_run_one_program_under_one_driver(heddle, measure, tmp_path):
    """With a component in both, without a copy of their composites. What is inserted merges
    writes, and changes nothing that is written."""
    for platform in Path(TWO_KINDS).glob("*.heddle"):
        heddle(f"fmt --check {platform}")
    platform, program = Path(f"{TWO_KINDS}/two_kinds.heddle"), tmp_path / "records"
    call([*hipcc(), "--offload-arch=gfx803", "--offload-arch=gfx90a",
          f"{TWO_KINDS}/records.hip.cpp", "-o", program])
    plain = tmp_path / "plain.heddle"
    plain.write_text(re.sub(r"(?m)^.*insert wc.*\n", "", platform.read_text()))
    runs = [measure(f"{p} -I {TWO_KINDS} --generic -- {program}", "GPU 0 is a gfx803",
                    "GPU 1 is a gfx90a", "all records are right") for p in (plain, platform)]
    for gpu in "fiji", "mi":
        written = [sum(v["writes"] for path, v in run.components.items()
                       if path.startswith(gpu) and ".l2[" in path.replace(f"{gpu}.l2", ".l2"))
                   for run in runs]
        merged = sum(v["merged"] for path, v in runs[1].components.items()
                     if path.startswith(gpu) and ".wc[" in path)
        assert written[0] - merged == written[1] < written[0] == 8192
    measure(f"{platform} -I {TWO_KINDS} --generic --mode functional --check all -- {program}",
            "all records are right")
    told = heddle(f"stats {runs[1].stats_file} --report cpi").stdout
    assert re.findall(r"^fill\(.* on GPU (\d)$", told, re.M) == ["0", "1"]


def test_chain_of_middleware_sees_commands_and_messages(measure):
    """A part takes out what it does itself; the last one gets the rest."""
    platform = f"{EXAMPLES}/middleware/middleware.heddle --generic"
    done, plain = (measure(f"{platform} --set driver.copy.next.below={below} -- copies")
                   for below in ("64B", "0B"))
    meter, small, last = (done.components[f"driver.copy{at}"] for at in ("", ".next", ".next.next"))
    assert small["at_once"] > 0
    assert meter["messages"] == last["messages"] and meter["message_bytes"] == last["bytes"]
    assert meter["message_bytes"] < meter["command_bytes"]
    other = plain.components["driver.copy"]
    assert other["commands"] == meter["commands"] and other["messages"] > meter["messages"]
    assert done.stats["time_ps"] < plain.stats["time_ps"]
