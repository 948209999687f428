"""A run with a live page (`heddle run --view`), as a browser would ask it."""
import contextlib
import json
import os
import signal
import subprocess
import urllib.error
import urllib.request

import harness
from harness import HEDDLE, ROOT, words_of


class View:
    """A run with a page, paused at its beginning."""

    def __init__(self, text, stats, launcher=()):
        words = words_of(text)
        end = words.index("--") if "--" in words else len(words)
        words[end:end] = ["--view", "--view-paused", "--stats", stats, "--stats-no-host"]
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            harness.with_usual_code([*launcher, HEDDLE, "run", *words]), cwd=ROOT, text=True,
            start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        told = ""
        while "shown at" not in told:
            told = self.process.stderr.readline()
            assert told, "no address"
        self.address = told.split()[-1]
        self.stats_file = stats
        self.wait_for("paused")

    def ask(self, what, method="GET", base=None, **how):
        request = urllib.request.Request((base or self.address) + what, method=method, **how)
        try:
            with urllib.request.urlopen(request, timeout=harness.NEVER) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def state(self, process=1):
        return json.loads(self.ask(f"state?process={process}")[1])

    def wait_for(self, state, process=1):
        def found():
            now = self.state(process)
            return now if now["state"] == state else None
        return harness.until(found)

    def end(self):
        """What it said, and its status."""
        said = self.process.stderr.read()
        return said, self.process.wait(timeout=harness.NEVER)

    @property
    def stats(self):
        return json.loads(self.stats_file.read_text())


@contextlib.contextmanager
def view(text, stats, launcher=()):
    shown = View(text, stats, launcher)
    try:
        yield shown
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shown.process.pid, signal.SIGKILL)
        shown.process.wait()
        shown.process.stderr.close()
