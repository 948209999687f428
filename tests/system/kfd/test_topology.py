"""What AMD's kernel driver would say of a platform: `heddle topology`, and programs that read it
under `heddle run --stack rocm`."""
import json
import os
import re
import shutil
import sys

import pytest

import harness
import topology
from harness import FAILS, HEDDLE, call
from topology import KNOWN, Topology


def test_every_platform_is_known_here():
    names = {path.stem for path in (harness.ROOT / "platforms").glob("*.heddle")}
    assert names == {*KNOWN, *topology.NO_GPU_OF_AMD, *topology.TOO_MANY}


@pytest.mark.parametrize("platform", [
    pytest.param(name, marks=[] if name in ("apu", "mi300a", "r9nano") else pytest.mark.full)
    for name in KNOWN])
def test_topology_is_that_of_the_description(platform):
    known, shown = KNOWN[platform], Topology(platform)
    assert len(shown.gpus) == known.count
    for number in shown.gpus:
        gpu, bank = shown.node(number), shown.node(number, "mem_banks", "0")
        digits = [int(digit, 16) for digit in known.target[len("gfx"):]]
        assert gpu["gfx_target_version"] == digits[0] * 10000 + digits[1] * 100 + digits[2]
        assert gpu["simd_count"] == 4 * known.units and gpu["simd_per_cu"] == 4
        assert gpu["array_count"] * gpu["cu_per_simd_array"] == known.units
        assert gpu["max_waves_per_simd"] * 4 == known.waves and gpu["wave_front_size"] == 64
        assert gpu["lds_size_in_kb"] == 64 and gpu["num_xcc"] == known.dies
        assert gpu["max_engine_clk_fcompute"] == known.mhz
        assert bank["heap_type"] == 1 and bank["size_in_bytes"] == known.memory << 20
        bandwidth = 2 * bank["width"] * bank["mem_clk_max"] / 8000
        assert bandwidth == pytest.approx(known.bandwidth, rel=0.03)
        assert shown.files[f"nodes/{number}/gpu_id"] == f"{4095 + number}\n"
        assert gpu["drm_render_minor"] == 127 + number
        assert shown.links(number)[0]["min_bandwidth"] == known.link
        assert shown.links(0)[number]["min_bandwidth"] == known.link


@pytest.mark.parametrize("platform", [
    pytest.param(name, marks=[] if name in ("mi300a", "tiny") else pytest.mark.full)
    for name in KNOWN])
def test_each_compute_unit_has_its_caches(platform):
    known, shown = KNOWN[platform], Topology(platform)
    for number in shown.gpus:
        first = shown.node(number)["simd_id_base"]
        assert first == topology.FIRST_SIMD + (number - 1) * 4 * known.units
        l1 = shown.caches(number, 1, "data")
        vector = [cache for cache in l1 if cache["size"] == known.vector_l1][:known.units]
        units = [*range(first, first + known.units)]
        assert [cache["processor_id_low"] for cache in vector] == units
        l2 = shown.caches(number, 2, "data")
        assert [cache["size"] for cache in l2] == known.dies * [known.l2]
        assert [cache["sibling_map"].count("1") for cache in l2] \
            == known.dies * [known.units // known.dies]
        code = shown.caches(number, 1, "instructions")
        assert sum(cache["sibling_map"].count("1") for cache in code) == known.units
        side = [cache["size"] for cache in shown.caches(number, 3, "data")]
        assert side == ([known.infinity] if known.infinity else [])


def test_links_have_the_weights_of_their_ways():
    ring = Topology("ring4")
    ways = {to: (link["type"], link["weight"]) for to, link in ring.links(1).items()}
    assert ways == {0: (2, 20), 2: (11, 15), 3: (11, 30), 4: (11, 45)}
    assert [ring.node(number)["hive_id"] for number in ring.gpus] == [1, 1, 1, 1]
    full = Topology("ring4", "topology=full")
    assert [full.links(1)[to]["weight"] for to in (2, 3, 4)] == [15, 15, 15]
    apart = Topology("r9nano_x4")
    assert [*apart.links(1)] == [0] and apart.node(1)["hive_id"] == 0
    peers = apart.all_of(2, "p2p_links")
    assert [(link["type"], link["node_to"], link["weight"]) for link in peers] \
        == [(2, 1, 40), (2, 3, 40), (2, 4, 40)]
    assert ring.all_of(1, "p2p_links") == []
    for pair, bandwidth in ("mi210_x2", 150000), ("mi250x", 200000):
        bridge = Topology(pair).links(2)[1]
        assert (bridge["type"], bridge["weight"], bridge["max_bandwidth"]) == (11, 15, bandwidth)
    assert [*Topology("mi250x", "gpus=1").links(1)] == [0]
    shared = Topology("mi300a")
    assert (shared.links(1)[0]["type"], shared.links(1)[0]["weight"]) == (11, 13)
    assert shared.node(1)["capability"] & 0x10000000


def test_host_memory_that_is_described_is_the_processors():
    shown = Topology("managed4", "host_memory=256MiB")
    assert len(shown.gpus) == 4
    assert shown.node(0, "mem_banks", "0")["size_in_bytes"] == 256 << 20
    assert [*shown.links(1)] == [0]  # GPUs reach each other by the processor's links


def test_settings_change_what_is_shown():
    shown = Topology("tiny", "gpu.cus=2", "gpu.l2=512KiB", "gpu.sa.l1v.size=32KiB")
    assert shown.node(1)["simd_count"] == 8
    assert [cache["size"] for cache in shown.caches(1, 2, "data")] == [512]
    assert shown.caches(1, 1, "data")[0]["size"] == 32


def test_files_are_those_that_are_printed(tmp_path):
    call([HEDDLE, "topology", "platforms/tiny.heddle", "-o", tmp_path / "a/b"])
    written = {str(path.relative_to(tmp_path / "a/b")): path.read_text()
               for path in (tmp_path / "a/b").rglob("*") if path.is_file()}
    assert written == Topology("tiny").files
    (tmp_path / "file").touch()
    call([HEDDLE, "topology", "platforms/tiny.heddle", "-o", tmp_path / "file"], "file",
         status=FAILS)


def test_every_property_has_a_source():
    told = call([HEDDLE, "topology", "platforms/tiny.heddle", "--sources"]).stdout
    kinds = {"SYSTEM": "system_properties", "NODE": "nodes/1/properties",
             "GPU": "nodes/1/properties", "BANK": "nodes/1/mem_banks/0/properties",
             "CACHE": "nodes/1/caches/0/properties", "LINK": "nodes/1/io_links/0/properties"}
    sources = {(kinds[line.split()[0]], line.split()[1]) for line in told.splitlines()
               if line.split(None, 2)[2]}
    files = Topology("tiny").files
    shown = {(file, line.split()[0]) for file in set(kinds.values())
             for line in files[file].splitlines() if not line.startswith("sibling_map")}
    assert sources == shown


# What ROCt of ROCm 6 and 7 looks for (topology.c); other properties it passes over.
READ = {
    "system_properties": "platform_oem platform_id platform_rev",
    "nodes/1/properties": """cpu_cores_count simd_count mem_banks_count caches_count io_links_count
        p2p_links_count cpu_core_id_base simd_id_base capability capability2 debug_prop
        max_waves_per_simd lds_size_in_kb gds_size_in_kb wave_front_size array_count
        simd_arrays_per_engine cu_per_simd_array simd_per_cu max_slots_scratch_cu fw_version
        vendor_id device_id location_id domain max_engine_clk_fcompute max_engine_clk_ccompute
        local_mem_size drm_render_minor sdma_fw_version hive_id unique_id num_sdma_engines
        num_sdma_xgmi_engines num_gws num_sdma_queues_per_engine num_cp_queues num_xcc family_id
        gfx_target_version cwsr_size ctl_stack_size""",
    "nodes/1/mem_banks/0/properties": "heap_type size_in_bytes flags width mem_clk_max",
    "nodes/1/caches/0/properties": """processor_id_low level size cache_line_size
        cache_lines_per_tag association latency type sibling_map""",
    "nodes/1/io_links/0/properties": """type version_major version_minor node_from node_to weight
        min_latency max_latency min_bandwidth max_bandwidth recommended_transfer_size
        recommended_sdma_engine_id_mask flags"""}


def test_what_newer_runtimes_read_is_there_or_named_as_missing():
    page = (harness.ROOT / "docs/reference/kfd.md").read_text()
    rows = re.findall(r"^\| ([^|]*`[^|]*) \| absent: ", page, re.M)
    named = set(re.findall("`(\\w+)`", " ".join(rows)))
    files = Topology("mi210").files
    missing = {name for file, names in READ.items()
               for name in set(names.split()) - {line.split()[0] for line in
                                                 files[file].splitlines()}}
    assert missing == named


def test_platforms_without_such_gpus_are_refused():
    for words in (["a100"], ["titanx"]):
        done = call([HEDDLE, "topology", f"platforms/{words[0]}.heddle"],
                    f"platform {words[0]} has no GPU of AMD that runs programs", status=1)
        assert done.stdout == ""
    call([HEDDLE, "topology", "platforms/pod64.heddle", "--set", "nodes=17"],
         "platform pod64 has 136 GPUs; AMD's kernel driver has render nodes for 128", status=1)


# ---- programs above it ----

# ROCr 5.2.3 knows these targets.
OLD_ROCR = {"gfx803", "gfx900", "gfx906", "gfx908", "gfx90a"}


def agents(text):
    """rocminfo's agents: what stands in front of ':' and behind it, of each the first."""
    found = []
    for part in re.split(r"\nAgent \d+ +\n", text)[1:]:
        rows = re.findall(r"^ +(\S[^:\n]*?): +(\S.*?) *$", part, re.MULTILINE)
        found.append({})
        for name, value in rows:
            found[-1].setdefault(name, value)
        found[-1]["memory"] = [int(size) for size in re.findall(r"Size: +(\d+)\(0x", part)]
    return found


@pytest.mark.parametrize("platform", [
    pytest.param(name, marks=[] if name in ("mi210_x2", "r9nano") else pytest.mark.full)
    for name, gpu in KNOWN.items() if gpu.target in OLD_ROCR and not name.startswith("packet")])
def test_rocminfo_shows_the_description(platform):
    if not shutil.which("rocminfo"):
        pytest.skip("rocminfo is not installed: ./dev setup --full")
    known = KNOWN[platform]
    done = call([HEDDLE, "run", f"platforms/{platform}.heddle", "--mode", "functional", "--stack",
                 "rocm", "--", shutil.which("rocminfo")], "ROCk module is loaded")
    host, *gpus = agents(done.stdout)
    assert host["Device Type"] == "CPU" and len(gpus) == known.count
    for number, gpu in enumerate(gpus, 1):
        assert gpu["Name"] == known.target and gpu["Node"] == str(number)
        assert gpu["Marketing Name"].startswith(f"{platform} gpu" if platform not in
                                                ("node8", "pod64") else f"{platform} node")
        assert gpu["Compute Unit"] == str(known.units) and gpu["SIMDs per CU"] == "4"
        assert gpu["Max Waves Per CU"].split("(")[0] == str(known.waves)
        assert gpu["L1"].split("(")[0] == str(known.vector_l1)
        assert gpu["L2"].split("(")[0] == str(known.l2)
        assert gpu["Max Clock Freq. (MHz)"] == str(known.mhz)
        assert known.memory << 10 in gpu["memory"] and 64 in gpu["memory"]


@pytest.mark.parametrize("platform", [
    pytest.param("r9nano"), pytest.param("mi210_x2", marks=pytest.mark.full)])
def test_hip_of_amd_shows_the_description(platform):
    known = KNOWN[platform]
    done = call([HEDDLE, "run", f"platforms/{platform}.heddle", "--mode", "functional", "--stack",
                 "rocm", "--", os.path.realpath(sys.executable),
                 "tests/system/kfd/hip_properties.py"])
    gpus = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(gpus) == known.count
    for gpu in gpus:
        assert gpu["name"].startswith(f"{platform} gpu") and gpu["units"] == known.units
        assert gpu["memory"] == known.memory << 20 and gpu["lds"] == 64 << 10
        assert gpu["clock"] == 1000 * known.mhz and gpu["l2"] == known.l2 << 10
        assert gpu["bandwidth"] / 1e6 == pytest.approx(known.bandwidth, rel=0.03)


@pytest.mark.full
def test_reports_are_there_above_amds_runtime(tmp_path):
    done = harness.run(f"platforms/tiny.heddle --stack rocm --stats {tmp_path}/s.json --report cpi "
                       f"--series {tmp_path}/series.csv --every 10us --record "
                       f"perfetto={tmp_path}/trace.json -- vectoradd", "wavefront-cycles an instr")
    kernels = json.loads((tmp_path / "s.json").read_text())["kernels"]
    assert "vectoradd(float const*, float const*, float*, int)" in done.stderr
    assert {"rocr_kernel", "vectoradd(float const*, float const*, float*, int)"} \
        == {kernel["name"] for kernel in kernels}
    assert len((tmp_path / "series.csv").read_text().splitlines()) > 2
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_a_program_without_a_gpu_is_named(tmp_path):
    harness.run("platforms/tiny.heddle --mode functional --stack rocm --stats "
                f"{tmp_path}/s.json -- /bin/true", "no process of '/bin/true' has used a GPU",
                status=8)


def test_stack_rocm_is_for_programs():
    tiny = "platforms/tiny.heddle --stack rocm"
    harness.run(tiny, "'--stack rocm' is for programs; name one", status=2)
    harness.run(f"{tiny} --unified 0 -- /bin/true", "'--unified' needs the machine in the "
                "program's own process; leave out '--stack rocm' and '--shared'", status=2)
    harness.run("platforms/tiny.heddle --stack cuda -- /bin/true", "hip.*rocm", status=2)
