"""Several GPUs: memory of each other, copies between them, and several that a program sees as
one."""
import json
import re

import pytest

from harness import BUILD, FAILS, ORDERS, ROOT, SLEEPING, call, same, same_bytes
from programs import only_full

RING = "platforms/ring4.heddle --generic --set gpu.arrays=2"  # four small GPUs
TINY = "platforms/tiny.heddle --generic"
X4 = "platforms/r9nano_x4.heddle"
FABRIC = "platforms/r9nano_x8_fabric.heddle"
COMPONENTS = "--set shared_wires=true --set gpu.arrays=2 --set queues=true"


def split(measure, size, gpus):
    """Work-groups of vectoradd by GPU, and how many requests went from GPU to GPU."""
    done = measure(f"{RING} --unified {gpus} -- vectoradd {size}")
    remote = sum(v["sent"] for path, v in done.components.items() if path.endswith(".rdma"))
    return {k["gpu"]: k["work_groups"] for k in done.stats["kernels"]}, remote


def test_work_groups_are_spread_evenly_over_unified_gpus(measure):
    """In consecutive runs. A page for each run of 4 work-groups: with code, arguments and packets
    on each GPU, none needs another's memory."""
    assert split(measure, 3840, "0,1,2,3") == ({0: 4, 1: 4, 2: 4, 3: 3}, 0)


def test_fewer_work_groups_than_unified_gpus(measure):
    assert split(measure, 500, "3,1,0")[0] == {1: 1, 3: 1}


def test_pages_and_work_groups_are_dealt_in_turn(measure):
    """Four work-groups use the elements of a page, so runs of these meet. Runs that do not leave
    three of four with another GPU."""
    sent = []
    for groups in 4, 1:
        done = measure(f"{RING} --unified 0,1,2,3 --set driver.split=interleaved"
                       f" --set driver.split.groups={groups} -- vectoradd 4096")
        given = [sum(k["work_groups"] for k in done.stats["kernels"] if k["gpu"] == gpu)
                 for gpu in range(4)]
        assert given == [4, 4, 4, 4]
        assert len(done.stats["kernels"]) == 16 / groups
        sent.append(sum(v["sent"] for path, v in done.components.items()
                        if path.endswith(".rdma")))
    assert sent[0] == 0 < sent[1]


def test_consecutive_shares_send_least(measure):
    """For a program that reads its neighbours' elements (docs/evidence/unified-split.md)."""
    sent = [sum(v["sent"] for path, v in measure(
        f"{RING} --unified 0,1,2,3 --set driver.split={how} -- stencil").components.items()
        if path.endswith(".rdma")) for how in ("consecutive", "interleaved")]
    assert sent[0] * 2 < sent[1]


@pytest.mark.parametrize("program", ["atomics", *only_full("scan", "managed", "vectoradd 100")])
@pytest.mark.parametrize("mode", ["timing", *only_full("functional")])
def test_program_passes_however_it_is_split(run, mode, program):
    run(f"{RING} --mode {mode} --unified 0,1,2,3 --set driver.split=interleaved"
        f" --set driver.split.pages=2 -- {program}")


def test_one_unified_gpu_gets_all_work_groups(measure):
    assert split(measure, 2560, "2")[0] == {2: 10}


@pytest.mark.parametrize("mode, program", [
    ("timing", "vectoradd 100"), ("timing", "scan"), ("functional", "atomics"),
    ("functional", "managed"),
    *only_full(("timing", "atomics"), ("timing", "managed"), ("functional", "vectoradd 100"),
               ("functional", "scan"))])
def test_program_that_knows_nothing_of_it_passes_on_unified_gpus(run, mode, program):
    run(f"{RING} --mode {mode} --unified 0,1,2,3 -- {program}")


def test_unified_gpus_count_the_same_however_they_are_run(measure):
    reference = same_bytes(measure, f"{RING} --unified 0,1 {{}} -- vectoradd 2000",
                           ["--tick-order=random:1 --threads 2"])
    same(reference, measure("platforms/ring4.heddle --set gpu.arrays=2 --unified 0,1"
                            " -- vectoradd 2000"))


@pytest.mark.parametrize("text, status, says", [
    ("--unified 0,7 -- vectoradd", 7, ["unified", "no GPU 7; the (GPUs|platform)"]),
    ("--unified 1,1 -- vectoradd", 2, ["GPU 1 is named twice"]),
    ("--unified 0,,1 -- vectoradd", FAILS, ["'--unified 0,,1'"]),
    ("--unified 0,1", FAILS, ["name one"])], ids=["unknown", "twice", "comma", "no-program"])
def test_mistake_in_the_list_of_unified_gpus_is_named(run, text, status, says):
    run(f"{RING} {text}", *says, status=status)


@pytest.mark.parametrize("text", ["-- own_devices", "--mode functional -- own_devices",
                                  "--set driver.page_size=64KiB -- own_devices 65536",
                                  "--set driver.page_size=2MiB -- own_devices 2097152 round"])
def test_program_makes_contexts_and_unified_devices_itself(run, text):
    run(f"{RING} {text}")


@pytest.mark.parametrize("option", ["", "--mode functional", "--set driver.page_size=64KiB"])
def test_memory_of_the_driver(run, option):
    run(f"{RING} {option} -- driver_memory")


@pytest.mark.parametrize("platform", [f"{RING}", f"{RING} --set topology=full",
                                      f"{X4} --generic --mode functional"],
                         ids=["ring", "full", "functional"])
def test_kernels_use_memory_of_other_gpus(run, platform):
    run(f"{platform} -- peers 300")


def test_kernels_on_memory_of_other_gpus_count_the_same_however_they_are_run(measure):
    same_bytes(measure, f"{X4} --set gpu.arrays=2 {{}} -- peers 300",
               ["--threads=2", "--generic", "--tick-order=random:1"])


def ports(run, half, port):
    """Channels of a port in one half of the links."""
    return [link[half][port] for link in run.stats["links"].values() if port in link.get(half, ())]


def bytes_of(run, half, port):
    return sum(channel["bytes"] for channel in ports(run, half, port))


def kernel_time(run):
    kernel = next(k for k in run.stats["kernels"] if "read_remote" in k["name"])
    return kernel["end_ps"] - kernel["start_ps"]


def check_shared_link(run):
    """Every byte of each direction is counted once."""
    ways = {"forward": 0, "backward": 0}
    for link in run.stats["links"].values():
        for half in ways:
            channels = link.get(half + "_channels")
            if channels is not None:
                ways[half] += 1
                for key in "bytes", "messages":
                    assert link[half][key] == sum(c[key] for c in channels.values())
                assert link[half]["busy_ps"] <= run.stats["time_ps"]
    assert ways == {"forward": 4, "backward": 4}


def test_shared_wires_carry_all_traffic_of_a_gpu(measure):
    """Reads of another GPU's memory (1 MiB, in answers of 72 bytes) and copies from the host (256
    KiB) come in by one direction of one link. With wires of their own they take less time together
    than one link needs for their bytes, with shared ones at least that."""
    own, shared = (measure(f"{X4} --set shared_wires={how} -- wires 1024 256")
                   for how in ("false", "true"))
    answers = bytes_of(shared, "forward_channels", "pcie_switch[0].from[0]")
    assert answers == 72 * 2**20 // 64
    bound = (answers + 256 * 1024) * 10**12 // (32 * 10**9)
    assert kernel_time(own) < bound <= kernel_time(shared)
    check_shared_link(shared)
    # what each connection sends is what it sends over wires of its own
    for connection, count in own.stats["connections"].items():
        assert count == shared.stats["connections"][connection], connection
    for port in "driver.gpu[0]", "driver.gpu[1]":
        alone = next(link for name, link in own.stats["links"].items()
                     if name.startswith(port + " -> "))
        assert alone["forward"]["bytes"] == bytes_of(shared, "forward_channels", port)


def test_shared_wires_count_the_same_however_they_are_run(measure, full):
    same_bytes(measure, f"{X4} {COMPONENTS} --set gpu.arrays=1 {{}} -- peers 20",
               ["--threads=2", "--generic", "--tick-order=descending", "--tick-order=random:1",
                *["--tick-all"] * full])


@pytest.mark.parametrize("topology", ["full", "ring", "mesh", "switch"])
def test_shared_wires_in_every_topology(run, topology):
    run(f"{FABRIC} --generic --set gpu.arrays=1 --set shared_wires=true --set topology={topology}"
        " -- peers 200")


@pytest.mark.parametrize("platform, access", [
    ("ring4", "none"), ("ring4", "push"), ("r9nano_x4", "pull"),
    *only_full(("ring4", "pull"), ("r9nano_x4", "none"), ("r9nano_x4", "push"))])
def test_copy_between_gpus_takes_the_fabric_with_access_and_the_host_without(measure, platform,
                                                                            access):
    done = measure(f"platforms/{platform}.heddle -- peer_copies 20000 {access}")
    out, into = done.total("rdma", "copied_out"), done.total("rdma", "copied_in")
    assert out == into
    assert out == 0 if access == "none" else out >= 20000 // 64


# A megabyte: 16,384 answers of 72 bytes each over one link, and less than 6 us for the rest.
@pytest.mark.parametrize("bandwidth, ns", [
    ("50GB/s", 23593), *only_full(("5GB/s", 235930), ("10GB/s", 117965))])
def test_copy_between_gpus_is_as_fast_as_its_links(measure, bandwidth, ns):
    done = measure(f"{FABRIC} --generic --set xgmi.bandwidth={bandwidth}"
                   " -- peer_copies 1048576 pull 2 5", r"copied in \d+ ns")
    took = int(re.search(r"copied in (\d+) ns", done.output)[1])
    assert ns <= took < ns + 6500
    sent = sum(channel["bytes"] for name, link in done.stats["links"].items()
               if name.startswith("hop[") and name.endswith("-> gpu[5]")
               for port, channel in link["forward_channels"].items() if port.startswith("gpu[2]."))
    assert sent >= 72 * 16384


# Without access, both links are full while pages are read and written on; less than 5 us for the
# rest, which is the way there and back and the flush of what the program wrote.
@pytest.mark.parametrize("gb_s", [32, *only_full(16)])
def test_copy_through_the_host_fills_its_links(measure, gb_s):
    size = 1 << 20
    done = measure(f"{RING} --set pcie.bandwidth={gb_s}GB/s -- peer_copies {size} none",
                   r"copied in \d+ ns")
    took = int(re.search(r"copied in (\d+) ns", done.output)[1])
    assert size / gb_s < took < 1.006 * size / gb_s + 5000


def test_copies_between_gpus_count_the_same_however_they_are_run(measure, full):
    same_bytes(measure, "platforms/ring4.heddle --set gpu.arrays=1 {} -- peer_copies 3000",
               (ORDERS if full else SLEEPING) + ["--threads 2"])


@pytest.mark.parametrize("program", only_full("peer_ring", "allreduce", "halo"))
def test_program_passes_on_eight_gpus(run, program):
    run(f"{FABRIC} -- {program}")


@pytest.mark.parametrize("text", [f"{TINY} -- own_addresses",
                                  f"{TINY} --threads 2 -- own_addresses",
                                  f"{TINY} --mode functional -- own_addresses",
                                  f"{RING} -- own_addresses far",
                                  f"{RING} --mode functional -- own_addresses far"])
def test_one_address_is_other_memory_in_each_process(run, text):
    run(text)


def test_placement_without_hip(tmp_path, run):
    """The example of the guide; and that the trace says where pages came to lie."""
    library = BUILD / "components/host/start/libheddle_start.a"
    program, trace = tmp_path / "placement", tmp_path / "trace.json"
    call(["cc", "-Wall", "-Werror", f"-I{ROOT}", ROOT / "docs/examples/placement/placement.c",
          "-o", program, library, "-ldl"])
    run(f"{RING} --record perfetto={trace} -- {program}", "^PASS placement")
    names = [e["name"] for e in json.loads(trace.read_text())["traceEvents"] if e["ph"] in "b"]
    assert "map 0x200000000000, 4 pages, GPU 0, process 1" in names
    assert "map 0x200000001000, 2 pages, GPU 1, process 1" in names  # remapped
    assert "unmap 0x200000003000, 1 pages, GPU 0, process 1" in names
    assert "map 0x200000400000, 1 pages, GPU 1, process 2" in names  # the second there
    call([program], "heddle run PLATFORM", status=1)
