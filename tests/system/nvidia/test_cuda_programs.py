"""HIP programs as CUDA programs, on NVIDIA's machines: they verify themselves, print what they
print as HIP programs, and take the same cycles in any order."""
import csv
import shutil

import pytest

import launches
from harness import ANY, HEDDLE, ORDERS, ROOT, call, cuda_cc, of_gpu, same_bytes
from programs import CUDA, CUDA_OPTIONS, only_full, quick_and_full

MACHINES = ["rtx3070", "a100", "h100"]
QUICK = "matmul_tiled prints half own_streams"
NOT_FUNCTIONAL = ["own_streams", "stream_rules"]  # which are about time
PRINTS_TIMES = ["call_costs", "saxpy"]
pytestmark = pytest.mark.skipif(not shutil.which("clang++-19"), reason="clang-19 is missing")


@pytest.fixture(scope="session")
def as_cuda(tmp_path_factory):
    """A program, compiled once."""
    folder = tmp_path_factory.mktemp("as_cuda")

    def compile_program(name):
        if not (folder / name).exists():
            call([ROOT / "tests/programs/as_cuda.sh", name, folder])
            cuda_cc(folder / f"{name}.cu", folder / name, *CUDA_OPTIONS.get(name, []))
        return folder / name
    return compile_program


@pytest.mark.parametrize("name", quick_and_full(QUICK, CUDA))
def test_program_does_as_cuda_what_it_does_as_hip(run, as_cuda, name):
    """In function on one machine, in time on another; --full: on all."""
    program = as_cuda(name)
    at = CUDA.index(name)
    machines = [MACHINES[at % 3], MACHINES[(at + 1) % 3]]
    told = [run(f"platforms/{machines[0]}.heddle --generic -- {program}", "^PASS")]
    if name not in NOT_FUNCTIONAL:
        told.append(run(f"platforms/{machines[1]}.heddle --generic --mode functional -- {program}",
                        "^PASS"))
    hip = run(f"platforms/tiny.heddle --generic -- {name}")
    for done in told:
        assert name in PRINTS_TIMES or done.stdout == hip.stdout


@pytest.mark.parametrize("machine", only_full(*MACHINES))
@pytest.mark.parametrize("name", CUDA)
def test_program_passes_on_each_machine(run, as_cuda, name, machine):
    run(f"platforms/{machine}.heddle --generic -- {as_cuda(name)}", "^PASS")
    if name not in NOT_FUNCTIONAL:
        run(f"platforms/{machine}.heddle --generic --mode functional -- {as_cuda(name)}", "^PASS")


@pytest.mark.parametrize("name", ["matmul_tiled", *only_full(*(p for p in CUDA
                                                               if p != "matmul_tiled"))])
def test_statistics_depend_on_no_order(measure, as_cuda, name):
    same_bytes(measure, "platforms/rtx3070.heddle --generic --set sms=4 {} -- "
               f"{as_cuda(name)}", [*ORDERS, "--threads=2"])


@pytest.mark.parametrize("name", quick_and_full("streams fences", CUDA))
def test_recording_is_played_as_the_program_ran(measure, as_cuda, tmp_path, name):
    """The same cycles and statistics of all that is no host's; --full: of all programs."""
    machine = f"platforms/{MACHINES[CUDA.index(name) % 3]}.heddle --generic"
    told = measure(f"{machine} --record instructions={tmp_path}/traces -- {as_cuda(name)}")
    assert of_gpu(told.stats) == of_gpu(measure(
        f"{machine} --play sass={tmp_path}/traces/kernelslist.g").stats)


SMALL = "platforms/rtx3070.heddle --generic --set sms=4 --set channels=2"


@pytest.mark.parametrize("warmup", ["none", "perfect", "memory:1"])
def test_program_passes_with_chosen_kernels(measure, as_cuda, warmup):
    done = measure(f"{SMALL} --kernels 3 --warmup {warmup} -- {as_cuda('dct8x8')} 64 1", "^PASS")
    launches.check_ways(done.stats, warmup, [3])


@pytest.mark.parametrize("options, says", [
    ("--kernels 3", "--warmup functional: not .* choose --warmup none, perfect or memory:N "),
    ("--kernels auto", r"--kernels auto, --mode sampled: not .*kernelslist.g\) \(kernel 'tr"),
    ("--mode functional --profile memory", "--profile memory: not of a program in PTX; record ")])
def test_what_only_traces_have_is_named(run, as_cuda, options, says):
    run(f"{SMALL} {options} -- {as_cuda('dct8x8')} 64 1", says, status=ANY)


def test_experiment_plays_what_a_program_executes(heddle, as_cuda, tmp_path):
    """The same factors of all launches, and corrections, as with its traces."""
    told = [heddle(f"experiment {SMALL} --corrections -o {tmp_path}/{folder} {what}",
                   "factors.csv have all 6") and (tmp_path / folder / "factors.csv").read_text()
            for folder, what in (("program", f"-- {as_cuda('dct8x8')} 64 1"),
                                 ("list", f"--play sass={tmp_path}/program/traces/kernelslist.g"))]
    assert told[0] == told[1]
    chosen = {row["launch"] for row in launches.rows_of(tmp_path / "program")}
    launches.check_factors(tmp_path / "program", chosen,
                           launches.table(tmp_path / "program/ranking.csv"))
    launches.corrections_of(tmp_path / "program")
    files = [tmp_path / f"program/traces/kernel-{i}.traceg" for i in range(1, 7)]
    counted = csv.DictReader(call([HEDDLE, "trace", "stats", "--csv", *files]).stdout.splitlines())
    assert [sum(int(row[kind]) for kind in ("load", "store", "atomic")) for row in counted] == [
        int(row["memory_instructions"]) for row in launches.table(tmp_path / "list/factors.csv")]


@pytest.mark.parametrize("mode", ["timing", "functional"])
@pytest.mark.parametrize("name", only_full("matmul_gpus", "allreduce", "peer_ring", "peer_copies"))
def test_program_of_several_gpus_passes_on_four(run, as_cuda, name, mode):
    run("platforms/a100_x4.heddle --generic --set sms=2 --set channels=2 --set vram=1GiB"
        f" --mode {mode} -- {as_cuda(name)}", "^PASS")
