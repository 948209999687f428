"""Completion in bash, by the script that `heddle help --completion` prints."""
import os
import re
import shlex
import subprocess

import pytest

import harness

TINY = harness.ROOT / "platforms/tiny.heddle"

# What stands on the line, words that are offered, words that are not.
LINES = [
    ("heddle ", {"check", "run", "lsp", "help"}, {"--set"}),
    ("heddle ch", {"check"}, {"run"}),
    ("heddle check --", {"--set", "--json", "--allow-incoherent"}, {"--threads", "--series"}),
    ("heddle run --thr", {"--threads"}, {"--set"}),
    ("heddle run x --mode ", {"timing", "functional"}, {"--mode"}),
    ("heddle new ", {"component", "part", "platform"}, set()),
    ("heddle help ", {"check", "trace"}, set()),
    (f"heddle run {TINY} --set gpu.c", {"gpu.cus=", "gpu.cp."}, {"gpu.isa=", "queues="}),
    (f"heddle run {TINY} --set gpu.sa.l1v.w", {"gpu.sa.l1v.ways=", "gpu.sa.l1v.write="}, set()),
    (f"heddle run {TINY} --set ", {"gpu.", "queues="}, set()),
]


def complete(line, folder):
    """As readline calls it: a function that looks at COMP_LINE and fills COMPREPLY."""
    script = f"""compopt() {{ :; }}
        source <(heddle help --completion)
        complete -p heddle >/dev/null
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
        _heddle
        printf '%s\\n' "${{COMPREPLY[@]}}\""""
    environment = {"PATH": f"{harness.HEDDLE.parent}:{os.environ['PATH']}", "HOME": str(folder),
                   "TERM": "dumb"}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=60,
                          cwd=folder, env=environment, check=False)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return set(done.stdout.split("\n")) - {""}


@pytest.mark.parametrize("line, wanted, unwanted", LINES)
def test_words_are_completed(tmp_path, line, wanted, unwanted):
    found = complete(line, tmp_path)
    assert wanted <= found and not unwanted & found, found


def test_values_behind_an_equals_sign_are_completed(tmp_path):
    line = f"heddle run {TINY} --set gpu.memory="
    assert complete(line, tmp_path) == {"ideal", "hbm"}  # readline replaces what is behind the '='


def test_files_are_completed_where_nothing_else_is_known(tmp_path):
    (tmp_path / "some.heddle").write_text("")
    assert "some.heddle" in complete("heddle check so", tmp_path)
    assert "some.heddle" in complete("heddle run x -- so", tmp_path)


def test_every_option_is_in_the_script(heddle):
    options = set(re.findall(r"`(--[\w-]+)", heddle("help --markdown").stdout)) - {"--help"}
    assert len(options) > 60
    script = heddle("help --completion").stdout
    assert not {one for one in options if one not in script}
