"""Pages as a browser shows them: Chromium without a window and without a network."""
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

import harness

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(not CHROMIUM, reason="Debian's package chromium is missing")


# At the head of a page: keeps errors of its scripts, for scripts that a test adds at its end.
EARS = """<script>
var errors = [];
window.onerror = function (text) { errors.push(text); };
window.onunhandledrejection = function (event) { errors.push(String(event.reason)); };
console.error = function (text) { errors.push(text); };
</script>"""


class Dom(HTMLParser):
    """Rows of the tables that are shown, texts, titles of SVG, and attributes by element."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.elements, self.hidden = {}, [], []
        self.table = self.row = self.cell = None
        self.text = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.elements.append((tag, attributes))
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"], [])
        elif tag == "tr" and self.table is not None:
            self.row = []
        elif tag in ("td", "th"):
            self.cell = [attributes, ""]

    def handle_data(self, data):
        self.text.append(data)
        if self.cell:
            self.cell[1] += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell:
            self.row.append(self.cell)
            self.cell = None
        elif tag == "tr" and self.row:
            self.table.append(self.row)
        elif tag == "table":
            self.table = None

    def rows(self, name):
        """Below the head: what each cell shows, or its value where it has one."""
        return [[float(a["data-value"]) if "data-value" in a else shown for a, shown in row]
                for row in self.tables[name][1:]]

    def with_attribute(self, name):
        return [attributes for _, attributes in self.elements if name in attributes]

    @property
    def words(self):
        return re.sub(r"\s+", " ", " ".join(self.text))


def chromium(folder, *words):
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu",
         f"--user-data-dir={folder}/profile", "--host-resolver-rules=MAP * ~NOTFOUND",
         "--virtual-time-budget=3000", *map(str, words)],
        capture_output=True, text=True, timeout=harness.NEVER, check=True)
    return done.stdout


def dom(folder, page, choices=""):
    """The page after its scripts have run; `choices` stand behind '#'."""
    return Dom(chromium(folder, "--dump-dom", f"file://{page}#{choices}"))
