"""Serves the page of a run that goes on, on 127.0.0.1 only, below a random token.

  GET  /TOKEN/                  the page
  GET  /TOKEN/state             what the status page of `process` (from 1) shows, as JSON
  GET  /TOKEN/statistics        its counters so far, in the form of a statistics file
  GET  /TOKEN/topology          the coloured topology, SVG; `measure`, and `of`: the last second
                                (now), or the run so far (run)
  GET  /TOKEN/waits             what waits for what
  POST /TOKEN/ACTION            pause, go, step, waits, end

A request without the token is answered with 403 and nothing else. The server only reads the status
pages, so the run is the same with and without it."""
from __future__ import annotations

import contextlib
import hmac
import http.server
import json
import os
import pathlib
import secrets
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
import urllib.parse
from typing import Any, Callable

from heddle.base.command_line import Options
from heddle.base.mistakes import Mistake
from heddle.statistics import series
from heddle.statistics.diagram_shares import shares
from heddle.statistics.measures import NAMES, of_run
from heddle.statistics.model import Model, dumped
from heddle.view.status_page import StatusPages, State

CONNECTIONS, IDLE_SECONDS, BODY_MAX = 16, 20, 1 << 20
LATELY_SECONDS = 1.0  # what a topology of now is about
STYLE = pathlib.Path(__file__).parent.parent / "report/page.css"
LINGER_SECONDS = 3.0  # for an answer that is awaited when the run ends
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
           "X-Content-Type-Options": "nosniff",
           "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src "
                                      "'unsafe-inline'; connect-src 'self'"}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU,
           signal.SIGUSR1, signal.SIGUSR2)  # for the process that supervises the run
Answer = tuple[int, str, str]  # status, type, text


def plain_text(status: int, text: str) -> Answer:
    return status, "text/plain; charset=utf-8", f"{text}\n"


def as_json(value: Any) -> Answer:
    return 200, "application/json", json.dumps(value)


NO_PROCESS = plain_text(404, "there is no such process")


class View:
    """What is shown of the status pages and of the description, which is read when a browser first
    asks. One thread at a time."""

    def __init__(self, chosen: Options, status_pages: StatusPages):
        self._chosen, self._status_pages, self._model = chosen, status_pages, None
        self._states: dict[int, list[tuple[float, State]]] = {}  # of a second or two, by place
        self.lock = threading.Lock()
        self.asked = 0.0  # when a page that stays open last asked for the state
        self.ended = self.last_told = False  # the page has seen that the run has ended

    @property
    def model(self) -> Model:
        if not self._model:
            chosen = self._chosen
            words = chosen.again("--platform", "--set", "-I")
            self._model = Model(dumped(chosen.heddle, chosen.files[0], *words),
                                chosen.files[0], chosen.set)
        return self._model

    def _copy(self, place: int) -> State | None:
        """The state now. Those in which time had gone on are kept, from a second ago on."""
        state, now = self._status_pages.copy(place), time.monotonic()
        if state:
            kept = self._states.setdefault(place, [])
            if not kept or kept[-1][1].page.time_ps < state.page.time_ps:
                kept.append((now, state))
            while len(kept) > 2 and kept[1][0] <= kept[-1][0] - LATELY_SECONDS:
                kept.pop(0)
        return state

    def state(self, place: int, asked: dict[str, str]) -> Answer:
        if "stay" in asked:
            self.asked = time.monotonic()
        self.last_told |= self.ended
        answer: dict[str, Any] = {"processes": self._status_pages.processes(), "state": "none"}
        state = self._copy(place)
        if state:
            found = of_run(self.model, state.statistics(self.model.hz))
            answer |= state.shown() | {"measures": [
                [row.path, row.kind, row.measure, row.part, row.whole, row.most]
                for row in series.sums(found, series.arrays(self.model), (0, 0))]}
        return as_json(answer)

    def statistics(self, place: int, _: dict[str, str]) -> Answer:
        state = self._status_pages.copy(place)
        return as_json(state.statistics(self.model.hz)) if state else NO_PROCESS

    def waits(self, place: int, _: dict[str, str]) -> Answer:
        """What was waited for when it last said so; `told` counts the answers."""
        state = self._status_pages.copy(place)
        return as_json({"told": state.page.waits_told, "text":
                        state.page.waits.decode(errors="replace")}) if state else NO_PROCESS

    def shares(self, place: int, lately: bool) -> dict[str, Any] | None:
        """Shares of the last second of real time in which simulated time went on, or of the run so
        far."""
        state = self._copy(place)
        if not state:
            return None
        before = self._states[place][0][1] if lately and len(self._states[place]) > 1 else None
        title = "of the whole run"
        if before:
            title = f"from {before.page.time_ps / 1e6:.6g} to {state.page.time_ps / 1e6:.6g} µs"
        return shares(of_run(self.model, state.statistics(self.model.hz, before)), title)

    def obey(self, place: int, action: str) -> Answer:
        status_page = self._status_pages.find(place)
        if not status_page:
            return NO_PROCESS
        if action == "end":
            os.kill(os.getppid(), signal.SIGTERM)  # as from a terminal: statistics are written
        elif action == "waits":
            status_page.waits_wished += 1
        elif action in ("pause", "step"):
            setattr(status_page, action, 1)
        elif action == "go":
            status_page.step = status_page.pause = 0
        else:
            return plain_text(404, "there is no such action")
        return plain_text(200, "done")


def picture(heddle: str, found: dict[str, Any], measure: str) -> Answer:
    """Drawn by a process that gives way to the simulation."""
    file = os.memfd_create("heddle shares")
    try:
        os.write(file, json.dumps(found).encode())
        with subprocess.Popen(
                [heddle, "dot", "--svg", "--stats", f"/proc/{os.getpid()}/fd/{file}",
                 "--measure", measure], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL) as drawing:
            os.sched_setscheduler(drawing.pid, os.SCHED_IDLE, os.sched_param(0))
            svg = drawing.communicate()[0].decode(errors="replace")
    finally:
        os.close(file)
    if drawing.returncode != 0 or "<svg" not in svg:
        return plain_text(503, "the topology could not be drawn; Graphviz may be missing")
    return 200, "image/svg+xml", svg[svg.index("<svg"):]


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server
    timeout = IDLE_SECONDS

    def setup(self) -> None:
        super().setup()
        self.server.waiting[self.request] = None

    def finish(self) -> None:
        self.server.waiting.pop(self.request, None)
        super().finish()

    def log_message(self, *_: Any) -> None:  # pylint: disable=arguments-differ
        pass

    def __getattr__(self, name: str) -> Callable[[], None]:
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        self.server.waiting.pop(self.request, None)
        with self.server.answering:
            self.server.unanswered += 1
        try:
            status, kind, text = self._answer()
            self.send_response(status)
            for header, value in {**HEADERS, "Content-Type": kind,
                                  "Content-Length": str(len(text.encode()))}.items():
                self.send_header(header, value)
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            pass  # the page has gone
        finally:
            with self.server.answering:
                self.server.unanswered -= 1

    def _answer(self) -> Answer:
        url = urllib.parse.urlsplit(self.path)
        _, token, *rest = [*url.path.split("/", 2), ""]
        if not hmac.compare_digest(token.encode(), self.server.token.encode()) or len(rest) < 2:
            return plain_text(403, "forbidden")
        length = self.headers.get("Content-Length", "0")
        if length != "0":
            self.rfile.read(min(int(length), BODY_MAX) if length.isdigit() else 0)
            return plain_text(413, "no body is wanted")
        asked = dict(urllib.parse.parse_qsl(url.query))
        number = asked.get("process", "1")
        place = int(number) - 1 if number.isdigit() else -1
        if self.command == "POST":
            with self.server.view.lock:
                return self.server.view.obey(place, rest[0])
        if self.command != "GET":
            return plain_text(405, "only GET and POST")
        return self._get(rest[0], place, asked)

    def _get(self, name: str, place: int, asked: dict[str, str]) -> Answer:
        view = self.server.view
        if name == "":
            page = pathlib.Path(__file__).with_name("page.html").read_text(encoding="utf-8")
            return 200, "text/html; charset=utf-8", page.replace("/* STYLE */", STYLE.read_text())
        if name == "topology":
            measure = asked.get("measure", NAMES[0])
            scope = asked.get("of", "run")
            if measure not in NAMES or scope not in ("now", "run"):
                return plain_text(400, "there is no such measure")
            with view.lock:
                found = view.shares(place, scope == "now")
            return picture(self.server.heddle, found, measure) if found else NO_PROCESS
        things = {"state": view.state, "statistics": view.statistics, "waits": view.waits}
        if name not in things:
            return plain_text(404, "there is no such page")
        with view.lock:
            return things[name](place, asked)


class Server(http.server.ThreadingHTTPServer):
    server_bind = socketserver.TCPServer.server_bind  # without asking for this machine's name

    def __init__(self, port: int, view: View, heddle: str):
        self.view, self.heddle, self.token = view, heddle, secrets.token_hex(16)
        self.answering, self.unanswered = threading.Lock(), 0
        self.waiting: dict[Any, None] = {}  # connections that have not asked yet, by age
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Too many: the oldest of those that do not ask makes room."""
        idle = next(iter([*self.waiting]), None)
        if threading.active_count() <= CONNECTIONS + 2 or idle:
            if idle and threading.active_count() > CONNECTIONS + 2:
                self.waiting.pop(idle, None)
                with contextlib.suppress(OSError):
                    idle.shutdown(socket.SHUT_RDWR)
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # whatever a stranger sends

    def linger(self) -> None:
        """Goes on for a page that is open and has yet to see the end of the run, and for a page
        whose question has no answer yet."""
        with self.view.lock:
            self.view.ended = True
            is_open = self.view.asked and time.monotonic() - self.view.asked < LINGER_SECONDS
        until = time.monotonic() + LINGER_SECONDS
        while ((self.unanswered or is_open and not self.view.last_told)
               and time.monotonic() < until):
            time.sleep(0.02)


def port_of(text: str) -> int:
    """0: any."""
    if text and not (text.isdigit() and 1 <= int(text) <= 65535):
        raise Mistake(f"'--view={text}': it is a port, from 1 to 65535")
    return int(text or 0)


def main(chosen: Options) -> int:
    """Says the address on standard error, and that it serves by a line; ends with its input."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    port, status_pages = port_of(chosen.view), StatusPages(chosen.file)
    try:
        server = Server(port, View(chosen, status_pages), chosen.heddle)
    except OSError as error:
        raise Mistake(f"'--view': cannot serve at port {port}: {error.strerror}"
                      "; leave the port out for any") from error
    if chosen.view_paused:
        status_pages.pause_all()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/{server.token}/"
    print(f"heddle: the run is shown at {address}", file=sys.stderr, flush=True)
    print(flush=True)
    sys.stdin.read()
    server.linger()
    return 0
