"""Kernels in PTX on NVIDIA's GPUs, by the driver's own interface: in function, in time, recorded
and played again."""
import pytest

from harness import ORDERS, ROOT, same_bytes

MODULE = ROOT / "tests/programs/ptx_calls.ptx"
CALLS = f"-- ptx_calls {MODULE}"
SMALL = "platforms/rtx3070.heddle --generic --set sms=4 --set channels=2"
MACHINES = ["rtx3070", "a100", "h100"]


@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_are_executed_without_time(run, machine):
    run(f"platforms/{machine}.heddle --generic --mode functional {CALLS} all", "PASS ptx_calls")


@pytest.mark.parametrize("machine", MACHINES)
def test_kernels_take_time(measure, machine):
    """The statistics have each launch, with blocks, instructions and cycles, as those of a trace."""
    done = measure(f"platforms/{machine}.heddle --generic {CALLS} all")
    kernels = done.stats["kernels"]
    assert [k["name"] for k in kernels] == ["vectoradd", "histogram", "report"]
    assert all(k["cycles"] > 1000 and k["instructions"] > 0 for k in kernels)
    assert done.total(".", "blocks_done") == sum(k["work_groups"] for k in kernels)


def test_bytes_and_cycles_depend_on_no_order(measure):
    same_bytes(measure, f"{SMALL} {{}} {CALLS} all", [*ORDERS, "--threads=2"])


@pytest.mark.parametrize("mode", ["", "--mode functional"])
def test_access_outside_of_all_memory_is_a_fault(run, mode):
    """It names the kernel, the place in the PTX, and the address; the run goes on to its end."""
    run(f"{SMALL} {mode} {CALLS} wrong", "wrong", r"0x0*1000", status=1)


def test_recorded_run_is_played_as_it_was(measure, tmp_path):
    """Each kernel: instructions, blocks and what the SMs count; its cycles to a few, since the
    clocks of memory and cores stand otherwise when it begins."""
    told = measure(f"{SMALL} --record instructions={tmp_path} {CALLS} all")
    played = measure(f"{SMALL} --no-cache --play sass={tmp_path}/kernelslist.g")
    for a, b in zip(told.stats["kernels"], played.stats["kernels"], strict=True):
        assert [a[n] for n in ("name", "instructions", "work_groups")] \
            == [b[n] for n in ("name", "instructions", "work_groups")]
    for name in ("instructions", "thread_instructions", "loads", "stores", "atomics", "barriers",
                 "requests_sent", "sectors_sent", "bank_conflicts"):
        assert told.total(r"sm\[", name) == played.total(r"sm\[", name)
