"""Every program of tests/programs on several ranks: its output and status, heddle's messages,
statistics and traces are those of one process, whatever the program does while a kernel runs."""
import pytest

from harness import ANY, HEDDLE, PROGRAMS, ROOT, call, same_file, words_of
from launchers import PASS_AS_ROOT, launcher
from programs import only_full

# One die an array, two arrays on each side.
DIES = (" --set queues=true --set gpu.xcds=4 --set gpu.arrays=1 --set gpu.io_dies=2"
        " --set gpu.memory_channels=2 --set gpu.channels=4 --set gpu.l2=64KiB"
        " --set gpu.infinity_cache=1MiB --set gpu.vram=256MiB")
# Ranks are cut at GPUs or at their shader arrays (three ranks of four GPUs), at dies, or at the
# shader arrays of one GPU.
PLATFORMS = {
    "ring4": "platforms/ring4.heddle --set gpu.arrays=2 --set gpu.banks=2 --set gpu.vram=64MiB"
             " --set queues=true",
    "x4": "platforms/r9nano_x4.heddle --set gpu.arrays=2 --set queues=true",
    "r9nano": "platforms/r9nano.heddle --set queues=true",
    "mi300x": f"platforms/mi300x.heddle{DIES}",
    "mi300a": f"platforms/mi300a.heddle{DIES}",
}
# Arguments where there have to be some, or where the program would take long without; several ways
# to run it.
ARGUMENTS = {
    "collectives": ["ring 1024"], "collectives.gfx942": ["ring 1024"], "copy_rate": ["65536"],
    "dies.gfx942": ["4 kernels", "4 place", "4 released"], "halo3d": ["4"], "hostile": ["1", "2"],
    "interleave": ["4"], "late_arguments": ["100"], "litmus": ["coarse agent 64"],
    "litmus.gfx942": ["coarse agent 64"], "managed": ["500"], "many_streams": ["8 3"],
    "network": ["2 1"], "overlap": ["200"], "own_addresses": ["", "far"],
    "peer_copies": ["4096"], "planted": ["chain", "barrier"], "processes": ["plain", "abort"],
    "queued": ["300"], "scopes": ["plain old"], "spread": ["all 512"],
    "user_queues": ["", "one", "stuck"],
}
# What the clock of the host decides: bad_spin is about host threads that wait for 20 s, host_time
# prints how long they ran, and call_costs what calls took.
BY_CLOCK = ["bad_spin", "call_costs", "host_time"]
# Gives kernels memory of its heap, whose addresses depend on what MPI has taken of that.
BY_ADDRESS = ["host_memory"]
CYCLES = {"endless": 100000}


def programs_of(platform):
    """Code for gfx942 is built of those that its tests run."""
    if platform.startswith("mi300"):
        return sorted([path.name for path in PROGRAMS.glob("*.gfx942")]
                      + [f"cdna/{path.name}" for path in (PROGRAMS / "cdna").glob("*.gfx942")])
    sources = [path.name.split(".")[0] for path in (ROOT / "tests/programs").glob("*.c*")]
    return sorted(name for name in sources if not name.endswith("_kernels") and name not in BY_CLOCK
                  and (PROGRAMS / name).exists())


def rows():
    """Each program with each of its arguments on each platform, by two, three and four ranks."""
    for platform in PLATFORMS:
        for name in programs_of(platform):
            for arguments in ARGUMENTS.get(name, [""]):
                yield platform, f"{name} {arguments}".strip(), (2, 3, 4)


def see(folder, platform, program, ranks):
    """Leaves what a user sees of a run in a new folder."""
    folder.mkdir()
    name = program.split()[0]
    cycles = CYCLES.get(name, 5000000)
    traced = sum(name.encode()) % 4 == 0  # some, as traces are long
    text = (f"{PLATFORMS[platform]} --max-cycles {cycles} --kernel-stats all --stats-no-host"
            f" --stats {folder}/statistics"
            f"{f' --record perfetto={folder}/trace' if traced else ''} -- {program}")
    launched_by = [*launcher("openmpi"), "-q", "-n", ranks] if ranks > 1 else []
    done = call([*launched_by, HEDDLE, "run", "--generic", *words_of(text)], status=ANY,
                env=PASS_AS_ROOT)
    (folder / "output").write_text(f"{done.output.replace(str(folder), '')}status {done.status}\n")
    if name in BY_ADDRESS:
        (folder / "statistics").unlink()


@pytest.mark.parametrize("platform, program, several", [
    ("ring4", "hostile 1", [2]), ("ring4", "user_queues one", [2]), ("ring4", "bad_assert", [2]),
    ("ring4", "prints", [2]), ("x4", "bad_assert", [3]), ("mi300x", "dies.gfx942 4 released", [3]),
    *only_full(*rows())])
def test_program_does_the_same_on_ranks(tmp_path, platform, program, several):
    call([HEDDLE, "build", "--generic", *words_of(PLATFORMS[platform])])  # which runs would say
    see(tmp_path / "1", platform, program, 1)
    for ranks in several:
        see(tmp_path / str(ranks), platform, program, ranks)
        same_file(tmp_path / "1/output", tmp_path / str(ranks) / "output", f"{ranks} ranks")
        names = [sorted(path.name for path in (tmp_path / str(n)).iterdir()) for n in (1, ranks)]
        assert names[0] == names[1], (tmp_path / str(ranks) / "output").read_text()
        for name in names[0]:
            same_file(tmp_path / "1" / name, tmp_path / str(ranks) / name, f"{ranks} ranks")
