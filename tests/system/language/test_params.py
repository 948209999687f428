"""`heddle params`: the table, its columns for other programs, and slots."""
import csv
import io
import json

import pytest

from harness import ROOT, heddle

OWN = """interface chooser;
/// Always the first.
/// Of no use.
part first : chooser {
    /// How many.
    param bits : int = 2 in 1 .. 8;
    param way  : enum { up, down } = up;
    let twice = 2 * bits;
}
component thing {
    behaviour "thing.c";
    /// What it holds.
    param size : bytes = 1KiB;
    let half = size / 2;
    /// Chooses.
    slot pick : chooser optional = none;
    slot other : chooser = first;
}
platform own {
    /// Ticks. Published: by nobody.
    clock core = 1GHz;
    a[3] : thing on core {
        /// Measured: by nobody (Ünknown, 2020).
        size = 2KiB;
    };
}
"""
SET = "--set 'a[1].size=4KiB' --set 'a[0].pick=first'"
# '.' stands for the blank at the end of a line.
TABLE = """parameter               value  source              basis      meaning
core                    1GHz   body own.heddle:21  published  Ticks. Published: by nobody.
a[0].size (and 1 more)  2KiB   body own.heddle:24  measured   What it holds.
a[0].half (and 1 more)  1KiB   let                 derived   .
a[1].size               4KiB   override            override   What it holds.
a[1].half               2KiB   let                 derived   .
a[*].pick.bits          2      default             unstated   How many.
a[*].pick.way           up     default             unstated  .
a[*].pick.twice         4      let                 derived   .
a[*].other.bits         2      default             unstated   How many.
a[*].other.way          up     default             unstated  .
a[*].other.twice        4      let                 derived   .

slots, which --set PATH=PART fills
a[*].pick = first (1 of 3)  Chooses.
    none
    first  Always the first.
        bits : int = 2 in 1 .. 8  How many.
        way : enum { up, down } = up .
a[*].other = first .
    first  Always the first.
        bits : int = 2 in 1 .. 8  How many.
        way : enum { up, down } = up .
a[*].pick = none (2 of 3)  Chooses.
"""


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own.heddle").write_text(OWN, encoding="utf-8")
    return tmp_path / "own.heddle"


def test_table_has_a_row_for_equal_elements_and_says_what_slots_take(own):
    lines = heddle(f"params {own} {SET}").stdout.split("\n")
    assert [line[:-1] + "." if line.endswith(" ") else line for line in lines] == \
        TABLE.split("\n")


def test_sources_stand_in_place_of_meanings(own):
    told = heddle(f"params {own} --sources").stdout.splitlines()
    assert told[0].split()[-2:] == ["said", "by"]
    assert told[2] == ("a[*].size         2KiB   body own.heddle:24  measured   "
                       "by nobody (Ünknown, 2020).")


def test_every_form_has_the_same_rows(own, tmp_path):
    heddle(f"params {own} {SET} --csv -o {tmp_path}/rows.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "rows.csv").read_text(encoding="utf-8"))))
    told = json.loads(heddle(f"params {own} {SET} --json").stdout)
    for row, one in zip(rows, told, strict=True):
        assert None not in (row.keys() | row.values())  # as many cells as names
        assert {name: row[name] for name in ("parameter", "value", "unit", "source")} == {
            name: one[name] for name in ("parameter", "value", "unit", "source")}
        assert one["place"].startswith(f"{row['file']}:{row['line']}:")
    assert (rows[0]["unit"], rows[0]["number"], rows[0]["basis"]) == ("Hz", str(10**9), "published")
    assert (rows[1]["members"], rows[1]["number"], rows[1]["basis"]) == ("2", "2048", "measured")
    assert rows[-1]["doc"] == (
        "none, first { bits : int = 2 in 1 .. 8; way : enum { up, down } = up }")


def test_clocks_and_links_have_a_row_with_the_source_of_each():
    """A link of which a platform makes no use has none; wires have their own names."""
    def rows(words):
        return {row["parameter"]: (row["value"], row["source"], row["basis"])
                for row in json.loads(heddle(f"params --json {words}").stdout)
                if row["source"] != "slot"}
    told = rows(f"{ROOT}/platforms/mi300x.heddle --set pcie.latency=1us")
    assert told["core"] == ("2100MHz", "body", "published")
    assert told["pcie.bandwidth"] == ("32400MB/s", "body", "measured")
    assert told["pcie.latency"] == ("1us", "override", "override")
    assert "mesh_hop.latency" not in told
    told = rows(f"{ROOT}/platforms/mi210_x2.heddle --set core=2GHz --set slot.bandwidth=8GB/s")
    assert told["core"] == ("2GHz", "override", "override")
    assert told["slot.bandwidth"] == ("8GB/s", "override", "override")
    assert told["slot.latency"] == ("140ns", "body", "assumed")



def test_a_description_with_mistakes_has_no_table(own, tmp_path):
    heddle(f"params {own} --platform two", "no platform is called 'two'", status=1)
    heddle(f"params {own} --set a.size=1 -o {tmp_path}/table", "error", status=1)
    assert not (tmp_path / "table").exists()
