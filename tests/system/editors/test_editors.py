"""Editors with the files of dsl/editor, as docs/guide/editors.md sets them up: each opens a
description with a mistake, mends it, and asks what users ask."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import harness

HERE = Path(__file__).parent
TEXT = """\
component pair {
    in  top    : mem(64B);
    out bottom : mem(64B);
    l1 : cache { size=16KiB; wais = 4; };
    l2 : cache { size = 64KiB; };
    top -> l1.top;
    l1.bottom -> l2.top;
    l2.bottom -> bottom;
}

import "std/cache";
"""


def page(section, kind):
    """The block of a section of docs/guide/editors.md."""
    text = (harness.ROOT / "docs/guide/editors.md").read_text()
    return re.search(rf"^## {section}$.*?^```{kind}\n(.*?)^```", text, re.M | re.S).group(1)


def set_up(section, home):
    """As the guide's page says, from the root of the checkout."""
    subprocess.run(["bash", "-euc", page(section, "sh")], cwd=harness.ROOT, check=True,
                   env={**os.environ, "HOME": str(home)})


def needs(command):
    if shutil.which(command) is None:
        pytest.skip(f"{command} is not installed: ./dev setup --full")


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "work" / "pair.heddle"
    made.parent.mkdir()
    made.write_text(TEXT)
    return made


def call(command, folder, **variables):
    """Runs an editor whose home is `folder`; what it prints."""
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder / ".config"),
                   "XDG_DATA_HOME": str(folder / ".local"), "TERM": "dumb",
                   "PATH": f"{harness.HEDDLE.parent}:{os.environ['PATH']}", **variables}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True,
                          timeout=120, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_neovim_is_served(tmp_path, file, heddle):
    needs("nvim")
    set_up("Neovim", tmp_path)
    result = tmp_path / "result.json"
    call(["nvim", "--headless", "-n", "-S", HERE / "neovim.lua"], tmp_path, FILE=str(file),
         RESULT=str(result))
    told = json.loads(result.read_text())
    assert "problem" not in told, told["problem"]
    assert told["filetype"] == "heddle" and told["highlighted"] == "heddleDeclaration"
    shown, = told["diagnostics"]
    assert shown["code"] == "E0204" and "did you mean 'ways'?" in shown["message"]
    assert "param ways : int" in told["hover"]
    assert told["definition"].endswith("/cache/cache.heddle")
    assert "16KiB = 16384B" in told["unit"]
    assert {"top", "bottom"} <= set(told["completion"])
    file.write_text(TEXT.replace("wais", "ways").replace("l2", "second"))
    heddle(f"fmt {file}")
    assert told["text"] == file.read_text()


@pytest.mark.full
def test_emacs_is_served(tmp_path, file):
    needs("emacs")
    libraries = [argument for folder in sorted(Path("/usr/share/emacs/site-lisp/elpa").glob("*"))
                 for argument in ("-L", folder)]
    lisp = ["emacs", "--batch", "-Q", *libraries]
    (tmp_path / "heddle").symlink_to(harness.ROOT)
    (tmp_path / "init.el").write_text(page("Emacs", "elisp"))
    if subprocess.run([*lisp, "-l", "eglot"], capture_output=True, check=False).returncode:
        pytest.skip("eglot is not installed: ./dev setup --full")
    told = json.loads(call([*lisp, "-l", tmp_path / "init.el", "-l", HERE / "eglot.el"],
                           tmp_path, FILE=str(file))
                      .splitlines()[-1])
    assert told["mode"] == "heddle-mode" and told["face"] == "font-lock-keyword-face"
    assert "did you mean 'ways'?" in told["diagnostics"][0]
    assert "write" in told["completion"]


@pytest.mark.full
def test_vscode_is_served(tmp_path, file):
    needs("node")
    set_up("Visual Studio Code", tmp_path)
    extension = tmp_path / ".vscode/extensions/heddle-0.2.0/extension.js"
    told = json.loads(call(["node", HERE / "vscode.js", extension, harness.HEDDLE, file], tmp_path))
    assert told["code"] == "E0204" and told["fix"] == "write ways"
    assert "param ways : int" in told["hover"]
    assert {"ways", "size"} <= set(told["completion"])
    assert told["rename"] == 3 and told["symbols"] == 1
    assert "not in the workspace" in told["refused"]


@pytest.mark.full
def test_vim_lists_mistakes_after_make(tmp_path, file):
    needs("vim")
    set_up("Vim", tmp_path)
    says = ["set nocompatible", "filetype plugin on", f"edit {file}",
            "silent make", "let found = filter(getqflist(), 'v:val.valid')",
            f"call writefile(map(found, 'v:val.lnum . v:val.type . v:val.text'), '{tmp_path}/out')",
            "qall!"]
    call(["vim", "-es", *[word for one in says for word in ("-c", one)]], tmp_path)
    first = (tmp_path / "out").read_text().splitlines()[0]
    assert re.match(r"4e'cache' has no parameter 'wais'", first)
