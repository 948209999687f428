"""Looking at a run: measures, the coloured diagram, the page of `heddle report` and its words."""
import copy
import csv
import io
import json
import os
import re
import subprocess
import xml.etree.ElementTree as xml
from html import unescape

import pytest

from browser import Dom, chromium, dom, needs_chromium
from harness import HEDDLE, call, heddle
from programs import only_full

from heddle.report import flops

TINY = "platforms/tiny.heddle"
# Slices of an L2 enough for one to be hot, and a TLB small enough to be too small.
MACHINE = f"{TINY} --set gpu.banks=16 --set gpu.l2=1MiB --set gpu.l2tlb.sets=4"


def measured(stats):
    """(scope, path, measure) -> part and whole."""
    table = heddle(f"stats {stats} --report measures --csv").stdout
    return {(r["scope"], r["path"], r["measure"]): (float(r["part"]), float(r["whole"]))
            for r in csv.DictReader(io.StringIO(table))}


def test_measures_are_what_the_statistics_say(measure):
    done = measure(f"{TINY} -- matmul_tiled")
    told, cycles = measured(done.stats_file), done.stats["clocks"]["core"]["cycles"]
    for path, stats in done.components.items():
        if "hits" in stats and stats["hits"] + stats["misses"]:
            assert told["run", path, "hit_rate"] == (stats["hits"], stats["hits"] + stats["misses"])
        if "lds_bank_conflicts" in stats:
            assert told["run", path, "issue"] == (stats["valu"], cycles * 4 / 4)
            assert told["run", path, "utilisation"] == (stats["valu"] * 4, cycles * 4)
        if "blocked" in stats:
            assert told["run", path, "stall"] == (stats["blocked"], cycles)
    l2 = done.components["gpu.l2[1]"]
    asked = l2["reads"] + l2["writes"] + l2["atomics"]
    # a line of 64 bytes a cycle comes out of the crossbar, whatever the ports of the cache
    assert told["run", "gpu.l2[1]", "bandwidth"] == (asked * 64, cycles * 64)
    assert told["run", "gpu.l2[1]", "utilisation"] == (asked * 64, cycles * 64)
    link = done.stats["links"]["driver.gpu[0] -> gpu.cp.host via pcie"]
    busy = max(link["forward"]["busy_ps"], link["backward"]["busy_ps"])
    assert told["run", "driver.gpu[0] -> gpu.cp via pcie", "utilisation"] == (
        busy, done.stats["time_ps"])


def test_measures_of_a_kernel_are_its_own(measure):
    done = measure(f"{TINY} -- bfs")
    told = measured(done.stats_file)
    kernels = done.stats["kernels"]
    name, cycles = kernels[0]["name"], sum(k["cycles"] for k in kernels)
    valu = sum(k["components"]["gpu.sa[*].cu[*]"]["valu"] for k in kernels)
    assert len(kernels) > 1 and {k["name"] for k in kernels} == {name}
    parts = [told[name, f"gpu.sa[0].cu[{i}]", "issue"] for i in range(4)]
    assert sum(part for part, _ in parts) == pytest.approx(valu)
    assert sum(whole for _, whole in parts) == pytest.approx(4 * cycles, rel=1e-6)


def svg_texts(text):
    root = xml.fromstring(text)
    return [e.text for e in root.iter("{http://www.w3.org/2000/svg}text")], \
        [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}title")]


def test_diagram_has_the_numbers_of_the_run(measure):
    done = measure(f"{TINY} -- matmul_tiled")
    texts, titles = svg_texts(heddle(f"dot --svg --stats {done.stats_file} --measure hit_rate "
                                     "--scale 100").stdout)
    l2 = [done.components[f"gpu.l2[{i}]"] for i in range(2)]
    hits, all_of = sum(c["hits"] for c in l2), sum(c["hits"] + c["misses"] for c in l2)
    shown = f"{hits / all_of * 100:.1f} %"
    assert shown.replace(" ", "\u00a0") in texts or shown in texts
    assert any(t.startswith("gpu.l2 : cache") and f"hit_rate {shown}: {hits} of {all_of}" in t
               for t in titles)
    assert "100 %" in [t.replace("\u00a0", " ") for t in texts]  # the scale's end


def test_other_descriptions_are_refused(measure, tmp_path):
    stats = measure(f"{TINY} --set gpu.l2=128KiB -- vectoradd").stats_file
    heddle(f"dot {TINY} --stats {stats}")  # with the settings of the run
    heddle(f"dot {TINY} --stats {stats} --set gpu.l2=64KiB", "is not a run of", status=1)
    heddle(f"dot platforms/apu.heddle --stats {stats}", "no platform is called 'tiny'", status=1)
    heddle(f"dot --stats {stats} --measure speed", "utilisation, hit_rate, band", status=2)
    heddle(f"dot --stats {stats} --kernel none", "no kernel of that name", status=1)
    heddle(f"dot --stats {stats} --html {tmp_path}", "heddle report", status=2)
    heddle("dot", "of which description", status=2)
    heddle(f"dot {TINY} --measure stall", "--stats FILE", status=2)
    (tmp_path / "odd.json").write_text(stats.read_text().replace('"tiny"', '"odd"', 1))
    heddle(f"stats --report measures {tmp_path}/odd.json", "no platform is called 'odd'", status=1)


@needs_chromium
def test_page_shows_what_the_statistics_say(measure, tmp_path):
    done = measure(f"{MACHINE} --report limits -- planted tlb")
    page = tmp_path / "page.html"
    heddle(f"report {done.stats_file} -o {page}")
    seen = dom(tmp_path, page, "sort-kernels-0=2up&measure=stall&scope=1")
    kernels = sorted(done.stats["kernels"], key=lambda k: k["cycles"])
    rows = seen.rows("kernels-0")  # sorted by cycles, the shortest first
    assert [row[0] for row in rows] == [k["name"].split("(")[0] for k in kernels]
    assert [row[2] for row in rows] == [k["cycles"] for k in kernels]
    assert [row[5] for row in rows] == [k["wavefront_instructions"] for k in kernels]
    for row, kernel in zip(rows, kernels):
        l1 = kernel["components"]["gpu.sa[*].l1v[*]"]
        assert row[9] == pytest.approx(l1.get("hits", 0) / (l1.get("hits", 0) + l1["misses"]))
    assert "the reach of the TLBs" in seen.words
    # bars of the ledger
    bars = {}
    for element in seen.with_attribute("data-part"):
        part = element["data-part"]
        bars[part] = bars.get(part, 0) + int(element["data-value"])
    assert bars["stores"] == sum(k["slot_cycles"]["waiting"]["stores"] for k in kernels)
    assert bars["issued"] == sum(sum(k["slot_cycles"]["issued"].values()) for k in kernels)
    # one measure and one scope are shown, the others hidden
    for name, chosen in (("data-measure", "stall"), ("data-scope", "1")):
        assert {e[name] for e in seen.with_attribute(name) if "hidden" not in e} == {chosen}
    shares = {e["data-path"]: float(e["data-share"]) for e in seen.with_attribute("data-share")
              if e["data-path"].startswith("gpu.l2[")}
    assert len(shares) == 16
    html = next(e for e in seen.with_attribute("data-loaded-ms"))
    assert html["data-loaded-ms"].isdigit()
    assert not re.search(r"(src|href)=.(https?:)?//|@import|url\(", page.read_text())


def test_one_full_element_is_seen_among_idle_ones(measure, tmp_path):
    """In the diagram by its own number and colour, on the page of the kernel from below."""
    done = measure(f"{MACHINE} -- planted channel")
    page, cycles = tmp_path / "page.html", done.stats["clocks"]["core"]["cycles"]
    drawn = heddle(f"dot --svg --stats {done.stats_file} --measure utilisation").stdout
    texts = [t.replace("\u00a0", " ") for t in svg_texts(drawn)[0]]
    asked = [sum(done.components[f"gpu.l2[{i}]"].get(kind, 0)
                 for kind in ("reads", "writes", "atomics")) for i in range(16)]
    shares = [64 * n / (64 * cycles) * 100 for n in (max(asked), sum(asked) / 16)]
    assert f"{shares[1]:.1f} %, one {shares[0]:.1f} %" in texts
    heddle(f"report {done.stats_file} -o {page}")
    kernel = done.stats["kernels"][0]
    of_kernel = kernel["components"]["gpu.l2[*]"]
    others = sum(asked) - sum(of_kernel.get(kind, 0) for kind in ("reads", "writes", "atomics"))
    rows = {row[0]: row[1:] for row in Dom(page.read_text()).rows("hottest-0-1")}
    assert rows["gpu.l2[3]"][2] == pytest.approx((max(asked) - others) / kernel["cycles"])
    assert rows["gpu.sa[*].cu[*]"][2] == "–"  # which of them did how much is not known
    assert rows["gpu.l2[3]"][2] > 10 * rows["gpu.l2[3]"][3] > 0


@needs_chromium
def test_page_of_two_runs_says_what_differs(measure, tmp_path):
    a = measure(f"{MACHINE} -- planted tlb")
    b = measure(f"{MACHINE} --set gpu.l2tlb.sets=256 -- planted tlb")
    page = tmp_path / "page.html"
    heddle(f"report {a.stats_file} {b.stats_file} --all -o {page}")
    seen = dom(tmp_path, page)
    assert seen.rows("settings") == [["gpu.l2tlb.sets", "4", "256"]]
    visits = [next(k["cycles"] for k in run.stats["kernels"] if k["name"].startswith("pages"))
              for run in (a, b)]
    row = next(row for row in seen.rows("results") if row[0].startswith("pages"))
    assert row[1:3] == visits and row[3] == pytest.approx(visits[1] / visits[0])
    assert any(row[0] == "gpu.l2tlb" and row[1] == "hits" for row in seen.rows("changes"))


def test_page_has_the_hottest_instructions(measure, tmp_path):
    """The table is there without a script, too."""
    table, page = tmp_path / "profile.csv", tmp_path / "page.html"
    done = measure(f"{TINY} --profile instructions={table} -- matmul_tiled")
    heddle(f"report {done.stats_file} --profile {table} -o {page}")
    rows = list(csv.DictReader(table.open()))
    cycles = sorted((sum(int(v) for k, v in row.items() if "." in k) for row in rows), reverse=True)
    shown = Dom(page.read_text()).rows("instructions-0")
    assert [row[4] for row in shown] == cycles[:16]
    assert shown[0][2].startswith("s_waitcnt vmcnt") and "waiting.vmcnt" in shown[0][-1]
    operations = 2 * 48**3  # of a product of matrices: a multiply-add each
    seconds = done.stats["kernels"][0]["cycles"] * 1e-9
    titles = re.findall(r"floating-point operations a byte, ([\d.]+) GFLOP/s", page.read_text())
    assert titles and {float(t) for t in titles} == {float(f"{operations / seconds / 1e9:.3g}")}
    assert "f32 multiply-add 512 GFLOP/s" in page.read_text()  # 4 units of 64 lanes at 1 GHz
    heddle(f"report {done.stats_file} --profile {page} -o {page}", "is not what", status=1)
    other = measure(f"{TINY} -- matmul_tiled 32").stats_file
    heddle(f"report {other} --profile {table} -o {page}", "is of another run", status=1)
    text = table.read_text()
    for wrong, says in ((text.replace(",0,", ",x,", 1), "device of row 1 is 'x'"),
                        (text.rstrip() + ",7\n", "does not fit"), (text[:-9], "does not fit")):
        table.write_text(wrong)
        heddle(f"report {done.stats_file} --profile {table} -o {page}", says, status=1)


def test_page_says_how_near_each_resource_is_to_its_limit(measure, tmp_path):
    """The L1 moves a line a cycle, as its compute unit asks for them, though it has more ports."""
    done = measure(f"{MACHINE} -- matmul_tiled 64")
    page = tmp_path / "page.html"
    heddle(f"report {done.stats_file} -o {page}")
    seen = Dom(page.read_text())
    kernel, (head, *_) = done.stats["kernels"][0], seen.tables["light-0"]
    row = dict(zip([shown for _, shown in head], seen.rows("light-0")[0]))
    units = kernel["occupancy"]["compute_units"] * kernel["cycles"]
    l1, l2 = (kernel["components"][f"gpu.{name}[*]"] for name in ("sa[*].l1v", "l2"))
    valu = kernel["components"]["gpu.sa[*].cu[*]"]["valu"]
    assert row["compute"] == pytest.approx(valu / units)
    assert row["LDS"] == pytest.approx(kernel["units"]["lds_busy"] / units)
    assert row["l1v"] == pytest.approx((l1["reads"] + l1["writes"]) / units)
    assert row["l2"] == pytest.approx((l2["reads"] + l2["writes"]) / kernel["cycles"] / 16)
    banks = [done.components[f"gpu.l2[{i}]"] for i in range(16)]
    asked = [bank["reads"] + bank["writes"] + bank["atomics"] for bank in banks]
    arrays = {row[0]: row[1:] for row in seen.rows("channels-0")}
    assert arrays["gpu.l2[*]"][:3] == [16, sum(asked), 64 * sum(asked)]
    assert arrays["gpu.l2[*]"][-1] == pytest.approx(max(asked) * 16 / sum(asked))
    own = json.loads(re.search(r'id="elements-0">(.*?)</script>', page.read_text())[1])
    l2 = next(array for array in own if array["path"] == "gpu.l2[*]")
    assert [row[1] for row in l2["rows"]] == asked


@pytest.mark.parametrize("text, wanted", [
    ("v_mac_f32_e32 v4, v2, v16", ("f32", 128)), ("v_add_f32_e32 v1, v2, v3", ("f32", 64)),
    ("v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7]", ("f64", 128)),
    ("v_pk_fma_f16 v0, v1, v2, v3", ("f16", 256)), ("v_rcp_f32_e32 v1, v2", ("f32", 64)),
    ("v_mfma_f32_32x32x2f32 a[0:15], v0, v1, a[0:15]", ("matrix f32", 2 * 32 * 32 * 2)),
    ("v_mfma_f32_4x4x4f16 a[0:3], v[0:1], v[2:3], a[0:3]", ("matrix f16", 16 * 2 * 4 * 4 * 4)),
    ("v_mfma_f32_16x16x8bf16 a[0:3], v0, v1, a[0:3]", ("matrix bf16", 2 * 16 * 16 * 8)),
    ("v_mfma_f64_16x16x4f64 a[0:7], v[0:1], v[2:3], a[0:7]", ("matrix f64", 2 * 16 * 16 * 4)),
    ("v_mfma_i32_32x32x8i8 a[0:15], v0, v1, a[0:15]", ("", 0)),
    ("v_mad_u32_u24 v1, v2, s7, v3", ("", 0)), ("v_cvt_f32_u32_e32 v1, v2", ("", 0)),
    ("v_add_u32_e32 v1, vcc, v2, v3", ("", 0)), ("s_mul_i32 s0, s1, s2", ("", 0))])
def test_operations_of_an_instruction(text, wanted):
    assert flops.of_instruction(text, 1, 64) == wanted


def test_plots_are_files_of_their_own(measure, tmp_path):
    stats = measure(f"{MACHINE} -- matmul").stats_file
    names = ("cycles", "roofline", "heat-hit_rate", "topology-bandwidth")
    plots = " ".join(f"--plot {name}" for name in names)
    heddle(f"report {stats} {plots} -o {tmp_path}")
    for name in names:
        text = (tmp_path / f"{stats.stem}-{name}.svg").read_text()
        texts, _ = svg_texts(text)
        assert texts and text.endswith("</svg>\n")
        if not name.startswith("topology"):
            assert all(float(size) >= 11 for size in re.findall(r'font-size="([\d.]+)"', text))
    heddle(f"report {stats} --plot speed", "there is no plot 'speed'; there are: cycles", status=1)


def test_a_run_without_its_description_still_has_a_page(measure, tmp_path):
    stats = measure(f"{TINY} -- matmul").stats_file
    root = json.loads(stats.read_text())
    root["stamp"]["model"] = "0" * 64
    old = tmp_path / "old.json"
    old.write_text(json.dumps(root))
    page = tmp_path / "old.html"
    heddle(f"report {old} -o {page}", "is not a run of")
    text = page.read_text()
    assert "No topology and no measures" in text and "limited by" in text
    heddle(f"report {old} --plot roofline", "nothing for the plot", status=1)


def places_of(value, place=()):
    """Of all numbers of a statistics file."""
    if isinstance(value, (dict, list)):
        inside = value.items() if isinstance(value, dict) else enumerate(value)
        return [found for key, one in inside for found in places_of(one, (*place, key))]
    return [place] if type(value) in (int, float) else []


WRONG = ['"3"', "null", "-1", "true", "NaN", "Infinity"]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_number_that_no_run_has_written_is_named(measure, tmp_path, full, wrong):
    """In every section, once in each of a few places; without --full each in places of its own,
    and the page is asked for at the first."""
    root = measure(f"{TINY} -- matmul_tiled").stats
    places = [place for place in places_of(root) if place[0] != "stamp"]
    assert {place[0] for place in places} >= {"time_ps", "clocks", "kernels", "components"}
    file = tmp_path / "damaged.json"
    chosen = places[::len(places) // 12]
    chosen = chosen if full else chosen[WRONG.index(wrong)::len(WRONG)]
    for place in chosen:
        damaged = copy.deepcopy(root)
        inside = damaged
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] = "HERE"
        file.write_text(json.dumps(damaged).replace('"HERE"', wrong))
        for what in ("stats", "report") if full or place == chosen[0] else ("stats",):
            words = f"{what} {file}" + (f" -o {tmp_path}/page.html" if what == "report" else "")
            heddle(words, f"damaged.json' is damaged: {re.escape(place[0])}", status=1)


@pytest.mark.parametrize("profile", ["blocks", "memory"])
def test_profile_in_statistics_is_read_and_its_damage_is_named(measure, profile):
    file = measure(f"{TINY} --mode functional --profile {profile} -- matmul_tiled").stats_file
    heddle(f"stats {file}", "wavefront_instructions")
    text = file.read_text()
    for name in ("units", "blocks"):
        file.write_text(text.replace(f'"{name}": "', f'"{name}": "x', 1))
        heddle(f"stats {file}", rf"kernels\[0\].profile.{name} is 'x", status=1)


@pytest.mark.parametrize("text,says", [("", "is not JSON"), ("[]", "not what `heddle run"),
                                       ("[" * 100000, "nests too deeply"),
                                       ('{"components": 3, "kernels": 4}', "not what `heddle run")])
def test_what_is_no_statistics_is_refused(tmp_path, text, says):
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text)
    heddle(f"report {wrong} -o {tmp_path}/page.html", says, status=1)
    assert not (tmp_path / "page.html").exists()
    heddle(f"report {tmp_path}/none.json", "cannot read", status=1)


@pytest.mark.parametrize("platform, wanted", [
    ("rtx3070", {"sector_mem": "#2B4C6F", "thread_block": "#8A6100"}),
    ("tiny", {"mem": "#2B4C6F", "work": "#8A6100"})])
def test_edges_have_the_colour_of_what_flows(platform, wanted):
    """Data and work, also of protocols without bytes: each protocol has one colour."""
    drawn = call([HEDDLE, "dot", f"platforms/{platform}.heddle"]).stdout
    colours = {}
    edge = r'-> .*tooltip="[^"]*?\\n(\w+)(?:\(\d+\))?\\n.*?color="(#\w+)"'
    for protocol, colour in re.findall(edge, drawn):
        colours.setdefault(protocol, set()).add(colour)
    assert all(len(found) == 1 for found in colours.values())
    assert {name: colour for name, (colour,) in colours.items() if name in wanted} == wanted


# What somebody does with the page, and what it shows then.
HANDS = """<script>
addEventListener('load', function () {
  var told = {}, box = document.getElementById('search');
  function key(k, to) {
    (to || document.body).dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true,
                                                                      cancelable: true}));
  }
  function shown() { return document.querySelector('section:not([hidden])'); }
  function view() { return shown().querySelector('svg').getAttribute('viewBox').split(/[ ,]+/); }
  function search(text) {
    box.value = text;
    box.dispatchEvent(new Event('input'));
    return Array.from(document.querySelectorAll('#hits a')).map(function (a) {
      return a.textContent; });
  }
  function whole(name) { told[name] = view().map(Number); }
  whole('at_first');
  key('+'); whole('nearer');
  key('l'); key('j'); whole('moved');
  key('0'); whole('whole');
  key('-'); whole('farther');
  key('0');
  document.querySelector('.picture').dispatchEvent(new WheelEvent('wheel', {deltaY: -1,
    ctrlKey: true, bubbles: true, cancelable: true}));
  whole('wheel');
  key('/'); told.focus = document.activeElement === box;
  told.nothing = search('zzz').length;
  told.l2 = search('l2 cache');
  key('ArrowDown', box);
  told.second = document.querySelector('#hits .chosen').textContent;
  told.units = search('compute_unit');
  key('Enter', box);
  setTimeout(function () {
    told.opened = decodeURIComponent(location.hash);
    told.section = shown().id;
    told.left = document.querySelectorAll('#hits a').length;
    key('u');
    setTimeout(function () {
      told.above = shown().id;
      document.body.setAttribute('data-told', JSON.stringify(told));
    }, 100);
  }, 100);
});
</script>"""


@needs_chromium
def test_page_of_a_platform_is_searched_zoomed_and_used_by_keys(tmp_path):
    call([HEDDLE, "dot", "platforms/tiny.heddle", "--html", tmp_path / "page"])
    page = tmp_path / "page/index.html"
    page.write_text(page.read_text() + HANDS)
    shown = chromium(tmp_path, "--dump-dom", f"file://{page}")
    told = json.loads(unescape(re.search('data-told="(.*?)"', shown)[1]))
    x, y, width, height = told["at_first"]
    assert told["whole"] == told["at_first"]
    near = [x + 0.1 * width, y + 0.1 * height, 0.8 * width, 0.8 * height]
    assert told["nearer"] == pytest.approx(near)
    assert told["moved"] == pytest.approx([near[0] + 0.1 * near[2], near[1] + 0.1 * near[3],
                                           *near[2:]])
    assert told["farther"][2:] == pytest.approx([1.25 * width, 1.25 * height])
    assert told["wheel"][2:] == pytest.approx([width / 1.15, height / 1.15])
    assert told["focus"] and told["nothing"] == 0
    assert told["l2"][0] == "gpu.l2 : cache" and told["second"] == told["l2"][1]
    assert told["units"][0] == "gpu.sa.cu : compute_unit" and told["left"] == 0
    assert told["opened"] == "#d-gpu.sa.cu:compute_unit"
    assert (told["section"], told["above"]) == ("v-gpu.sa:shader_array", "v-gpu:gcn3_gpu")


@pytest.mark.parametrize("command", ["stats STATS", f"dot {TINY}", *only_full(
    "stats STATS --csv", "report STATS", f"params {TINY}", f"dump --json {TINY}")])
def test_output_goes_through_links_and_pipes(measure, tmp_path, command):
    """They stay what they are, as a device has to: no file takes the place of /dev/null."""
    command = command.replace("STATS", str(measure(f"{TINY} -- vectoradd").stats_file))
    plain, link, pipe = (tmp_path / name for name in ("plain", "link", "pipe"))
    heddle(f"{command} -o {plain}")
    link.symlink_to(tmp_path / "target")
    heddle(f"{command} -o {link}")
    assert link.is_symlink() and link.read_bytes() == plain.read_bytes()
    os.mkfifo(pipe)
    with open(tmp_path / "read", "wb") as file, \
            subprocess.Popen(["timeout", "60", "cat", pipe], stdout=file):
        heddle(f"{command} -o {pipe}")
    assert pipe.is_fifo() and (tmp_path / "read").read_bytes() == plain.read_bytes()
