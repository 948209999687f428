"""The page's *Over time*: every element as data, drawn into a canvas, moved through by keys, and
the way from an interval to its instructions and requests. One run serves all of it."""
import base64
import csv
import json
import re
import zlib
from html import unescape

import pytest

from browser import EARS, Dom, chromium, needs_chromium
from harness import ROOT, heddle, measure
from programs import only_full

TINY = "platforms/tiny.heddle"


class Traced:
    """A run, its page, and the data of the page."""

    def __init__(self, done, folder):
        self.done, self.folder = done, folder
        self.page = folder / "page.html"
        heddle(f"report {done.stats_file} --series {folder}/s.csv --profile {folder}/p.csv "
               f"--trace {folder}/t.json -o {self.page}")
        self.text = self.page.read_text()
        self.data = embedded(self.text)

    def values(self, measure, path):
        """By element, by interval."""
        lane = next(one for one in self.data["lanes"]
                    if (one["measure"], one["path"]) == (measure, path))
        cells = zlib.decompress(base64.b64decode(self.data["cells"]))
        count = len(self.data["times"]) - 1
        return {element: [None if cell == 255 else cell / 254 * lane["top"] for cell in
                          cells[lane["at"] + i * count:lane["at"] + (i + 1) * count]]
                for i, element in enumerate(lane["elements"])}


def embedded(text, name="timeline-data"):
    return json.loads(re.search(rf'id="{name}">(.*?)</script>', text)[1].replace("<\\/", "</"))


@pytest.fixture(name="traced", scope="module")
def traced_fixture(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    return Traced(measure(
        f"{TINY} --every 200cy --series {folder}/s.csv --profile instructions={folder}/p.csv "
        f"--record perfetto={folder}/t.json -- matmul_tiled 32", folder=folder), folder)


def test_each_element_has_its_values_in_each_interval(traced):
    """As bytes of its array's largest, so half a step off at most."""
    rows = list(csv.DictReader((traced.folder / "s.csv").open()))
    times = traced.data["times"]
    assert times == [int(rows[0]["from_ps"]), *(int(row["to_ps"]) for row in rows)]
    for i in range(2):
        shown = traced.values("bandwidth", "gpu.l2[*]")[str(i)]
        for row, share, start, end in zip(rows, shown, times, times[1:]):
            asked = sum(int(row.get(f"gpu.l2[{i}].{kind}", 0))
                        for kind in ("reads", "writes", "atomics"))
            cycles = (end - start) // 1000
            assert share == pytest.approx(asked / cycles, abs=0.003), start
    instructions = traced.values("instructions", "gpu.sa[*].cu[*]")
    assert list(instructions) == ["0,0", "0,1", "0,2", "0,3"]
    told = sum(share * (end - start) / 1000 for values in instructions.values()
               for share, start, end in zip(values, times, times[1:]))
    assert told == pytest.approx(traced.done.total("cu", "instructions"), rel=0.02)
    assert all(max(share or 0 for share in values) <= 1.0001 for values in
               traced.values("utilisation", "driver.gpu[*] -> gpu.cp via pcie").values())
    means = {(row[0], row[1]): row[2:] for row in Dom(traced.text).rows("timeline-means")}
    assert {"utilisation", "bandwidth", "hit rate", "mshr occupancy", "active cycles"} <= {
        measure for _, measure in means}
    assert means["gpu.sa[*].cu[*]", "utilisation"][0] == 4


def test_pages_hold_the_hot_instructions_and_the_slowest_requests(traced):
    rows = traced.data["instructions"]["rows"]
    table = list(csv.DictReader((traced.folder / "p.csv").open()))
    hottest = max(sum(int(v) for k, v in row.items() if "." in k) for row in table)
    assert rows[0]["cycles"] == hottest
    requests = traced.data["requests"]
    events = [event for event in json.loads((traced.folder / "t.json").read_text())["traceEvents"]
              if event["ph"] == "b" and "flow" in event.get("args", {})]
    assert sum(requests["began"]) == len({event["args"]["flow"] for event in events})
    start, end, _, address, _, hops = max(requests["slowest"], key=lambda one: one[1] - one[0])
    own = [e for e in events if e["args"]["flow"] == next(
        e["args"]["flow"] for e in events if e["args"].get("address", "") == address
        and round(e["ts"] * 1e6) == start)]
    assert [round(e["ts"] * 1e6) for e in own] == [hop[2] for hop in hops]
    assert start < end and len(hops) >= 2 and all(sent <= came for _, _, sent, came in hops)
    assert "replies" in requests["wires"][hops[-1][0]]


# What somebody does with the page, and what the canvas shows then.
HANDS = """<script>
addEventListener('load', async function () {
  var told = {}, canvas = document.getElementById('timeline-canvas');
  function pause() { return new Promise(function (done) { setTimeout(done, 60); }); }
  function key(k) {
    canvas.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true, cancelable: true}));
  }
  function colours(lane) {  // of the middle of each of its rows
    var context = canvas.getContext('2d'), found = [], width = widthOf();
    document.getElementById('timeline').scrollTop = lane.y;
    drawTimeline();
    var top = timeline.top + lane.y + HEAD - document.getElementById('timeline').scrollTop;
    var rows = Math.min(lane.elements.length, Math.floor(lane.rows)), each = lane.rows / rows;
    for (var row = 0; row < rows; row++) {
      var y = Math.floor(top + (row + 0.5) * each);
      if (y >= canvas.height) break;
      var pixels = context.getImageData(GUTTER, y, width, 1).data, seen = {};
      for (var i = 0; i < pixels.length; i += 4)
        seen[pixels[i] + ',' + pixels[i + 1] + ',' + pixels[i + 2] + ',' + pixels[i + 3]] = 1;
      found.push(Object.keys(seen).length);
    }
    return found;
  }
  function span() { return [timeline.from, timeline.to]; }
  while (!canvas.dataset.drawn) await pause();
  told.first = colours(timeline.shown.find(function (l) { return l.path === WANTED; }));
  told.label = canvas.getAttribute('aria-label');
  told.whole = span();
  canvas.focus();
  key('w'); told.nearer = span();
  key('d'); told.later = span();
  key('0'); told.again = span();
  for (var i = 0; i < 30; i++) key('w');
  told.closest = span();
  key('0'); key('ArrowRight'); key('ArrowDown');
  told.cursor = document.getElementById('timeline-told').textContent;
  var at = timeline.shown.findIndex(function (l) { return l.path === WANTED; });
  timeline.cursor = {lane: at, row: 0, interval: 3};
  key('e'); await pause();
  told.open = timeline.shown[at].rows;
  told.opened = colours(timeline.shown[at]).slice(0, 4);
  key('Enter');
  told.interval = readChoices().get('interval');
  if (timeline.kernels.length) select(timeline.kernels[0][1], timeline.kernels[0][2]);
  var request = document.querySelector('#requests button');
  if (request) {
    request.click();
    told.hops = document.querySelectorAll('#request tbody tr').length;
    told.slowest = document.querySelector('#requests tbody .number:nth-child(3)').dataset.value;
  }
  told.hot = [].map.call(document.querySelectorAll('#hot tbody tr'), function (row) {
    return row.cells[3].dataset.value; });
  told.fullest = document.querySelector('#fullest tbody td').textContent;
  told.dark = getComputedStyle(document.body).backgroundColor;
  told.errors = errors;
  document.body.setAttribute('data-told', JSON.stringify(told));
});
</script>"""


def handled(folder, text, wanted, dark=False):
    page = folder / "handled.html"
    page.write_text(text.replace("<head>", "<head>" + EARS) + HANDS.replace(
        "WANTED", json.dumps(wanted)))
    shown = chromium(folder, "--dump-dom", f"--blink-settings=preferredColorScheme={int(not dark)}",
                     f"file://{page}")
    return json.loads(unescape(re.search('data-told="(.*?)"', shown)[1]))


@needs_chromium
@pytest.mark.parametrize("dark", [True, *only_full(False)])
def test_cells_are_drawn_and_keys_move_through_time(traced, tmp_path, dark):
    told = handled(tmp_path, traced.text, "gpu.sa[*].cu[*]", dark)
    assert told["errors"] == []
    assert len(told["first"]) == 4 and min(told["first"]) > 3  # shades in each row
    assert "utilisation of each element over time" in told["label"]
    whole = told["whole"][1]
    assert told["nearer"] == pytest.approx([0.15 * whole, 0.85 * whole])
    assert told["later"] == pytest.approx([0.29 * whole, 0.99 * whole])
    assert told["again"] == told["whole"]
    assert told["closest"][1] - told["closest"][0] == pytest.approx(400_000)  # two intervals
    assert re.match(r"0\.2\d* to 0\.4\d* µs: .*utilisation", told["cursor"])
    assert told["open"] == 4 * 12 and told["interval"] == "600000-800000"
    cycles = [int(value) for value in told["hot"]]
    assert cycles == sorted(cycles, reverse=True) and len(cycles) == 16
    slowest = max(one[1] - one[0] for one in traced.data["requests"]["slowest"]
                  if one[0] < traced.data["kernels"][0][2] and
                  one[1] > traced.data["kernels"][0][1])
    assert told["hops"] >= 2 and int(told["slowest"]) == slowest
    light = sum(map(int, re.findall(r"\d+", told["dark"])[:3])) > 384
    assert light != dark


@needs_chromium
@pytest.mark.parametrize("count", [1000, *only_full(1, 64, 304)])
def test_many_elements_are_readable(traced, tmp_path, count):
    """One hot element among many is seen in the closed array, which takes no more room for them;
    open, each has a row."""
    intervals, hot = 400, count - 1
    cells = bytes(254 if e == hot and i % 40 < 20 else 5 for e in range(count)
                  for i in range(intervals))
    data = {"times": [1000 * i for i in range(intervals + 1)], "kernels": [],
            "measures": [{"name": "utilisation", "words": "utilisation", "percent": True,
                          "scale": 1}],
            "lanes": [{"measure": "utilisation", "path": "hot[*]", "kind": "compute", "at": 0,
                       "elements": [str(e) for e in range(count)], "top": 1, "mean": 0.1}],
            "cells": base64.b64encode(zlib.compress(cells)).decode()}
    text = re.sub(r'(id="timeline-data">).*?(</script>)',
                  lambda found: found[1] + json.dumps(data) + found[2], traced.text)
    told = handled(tmp_path, text, "hot[*]")
    assert told["errors"] == []
    if count == 1:
        assert told["first"] == [] and told["open"] == 0  # its line is enough
        return
    assert len(told["first"]) == min(count, 96) and told["first"][-1] >= 2
    assert max(told["first"][:-1]) == 1 and told["open"] == count * 12
    assert told["opened"][1] == 1 and told["fullest"] == "hot[*]"


def contrast(one, other):
    """By WCAG 2."""
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    a, b = sorted((light(one), light(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


def full(colour):
    return "#" + "".join(c * 2 for c in colour[1:]) if len(colour) == 4 else colour


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_words_stand_out_from_their_ground(theme):
    css = (ROOT / "python/heddle/report/page.css").read_text()
    found = {name: full(value) for name, value in re.findall(
        r"--(\w+): (#\w+);", re.findall(r":root \{(.*?)\}", css, re.S)[theme])}
    for ink in "ink", "soft", "accent":
        for ground in "card", "page":
            assert contrast(found[ink], found[ground]) >= 4.5, (ink, ground)
    assert contrast(found["ink"], found["notice"]) >= 4.5
    assert contrast(found["mark"], found["card"]) >= 3
    script = (ROOT / "python/heddle/report/timeline_draw.js").read_text()
    for colour in re.findall('"(#.{6})"', re.search(r"LAUNCH_COLOURS = \[(.*?)\]", script)[1]):
        assert contrast(colour, "#ffffff") >= 4.5, colour


@pytest.mark.parametrize("change, says", [
    (lambda text: "{}", "is not what .heddle run --record"),
    (lambda text: text[:len(text) // 2], "cannot read the trace"),
    (lambda text: re.sub('"flow": ', '"folw": ', text), "has no requests")])
def test_other_files_are_no_trace(traced, tmp_path, change, says):
    wrong = tmp_path / "t.json"
    wrong.write_text(change((traced.folder / "t.json").read_text()))
    words = f"report {traced.done.stats_file} -o {tmp_path}/p.html"
    heddle(f"{words} --series {traced.folder}/s.csv --trace {wrong}", says, status=1)
    heddle(f"{words} --trace {wrong}", "give '--series FILE', too", status=2)
