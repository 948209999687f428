"""What a program does wrong is reported with the kernel, the instruction and the address."""
from pathlib import Path

import pytest

from harness import FAILS, PROGRAMS

TINY = "platforms/tiny.heddle"


def test_code_of_another_architecture(run):
    run(f"{TINY} -- bad_arch", "gfx90a", "gfx803", "offload-arch")


def test_launch_without_code_is_no_success_unless_the_program_asks(run):
    run(f"{TINY} -- bad_unheard", "PASS bad_unheard", "kernels were not launched, since they have "
        "no code for their device, and the program has not asked", status=3)


@pytest.mark.parametrize("program", ["bad_truncated", "bad_missing_kernel", "bad_block", "bad_lds",
                                     "bad_oom", "bad_pointers"])
def test_mistake_is_an_error_of_hip(run, program):
    """The program looks at the error that it gets."""
    run(f"{TINY} -- {program}")


@pytest.mark.parametrize("program, says", [
    ("bad_freed", "which was freed: 0 bytes into allocation 1 of the program, 4096 bytes"),
    ("bad_hostptr", "out of bounds: a pointer of the host, to its heap")])
def test_wrong_pointer_breaks_the_device(run, program, says):
    run(f"{TINY} -- {program}", says, status=3)


def test_host_pointers_that_cannot_be_used_are_named(run):
    run(f"{TINY} --mode functional -- bad_pointers", "the destination is a null pointer",
        "hipMemcpyAsync: the source 0x18 is a null pointer",
        "of 8192 bytes .* only 4096 can be written", "pinned memory that is not, or no longer",
        "memory of the simulator itself")


@pytest.mark.parametrize("touched, says", [
    ("", "device memory at 0x2[0-9a-f]{11}: byte 20 of the allocation of 256 bytes"),
    ("0x180000000ffc", "0x180000001010, where the simulator keeps its own state"),  # in its front
    ("0x180240000000", "0x180240000014, where the simulator keeps its own state")])
@pytest.mark.parametrize("threads", [1, 3])
def test_memory_that_host_code_must_not_touch_is_named(run, touched, says, threads):
    """Of the device, and of the simulator."""
    if touched and "ospke" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no keys for pages")
    run(f"{TINY} --mode functional --threads {threads} -- bad_hosttouch {touched}",
        f"host code touched {says}", status=139)


@pytest.mark.parametrize("touched, says", [
    ("0x23456780", ""),  # a pointer cut to 32 bits: nothing of the simulator lies there
    ("0x17ffffffff00", "host code touched 0x17ffffffff14, where the simulator keeps its own"),
    ("0x180800000000", "host code touched 0x180800000014, where the simulator keeps its own")])
def test_what_protects_the_simulator_without_keys(run, touched, says):
    """Its distance from what pointers are cut to, and guards on both sides."""
    done = run(f"{TINY} --mode functional -- bad_hosttouch {touched} keyless", says, status=139)
    assert says or "simulator" not in done.output


@pytest.mark.parametrize("program, target, says", [
    ("bad_malloc", "gfx803", "for service 3 .malloc, free, new or delete., which is not supported"),
    ("bad_malloc.gfx942", "gfx942", "device code allocates memory .*, which is not supported")])
def test_allocation_by_device_code_is_refused_by_name(run, program, target, says):
    done = run(f"{TINY} --generic --set gpu.isa={target} --mode functional -- {program}", says,
               status=3)
    assert done.output.count("asks the host for service") <= 1  # for all lanes and wavefronts


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_bounds_are_those_that_were_asked_for(run, mode):
    """Or those of pages, as hardware has them; the message names the option."""
    text = f"{TINY} --mode {mode} {{}} -- bad_oob 4"
    run(text.format(""), "16 bytes behind the end", "--bounds page", status=3)
    run(text.format("--bounds page"), "FAIL bad_oob: hipSuccess", status=FAILS)
    run(f"{TINY} --mode {mode} --bounds page -- bad_oob", "out of bounds", status=3)
    run(text.format("--bounds wide"), "exact or page", status=2)


def test_assertion_on_the_device_is_reported(run):
    run(f"{TINY} -- bad_assert", "^PASS",
        "Device-side assertion .values\\[threadIdx.x\\] != 13. failed",
        "kernel .check_values.int const...", "trap 2", status=3)


@pytest.mark.parametrize("which", [0, 1])
def test_trap_names_the_kernel(run, which):
    run(f"{TINY} -- bad_trap {which}", "^PASS", "kernel 'traps.int., int.'", "trap 2", status=3)


def test_unknown_instruction_is_named(run):
    run(f"{TINY} -- bad_instruction", "^PASS",
        "warning: ds_read_b32 .* gds at 0x[0-9a-f]+ .*global data share .*kernel 'lacks'", status=3)


@pytest.mark.parametrize("mode", ["", "--mode functional"])
def test_bytes_that_are_no_instruction_are_named(run, mode):
    run(f"{TINY} {mode} -- bad_instruction {PROGRAMS}/bad_jump_kernels.hsaco",
        "kernel 'lacks': 0xffffffff is no instruction of gfx803", "at pc 0x[0-9a-f]+",
        "work-group .0,0,0., wavefront 0", status=3)


def test_refusal_is_told_once_and_counted(run):
    """Facts stand in front of names, which may be long."""
    done = run(f"{TINY} --mode functional -- bad_refused",
               "^heddle: hipMallocArray: not in this HIP library; the program goes on with "
               "hipErrorNotSupported .reference/hip.md",
               "^heddle: 6 more times: hipMallocArray: not in this HIP library",
               "^heddle: hipLaunchKernel: a work-group of 2048 and a grid of 2048 work-items in "
               "dimension 0; allowed are 1 to 1024 .* .kernel 'void take<a_pair_of_types",
               "^heddle: 4 more times: hipLaunchKernel: a work-group of 2048 and a grid of 2048")
    assert len(done.stderr.splitlines()) == 4
    assert all(len(line) < 160 for line in done.stderr.splitlines()[-2:])


def test_access_out_of_bounds_names_the_lane(run):
    run(f"{TINY} -- bad_oob", "kernel", "0x[0-9a-f]+", "flat_load|global_load", "work-group",
        "lane", status=FAILS)


@pytest.mark.parametrize("mode", ["timing", "functional"])
def test_null_pointer_of_a_kernel_is_called_so(run, mode):
    """Also behind more wrong calls than are told. What comes again is told once, and counted."""
    done = run(f"{TINY} --mode {mode} -- bad_oob 1 130", "further messages are left out",
               "through a null pointer, at 0x0", "2 more times: .* 0x10 is a null pointer",
               "1 more time: .* 0x94 is a null pointer", "messages were left out", status=3)
    assert done.output.count(" 0x10 is a null pointer") == 2


def test_memory_of_another_gpu_needs_peer_access(run):
    for mode, says in ("timing", ["s_load|flat_load|global_load"]), ("functional", []):
        run(f"platforms/ring4.heddle --mode {mode} -- bad_peer", "^PASS", "memory of GPU 1",
            "hipDeviceEnablePeerAccess.1, 0.", *says, status=3)
        run(f"platforms/ring4.heddle --mode {mode} -- bad_peer enabled")


def test_pages_of_another_process_are_not_mapped(run):
    run(f"{TINY} -- bad_context", "^PASS",
        "process 2 reads virtual address 0x[0-9a-f]+, which is not mapped", status=3)
    run(f"{TINY} --mode functional -- bad_context", "^PASS", "not mapped in process 2", status=3)


def test_host_thread_that_spins_is_named(run):
    run(f"{TINY} -- bad_spin", "host thread 2 .* has run for 1", "cycle counts",
        env={"HEDDLE_HOST_PATIENCE": "1"})


def test_functional_mode_reports_the_fault_that_timing_reports(run):
    says = "load of 4 bytes at", "lane 0"
    timing = run(f"{TINY} --mode timing -- bad_oob", *says, status=FAILS)
    functional = run(f"{TINY} --mode functional -- bad_oob", *says, status=FAILS)
    assert timing.output == functional.output


def test_functional_mode_ends_what_does_not(run):
    run(f"{TINY} --mode functional --max-cycles 200000 -- endless count", "max-cycles",
        "s_branch|s_cbranch", "kernel '", status=6)


def test_functional_mode_names_unknown_instructions(run):
    run(f"{TINY} --mode functional -- bad_instruction", "^PASS", "warning: .*kernel 'lacks'",
        status=3)


def test_functional_mode_needs_a_program(run):
    run("tests/system/platforms/memtest.heddle --mode functional", "executes a program", status=2)


def test_statistics_cannot_be_written(run):
    run(f"{TINY} --stats /no_such_folder/x.json -- vectoradd", "no_such_folder", status=FAILS)
    run("tests/system/platforms/memtest.heddle --stats /dev/stdout", "give the name of a file",
        status=1)


def test_bursts_that_are_not_the_memorys_lines(run):
    run("platforms/r9nano.heddle --set memory=hbm --set gpu.dram.timing.burst=32B -- vectoradd",
        "bursts of another size: set `burst` of the timing part", status=FAILS)
