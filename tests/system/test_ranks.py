"""One simulation by several processes (mpirun): the statistics and traces of one process, and a
clear end when a rank cannot go on."""
import shutil

import pytest

from harness import ANY, BUILD, HEDDLE, PROGRAMS, call, same_file, words_of

PLATFORM = ("platforms/ring4.heddle --set gpus=2 --set gpu.arrays=1 --set gpu.banks=2"
            " --set gpu.vram=64MiB")
PASS_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCHERS = {"openmpi": "--oversubscribe --bind-to none", "mpich": ""}
SECONDS = 60


def launcher(library):
    name = f"mpirun.{library}"
    if not shutil.which(name) or not (BUILD / f"runtime/heddle_mpi_{library}.so").exists():
        pytest.skip(f"{library} is missing: ./dev setup --full installs it, then build again")
    return [name, *LAUNCHERS[library].split()]


def by_ranks(ranks, text, *says, library="openmpi", **how):
    return call([*launcher(library), "-n", ranks, HEDDLE, "run", *words_of(text)], *says,
                env=PASS_AS_ROOT, seconds=SECONDS, **how)


def outputs(folder, name):
    return (f"--stats {folder}/{name}.json --stats-no-host --kernel-stats all"
            f" --record perfetto={folder}/{name}.trace")


@pytest.mark.parametrize("library", LAUNCHERS)
def test_number_of_ranks_changes_no_byte(run, tmp_path, library):
    """A kernel on each GPU reads, writes and counts in the memory of the other."""
    run(f"{PLATFORM} {outputs(tmp_path, 'one')} -- peers 64")
    by_ranks(2, f"{PLATFORM} --threads 2 {outputs(tmp_path, 'two')} -- peers 64", "^PASS",
             library=library)
    same_file(tmp_path / "one.json", tmp_path / "two.json")
    same_file(tmp_path / "one.trace", tmp_path / "two.trace")


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("program", "devices peer_copies contexts driver_memory allreduce halo"
                                    " matmul_gpus gpu_threads managed streams bad_oob".split())
def test_number_of_ranks_changes_no_byte_of_any_program(run, tmp_path, program, ranks):
    text = PLATFORM.replace("gpus=2", "gpus=4")
    run(f"{text} --stats {tmp_path}/one.json --stats-no-host -- {program}", status=ANY)
    by_ranks(ranks, f"{text} --stats {tmp_path}/two.json --stats-no-host -- {program}", status=ANY)
    same_file(tmp_path / "one.json", tmp_path / "two.json")


def test_report_of_a_run_that_is_cut_is_that_of_one_process(run):
    text = f"{PLATFORM} --max-cycles 9000 -- peers 64"

    def report(done):
        lines = [line for line in done.stderr.splitlines() if line[:1] != "-"]
        return lines[lines.index("unfinished:") - 4:][:8]

    assert report(run(text, status=6)) == report(by_ranks(2, text, status=6))


@pytest.mark.parametrize("text, says, status", [
    (f"{PLATFORM} -- /bin/true", "no process of '/bin/true' has used HIP", 8),
    (f"{PLATFORM} --mode functional -- devices", "'--mode functional' cannot be used with several "
                                                 "ranks yet", 7)],
    ids=["no-hip", "functional"])
def test_what_ranks_cannot_do_is_said(text, says, status):
    by_ranks(2, text, says, status=status)


def test_ranks_of_different_platforms_end_at_once():
    words = [HEDDLE, "run", *words_of(PLATFORM), "--", PROGRAMS / "devices"]
    other = [str(word).replace("banks=2", "banks=4") for word in words]
    call([*launcher("openmpi"), "-n", 1, *words, ":", "-n", 1, *other],
         "ranks 0 and 1 differ in the platform", status=7, env=PASS_AS_ROOT, seconds=SECONDS)
