"""Networks between GPUs: the topologies of the library, under programs and under the memory
tester."""
import pytest

from harness import HEDDLE, ROOT, call, same
from programs import only_full

EIGHT = "platforms/r9nano_x8_fabric.heddle --generic --set gpu.arrays=1"  # eight small GPUs
TESTER = "tests/system/platforms/fabrics.heddle"


@pytest.mark.parametrize("setting", ["memory=ideal", "topology=ring", "topology=mesh",
                                     "topology=switch", "gpu.l2_write=through"])
def test_kernels_use_memory_of_other_gpus_over(run, setting):
    run(f"{EIGHT} --set {setting} -- peers 200")


def test_processor_and_gpu_share_one_memory(run, measure):
    """What both see is not moved. A coherent L2 has written it by the end of each kernel, which
    takes longer; a flushed one writes it when the host asks."""
    run("platforms/apu.heddle -- copies")
    apart, flushed, coherent = (
        measure(f"platforms/apu.heddle --generic --set {how} -- managed_pingpong").stats
        for how in ("driver.host_memory=apart", "sharing=flushed", "sharing=coherent"))
    in_kernels = [sum(k["end_ps"] - k["start_ps"] for k in run["kernels"])
                  for run in (apart, flushed, coherent)]
    assert apart["time_ps"] > flushed["time_ps"] * 1.1
    assert in_kernels[2] > in_kernels[1] * 1.02
    written = [sum(run["components"][f"gpu.l2[{i}]"]["writebacks"] for i in range(2))
               for run in (flushed, coherent)]
    assert written[0] > 0 == written[1]


@pytest.mark.parametrize("platform, options", [
    ("on_mesh", ""), ("on_ring", "--set '**.stop.depth=2'"),
    ("on_torus", "--set torus.*.depth=2 --set torus_hop.latency=5ns --set tester.episodes=10"),
    *only_full(("on_mesh", "--set '**.stop.depth=2'"), ("on_ring", ""))],
    ids=["mesh", "narrow-ring", "narrow-torus", "narrow-mesh", "ring"])
def test_network_passes_the_memory_tester(run, platform, options):
    run(f"{TESTER} --platform {platform} --generic {options}")


@pytest.mark.parametrize("platform, order", [("on_mesh", "--tick-order=random:2"),
                                             ("on_ring", "--tick-all --tick-order=random:2")])
def test_network_counts_the_same_however_it_is_run(measure, platform, order):
    text = f"{TESTER} --platform {platform} --set tester.episodes=20"
    reference = measure(f"{text} --generic")
    same(reference, measure(f"{text} {order}"))


@pytest.mark.parametrize("program", ["collectives ring 200", "collectives tree 200",
                                     "collectives halving 200", "collectives exchange 200",
                                     "halo3d 3", "stages 6"])
def test_gpus_of_nodes_on_a_fat_tree_work_together(run, program):
    """Six GPUs in three nodes: not a power of two, and not a cube."""
    run(f"platforms/pod64.heddle --generic --set nodes=3 --set gpus=2 -- {program}")


def test_nodes_are_drawn_once_and_links_between_two_things_as_one():
    drawn = call([HEDDLE, "dot", ROOT / "platforms/pod64.heddle"]).stdout
    assert "<B>hop ×224</B>" in drawn and "<B>node ×8</B>" in drawn
    assert drawn.count("shared wire</FONT>") == 3  # hop, card and wire


def test_torus_without_a_free_place_in_its_rings_is_refused():
    call([HEDDLE, "check", ROOT / TESTER, "--platform", "on_torus", "--set",
          "torus.y.bubble=false"],
         "wait for each other in a circle of 4 interconnects .E0506", status=1)
