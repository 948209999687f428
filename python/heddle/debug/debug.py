"""The command: starts the program, and serves debuggers at a port of this machine."""
from __future__ import annotations

import os
import pathlib
import socket
import stat
import sys
from typing import IO

from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.debug import symbols
from heddle.debug.gdb import Gone, Server
from heddle.debug.process import Output
from heddle.debug.session import Session

REFUSED = ("--threads", "--ranks", "--shared", "--play", "--record", "--checkpoint", "--restore",
           "--view")


def _given() -> IO[bytes] | None:
    """A file that the program reads, from its beginning each time; of terminals and pipes
    nothing."""
    return sys.stdin.buffer if stat.S_ISREG(os.fstat(sys.stdin.fileno()).st_mode) else None


def _words(heddle: str, words: list[str]) -> list[str]:
    cut = words.index("--") if "--" in words else len(words)
    for word in words[:cut]:
        if word.split("=")[0] in REFUSED:
            raise Mistake(f"'{word}': a debugged program is one process on one thread, and is run "
                          "again to go backwards", usage=True)
    if cut + 1 >= len(words):
        raise Mistake("name a program: heddle debug PLATFORM -- PROGRAM ARGS...", usage=True)
    mode = [] if "--mode" in words[:cut] else ["--mode", "functional"]
    return [heddle, "run", *words[:cut], *mode, *words[cut:]]


def _without_port(words: list[str]) -> list[str]:
    """The words of a run."""
    cut = words.index("--") if "--" in words else len(words)
    for i, word in enumerate(words[:cut]):
        if word.split("=")[0] == "--port":
            return words[:i] + words[i + (1 if "=" in word else 2):]
    return words


def _serve(session: Session, listening: socket.socket) -> int:
    while True:
        connection = listening.accept()[0]
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            try:
                return Server(session, connection).serve()
            except (Gone, ConnectionError):
                print("heddle debug: the debugger has left; another may come, Ctrl-C ends the "
                      "program", file=sys.stderr, flush=True)


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        raise Mistake(f"port {port}: {error}") from None


def _scripts(session: Session, port: int) -> pathlib.Path:
    """attach.gdb and attach.lldb. lldb does not ask where code lies, so it is told."""
    folder = pathlib.Path(session.kept.name)
    (folder / "attach.gdb").write_text("set architecture i386:x86-64\nset sysroot /\n"
                                       "set breakpoint pending on\n"
                                       f"target remote 127.0.0.1:{port}\nsharedlibrary\n")
    code = "".join(f"target modules add {path}\n"
                   f"target modules load --file {path} --slide {address:#x}\n"
                   for path, address in symbols.loaded(session.program.machine.path, folder))
    (folder / "attach.lldb").write_text(f"gdb-remote 127.0.0.1:{port}\n{code}")
    return folder


def main(chosen: Options) -> int:
    run = _words(chosen.heddle, _without_port(chosen.words))
    with _listen(chosen.port or 0) as listening:
        session = Session(run, (Output(sys.stdout.buffer), Output(sys.stderr.buffer)), _given(),
                          repeats=chosen.stack != "rocm")
        try:
            port = listening.getsockname()[1]
            print("heddle debug: stopped before the first instruction of a wavefront:\n"
                  f"  {session.wave(session.at.wavefront)}\n"
                  f"  gdb -x {_scripts(session, port)}/attach.gdb\n"
                  f"  lldb -s {session.kept.name}/attach.lldb", file=sys.stderr, flush=True)
            return _serve(session, listening)
        finally:
            session.close()
