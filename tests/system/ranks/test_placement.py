"""Which rank runs what: `heddle check --ranks`, `--place`, and the same bytes for any placement."""
import pytest

from harness import HEDDLE, ROOT, call, same_file, words_of
from launchers import by_ranks, outputs
from programs import only_full

POD = ROOT / "platforms/pod64.heddle"
SMALL = "platforms/pod64.heddle --set nodes=2 --set gpus=2"


def check(text, *says, status=0):
    return call([HEDDLE, "check", POD, *words_of(text)], *says, status=status).stdout


def test_nodes_stay_whole_and_ranks_get_the_same_work():
    text = check("--set nodes=4 --set gpus=2 --ranks 2")
    assert "shortest latency between ranks: 140000 ps; between partitions: 100000 ps" in text
    ranks = [line for line in text.splitlines() if line.startswith("  rank ")]
    assert sum("node[" in line for line in ranks) == 2
    share = [float(line.split(",")[1].split("%")[0]) for line in ranks]
    assert sum(share) == pytest.approx(100, abs=0.2) and max(share) < 60


def test_placement_by_hand_is_checked_and_written_so_that_it_can_be_read(tmp_path):
    """One element after the other, an array, ranges, all the rest; the last one that fits holds."""
    one = check("--set nodes=2 --ranks 3 --place '*=0, node[1].gpu[0..3]=1, node[1].gpu[5]=2,"
                f" spine=2' -o {tmp_path}/place")
    lines = (tmp_path / "place").read_text().splitlines()
    ranks = {line.split(".cp")[0]: line[-1] for line in lines if ".cp = " in line}
    assert [ranks[f"node[1].gpu[{i}]"] for i in range(8)] == list("11110200")
    assert lines.count("spine[7] = 2") == 1 and set(ranks.values()) == set("012")
    assert one == check(f"--set nodes=2 --ranks 3 --place {tmp_path}/place")


@pytest.mark.parametrize("name", ["r9nano_x4", "r9nano_x4_l2_all"])
def test_gpus_stay_whole_and_what_shares_their_wires_is_at_one_rank(heddle, name):
    """The driver and the switches take turns at the wire to a GPU."""
    text = heddle(f"check platforms/{name}.heddle --ranks 4",
                  "shortest latency between ranks: 140000 ps; between partitions: 9000 ps").output
    ranks = [line for line in text.splitlines() if line.startswith("  rank ")]
    assert all(f"gpu[{i}]" in line for i, line in enumerate(ranks))
    assert "driver, mmu, gpu[0], pcie_switch[0..1], root" in ranks[0]


@pytest.mark.parametrize("text, says", [
    ("--ranks 2 --place node=0", "partition 'leaf.0.' has no rank; '\\*=0' in front"),
    ("--ranks 2 --place '*=0'", "rank 1 has no partition"),
    ("--ranks 2 --place '*=0, nodes[1]=1'", "'nodes.1.': the platform has no such component"),
    ("--ranks 2 --place '*=0, node[]=1'", "'node..': the platform has no such component"),
    ("--ranks 2 --place '*=0, node[..1]=1'", "'node...1.': the platform has no such component"),
    ("--ranks 2 --place '*=0, node[1]=2'", "there are ranks 0 to 1"),
    ("--ranks 2 --place '*=0, driver=1'", "'driver' is in no partition"),
    ("--ranks 2 --place '*=0, node[0]'", "'node.0.': it is a path and a rank"),
    ("--ranks 2 --place nowhere", "--place nowhere: it is neither a file nor a list"),
    ("--ranks 30", "this platform has 26 partitions besides the host's side"),
    ("--ranks 65", "65 ranks are too many: at most 64")])
def test_mistake_in_a_placement_is_named(text, says):
    check(f"--set nodes=2 --set gpus=8 {text}", says, status=1)


def test_trace_over_busy_shared_wires_is_the_same_on_two_threads(run, tmp_path):
    """Windows are long here: what was sent in one is granted in others."""
    for threads in 1, 2:
        run(f"{SMALL} --generic --threads {threads} --record perfetto={tmp_path}/{threads}"
            " -- collectives halving 300")
    same_file(tmp_path / "1", tmp_path / "2")


@pytest.mark.parametrize("ranks, place", [
    (2, "--place '*=1, node[0].gpu[1]=0, leaf[1]=0'"),  # divides nodes, and is far from fair
    only_full((3, ""))[0]], ids=["odd", "found"])
def test_placement_changes_no_byte(run, tmp_path, ranks, place):
    program = "-- collectives halving 100"
    run(f"{SMALL} --generic {outputs(tmp_path, 'one')} {program}")
    by_ranks(ranks, f"{SMALL} --generic {place} {outputs(tmp_path, 'two')} {program}", "^PASS")
    same_file(tmp_path / "one.json", tmp_path / "two.json")
    same_file(tmp_path / "one.trace", tmp_path / "two.trace")


def test_placement_without_ranks_is_refused(run):
    run(f"{SMALL} --generic --place '*=0' -- devices", "'--place' is for several ranks", status=7)
