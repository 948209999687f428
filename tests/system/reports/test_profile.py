"""--profile instructions: the ledger of cycles, by instruction."""
import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from harness import HEDDLE, PROGRAMS, ROOT, call, heddle, same_file

TINY = "platforms/tiny.heddle"
CUDA_PLANTED = ROOT / "tests/programs/cuda/planted.cu"


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cycles_of(rows):
    """kernel, "GROUP.KIND" -> slot-cycles"""
    sums = Counter()
    for row in rows:
        for name, value in row.items():
            if "." in name and int(value):
                sums[row["kernel"], name] += int(value)
    return sums


def ledger_of(stats):
    sums = Counter()
    for kernel in stats["kernels"]:
        for group in ("issued", "executing", "waiting"):
            for kind, value in kernel["slot_cycles"][group].items():
                if value:
                    sums[kernel["name"], f"{group}.{kind}"] += value
    return sums


@pytest.mark.parametrize("program", ["matmul_tiled", "bfs", "streams", "planted lds_banks"])
def test_instructions_add_up_to_the_ledger(measure, tmp_path, program):
    """To the cycle, for each kernel and kind; and no statistic changes by a byte."""
    table = tmp_path / "profile.csv"
    done = measure(f"{TINY} --profile instructions={table} -- {program}")
    plain = measure(f"{TINY} -- {program}")
    same_file(done.stats_file, plain.stats_file)
    rows = rows_of(table)
    assert cycles_of(rows) == ledger_of(done.stats)
    units = [c for path, c in done.components.items() if path.startswith("gpu.sa[0].cu")]
    assert sum(int(row["executions"]) for row in rows) == sum(u["instructions"] for u in units)
    assert sum(int(row["lines"]) for row in rows) == sum(u["vmem_lines"] for u in units)
    for name, unit in (("memory_cycles", "vector_memory_cycles"),
                       ("idle_lanes", "valu_idle_lanes")):
        assert sum(int(row[name]) for row in rows) == sum(
            k["units"][unit] for k in done.stats["kernels"])
    kinds = {"hits": "hits", "merged": "mshr_hits", "misses": None}
    for kind, of in kinds.items():
        assert sum(int(row[f"l1_{kind}"]) for row in rows) == cached(done, r"l1[vs]", of)
    # Instruction caches ask the L2, too.
    assert (sum(int(row[f"l2_{kind}"]) for row in rows for kind in kinds)
            == sum(cached(done, "l2", of) for of in kinds.values()) - cached(done, "l1i", None))


def cached(done, name, counter):
    """What the caches of a name counted; None: misses that joined no other one."""
    caches = [c for path, c in done.components.items()
              if re.fullmatch(rf".*\b{name}(\[\d+\])?", path)]
    return sum(c[counter] if counter else c["misses"] - c["mshr_hits"] for c in caches)


def test_waiting_stands_at_the_instruction_that_waits(measure, tmp_path):
    table = tmp_path / "profile.csv"
    measure(f"{TINY} --profile instructions={table} -- matmul_tiled")
    for row in rows_of(table):
        if int(row["waiting.vmcnt"]) > 100 or int(row["waiting.lgkmcnt_lds"]) > 500:
            assert row["instruction"].startswith("s_waitcnt"), row["instruction"]
        if int(row["waiting.barrier"]) > 100:
            assert row["instruction"] == "s_barrier"
        if int(row["waiting.stores"]):
            assert row["instruction"] == "s_endpgm"
        if int(row["lines"]):
            assert row["instruction"].startswith("flat_")
            assert int(row["bytes"]) == 64 * 4 * int(row["executions"])


def test_offsets_and_texts_are_those_of_the_disassembler(measure, tmp_path):
    table = tmp_path / "profile.csv"
    measure(f"{TINY} --profile instructions={table} -- matmul_tiled")
    code = heddle(f"disasm {PROGRAMS}/matmul_tiled").stdout
    rows = rows_of(table)
    assert len(rows) > 50 and [int(row["offset"]) for row in rows] == sorted(
        int(row["offset"]) for row in rows)
    for row in rows:
        assert row["instruction"].split("//")[0].strip() in code or "branch" in row["instruction"]


def test_threads_and_orders_change_nothing(measure, tmp_path):
    tables = []
    for number, how in enumerate(("", "--threads 2", "--tick-order random:3")):
        tables.append(tmp_path / f"{number}.csv")
        measure(f"{TINY} --profile instructions={tables[-1]} {how} -- bfs")
    for other in tables[1:]:
        same_file(tables[0], other)


@pytest.mark.full
def test_programs_with_debug_information_show_their_source(run, tmp_path):
    program = tmp_path / "tiled"
    call(["hipcc", "-g", "--offload-arch=gfx803", "-Itests/programs",
          "tests/programs/matmul_tiled.hip.cpp", "-o", program])
    source = Path("tests/programs/matmul_tiled.hip.cpp").read_text(encoding="utf-8").splitlines()
    temporary = tmp_path / "it's $(touch hurt)\n"
    temporary.mkdir()
    told = run(f"{TINY} --profile instructions -- {program}",
               env={"TMPDIR": str(temporary)}).stderr
    assert not list(tmp_path.rglob("hurt")) and not list(temporary.iterdir())
    load = re.search(r"flat_load_dword .*; matmul_tiled.hip.cpp:(\d+)$", told, re.M)
    assert "=" in source[int(load[1]) - 1] and "[" in source[int(load[1]) - 1]
    store = re.findall(r"flat_store_dword .*; matmul_tiled.hip.cpp:(\d+)$", told, re.M)
    assert "c[" in source[int(store[-1]) - 1]


def test_profile_is_printed_beside_the_instructions(run):
    run(f"{TINY} --profile instructions -- matmul_tiled", r"^matmul_tiled\(",
        r"^ +\+0x[0-9a-f]+ +\d+ +\d+ +\d+\.\d % +s_waitcnt vmcnt\(\d\) +; waiting.vmcnt \d+ %")
    run(f"{TINY} --profile cycles -- matmul_tiled", "blocks, memory, instructions", status=2)
    run(f"{TINY} --profile instructions --mode functional -- matmul_tiled", "there are none",
        status=2)
    run(f"{TINY} --profile instructions -- copies", "^no kernel ran with timing, so there is no")
    assert "instructions=FILE" in call([HEDDLE, "help", "run"]).stdout


def test_nothing_is_printed_of_a_run_without_a_profile(run):
    done = run(f"{TINY} --profile instructions -- processes nothing", "nothing was written",
               status=8)
    assert "no kernel ran" not in done.output and "cannot read" not in done.output


def test_instructions_of_a_cuda_program_add_up_to_the_account_of_its_warps(measure, planted_cuda,
                                                                           tmp_path):
    """To the cycle, for each kind, with lines of the source; and no statistic changes by a byte."""
    table, plain = tmp_path / "profile.csv", f"--generic --set sms=4 -- {planted_cuda} coalescing"
    done = measure(f"platforms/rtx3070.heddle --profile instructions={table} {plain}")
    same_file(done.stats_file, measure(f"platforms/rtx3070.heddle {plain}").stats_file)
    rows, units = rows_of(table), done.stats["kernels"][0]["units"]
    assert cycles_of(rows) == ledger_of(done.stats)
    assert sum(int(row["executions"]) for row in rows) == sum(
        kernel["wavefront_instructions"] for kernel in done.stats["kernels"])
    assert sum(int(row["lines"]) for row in rows) == units["vector_memory_lines"]
    assert sum(int(row["memory_cycles"]) for row in rows) == units["vector_memory_cycles"]
    loads = [row for row in rows if row["instruction"].startswith("ld.global")]
    line = next(i for i, text in enumerate(CUDA_PLANTED.read_text().splitlines(), 1)
                if "sum += in[(thread * 33" in text)
    assert loads and all(row["instruction"].endswith(f"// planted.cu:{line}") for row in loads)
    assert [int(row["offset"]) for row in rows] == [16 * i for i in range(len(rows))]
