"""Starts a run on several ranks, by the launchers of the MPI libraries that are installed."""
import shutil

import pytest

from harness import BUILD, CPU_SECONDS, HEDDLE, call, words_of

PASS_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCHERS = {"openmpi": "--oversubscribe --bind-to none", "mpich": ""}


def launcher(library):
    name = f"mpirun.{library}"
    if not shutil.which(name) or not (BUILD / f"runtime/heddle_mpi_{library}.so").exists():
        full = " --full" if library == "mpich" else ""
        pytest.skip(f"{library} is missing: ./dev setup{full} installs it, then build again")
    return [name, *LAUNCHERS[library].split()]


def by_ranks(ranks, text, *says, library="openmpi", seconds=CPU_SECONDS, **how):
    return call([*launcher(library), "-n", ranks, HEDDLE, "run", *words_of(text)], *says,
                env=PASS_AS_ROOT, seconds=seconds, **how)


def outputs(folder, name):
    return (f"--stats {folder}/{name}.json --stats-no-host --kernel-stats all"
            f" --record perfetto={folder}/{name}.trace")
