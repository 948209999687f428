"""Completion in shells, by the scripts that `heddle help --completion` prints."""
import os
import re
import shlex
import shutil
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


def shell(name, script, folder):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed: ./dev setup --full")
    environment = {"PATH": f"{harness.HEDDLE.parent}:{os.environ['PATH']}", "HOME": str(folder),
                   "TERM": "dumb"}
    options = ["--no-config"] if name == "fish" else []
    done = subprocess.run([name, *options, "-c", script], capture_output=True, text=True,
                          timeout=60, cwd=folder, env=environment, check=False)
    assert done.returncode == 0 and not done.stderr, done.stdout + done.stderr
    return done.stdout


def in_bash(line, folder):
    """As readline calls it: a function that looks at COMP_LINE and fills COMPREPLY."""
    script = f"""compopt() {{ :; }}
        source <(heddle help --completion bash)
        complete -p heddle >/dev/null
        COMP_LINE={shlex.quote(line)} COMP_POINT={len(line)}
        _heddle
        printf '%s\\n' "${{COMPREPLY[@]}}\""""
    return set(shell("bash", script, folder).split("\n")) - {""}


def in_fish(line, folder):
    script = f"heddle help --completion fish | source; complete -C {shlex.quote(line)}"
    return {one.split("\t")[0] for one in shell("fish", script, folder).split("\n")} - {""}


def in_zsh(line, folder):
    """In a terminal of its own, since the line editor has to run; what it lists."""
    script = f"""zmodload zsh/zpty
        zpty -b shell 'TERM=dumb zsh -f -i'
        send() {{ zpty -w shell "$1"; }}
        send 'PROMPT= RPROMPT= PS1=; unsetopt zle_bracketed_paste 2>/dev/null; stty columns 300'
        send 'autoload -U compinit; compinit -u -D; source <(heddle help --completion zsh)'
        send 'LISTMAX=9999; zstyle ":completion:*" list-prompt ""; zmodload zsh/complist'
        send 'zstyle ":completion:*" verbose no'
        send 'list() {{ print BEGIN; zle list-choices; print END; zle send-break }}'
        send 'zle -N list; bindkey "^T" list'
        send 'print REA""DY'
        local all='' part
        while [[ $all != *READY* ]] && zpty -r shell part; do all+=$part; done
        zpty -w -n shell {shlex.quote(line)}$'\\x14'
        all=''
        local i
        for i in {{1..300}}; do
            zpty -rt shell part && all+=$part && continue
            [[ $all == *END* ]] && ((i > 60)) && break
            sleep 0.02
        done
        print -r -- $all
        zpty -d shell"""
    told = shell("zsh", script, folder)
    return set(re.split(r"[\s\x07\x1b]+", told)) - set(line.split())  # which is echoed


def check(complete, lines, folder):
    for line, wanted, unwanted in lines:
        found = complete(line, folder)
        assert wanted <= found, f"{line}: missing: {wanted - found} of {found}"
        assert not unwanted & found, line


def test_bash_completes(tmp_path):
    check(in_bash, LINES, tmp_path)


@pytest.mark.full
def test_fish_completes(tmp_path):
    check(in_fish, LINES, tmp_path)


@pytest.mark.full
def test_zsh_completes(tmp_path):
    check(in_zsh, LINES, tmp_path)


def test_values_behind_an_equals_sign_are_completed(tmp_path, full):
    line = f"heddle run {TINY} --set gpu.memory="
    assert in_bash(line, tmp_path) == {"ideal", "hbm"}  # readline replaces what is behind the '='
    if full:
        assert {"gpu.memory=ideal", "gpu.memory=hbm"} <= in_fish(line, tmp_path)


def test_files_are_completed_where_nothing_else_is_known(tmp_path, full):
    (tmp_path / "some.heddle").write_text("")
    for complete in (in_bash, in_fish) if full else (in_bash,):
        assert "some.heddle" in complete("heddle check so", tmp_path)
        assert "some.heddle" in complete("heddle run x -- so", tmp_path)


def test_every_option_is_in_every_script(heddle):
    options = set(re.findall(r"`(--[\w-]+)", heddle("help --markdown").stdout)) - {"--help"}
    assert len(options) > 60
    for name in ("bash", "zsh", "fish"):
        script = heddle(f"help --completion {name}").stdout
        wanted = {f"-l {one[2:]} " if name == "fish" else one for one in options}
        assert not {one for one in wanted if one not in script}, name
    heddle("help --completion tcsh", "bash, zsh or fish", status=2)
