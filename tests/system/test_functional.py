"""Functional mode executes the instructions that timing executes."""
import pytest

from harness import same_bytes


def kernels_of(run, mode):
    """In order of their names: kernels of several queues may swap."""
    assert run.stats["mode"] == mode
    return sorted((k["name"], k["gpu"], k["work_groups"], k["wavefront_instructions"])
                  for k in run.stats["kernels"])


# Programs without loops that depend on timing (locks, compare-and-swap).
@pytest.mark.parametrize("program", ["vectoradd", "matmul_tiled", "reduction", "scan", "scratch",
                                     "calls", "divergence", "shuffles", "module"])
def test_functional_mode_executes_the_same_instructions(measure, program):
    timing = measure(f"platforms/tiny.heddle -- {program}")
    functional = same_bytes(measure, f"platforms/tiny.heddle --mode functional {{}} -- {program}",
                            ["--generic"])
    kernels = kernels_of(functional, "functional")
    assert kernels and kernels == kernels_of(timing, "timing")
