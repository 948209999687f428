"""A copy of the sources with a build of its own, in which one change at a time is made and the
unit tests run. Both seeded.py and mutate.py work in it."""
import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("base", "dsl", "codegen", "command", "lsp", "runtime", "components", "platforms", "python",
         "docs", "tests", "packaging", "meson.build", "meson_options.txt", "README.md",
         "CONTRIBUTING.md")
CPU_SECONDS = 40  # of one process: a change may make a test run for ever

OK, FAILED, DOES_NOT_COMPILE = "ok", "failed", "does not compile"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))


class Tree:
    """`change()` puts a text into one file; `restore()` takes it out again."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = Path(folder).resolve(), jobs
        self.source, self.build = self.folder / "source", self.folder / "build"
        self.changed = None
        self.copy()
        if not (self.build / "build.ninja").exists():
            self.call("meson", "setup", self.build, self.source, "-Dprograms=false",
                      "-Doptimization=0", "-Ddebug=false", "-Dwerror=false", check=True)

    def copy(self):
        """What is the same keeps its time, so only what differs is compiled again."""
        names = set(git("ls-files", "--cached", "--others", "--exclude-standard",
                        *PARTS).splitlines())
        names = {name for name in names if (ROOT / name).is_file()}
        for old in self.source.rglob("*"):
            if old.is_file() and str(old.relative_to(self.source)) not in names:
                old.unlink()
        for name in names:
            to, text = self.source / name, (ROOT / name).read_bytes()
            if not to.exists() or to.read_bytes() != text:
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, to)
                os.utime(to)

    def call(self, *command, check=False):
        done = subprocess.run([str(each) for each in command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", preexec_fn=limit, check=False)
        (self.folder / "log").write_text(done.stdout)
        if check and done.returncode:
            raise SystemExit(f"{command[0]} failed; its output is in {self.folder / 'log'}")
        return done.returncode

    def change(self, name, text):
        self.changed = name
        (self.source / name).write_text(text)

    def restore(self):
        if self.changed:
            (self.source / self.changed).write_bytes((ROOT / self.changed).read_bytes())
            self.changed = None

    def tests(self):
        """The names of all unit tests that need no whole platform, with their suites."""
        self.call("ninja", "-C", self.build, "build.ninja", check=True)
        listed = json.loads((self.build / "meson-info/intro-tests.json").read_text())
        return {each["name"]: each["suite"][0].split(":")[-1] for each in listed
                if not any(suite.endswith((":platform", ":bench")) for suite in each["suite"])}

    def run(self, names, only=None):
        """Builds and runs tests. Returns a verdict and what failed, as `test: Criterion's name`."""
        log = self.build / "meson-logs/testlog.json"
        log.unlink(missing_ok=True)
        arguments = [f"--test-args=--filter={only.replace('::', '/')}"] if only else []
        status = self.call("meson", "test", "-C", self.build, "--num-processes", self.jobs,
                           "--timeout-multiplier", "0", "--maxfail", "1", *arguments, *names)
        if not log.exists():
            return DOES_NOT_COMPILE, []
        failed = []
        for line in log.read_text().splitlines():
            test = json.loads(line)
            if test["result"] not in ("OK", "SKIP", "INTERRUPT"):
                lines = test.get("stdout", "").splitlines()
                inside = [each.split()[3] for each in lines if each.startswith("not ok - ")]
                failed += [f"{test['name'].split(' / ')[-1]}: {each}" for each in inside or ["-"]]
        return (FAILED if failed or status else OK), failed
