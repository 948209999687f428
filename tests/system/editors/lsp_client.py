"""A client of `heddle lsp` for tests: sends messages as an editor does, and waits for answers."""
import json
import os
import select
import subprocess

import harness


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def place(text, before, after=""):
    """The position behind `before`, which stands in the text once in front of `after`."""
    assert text.count(before + after) == 1, f"{before + after!r} stands there " \
                                            f"{text.count(before + after)} times"
    return position(text, text.index(before + after) + len(before))


def position(text, at):
    line = text[:at].count("\n")
    begin = text.rfind("\n", 0, at) + 1
    return {"line": line, "character": len(text[begin:at].encode("utf-16-le")) // 2}


def cut(text, span):
    """The text of a range."""
    lines = text.split("\n")

    def offset(where):
        line = lines[where["line"]].encode("utf-16-le")
        before = line[:2 * where["character"]].decode("utf-16-le")
        return sum(len(one) + 1 for one in lines[:where["line"]]) + len(before)

    return text[offset(span["start"]):offset(span["end"])]


def apply(text, edits):
    lines = text.split("\n")

    def offset(where):
        before = lines[where["line"]].encode("utf-16-le")[:2 * where["character"]]
        return sum(len(one) + 1 for one in lines[:where["line"]]) + len(before.decode("utf-16-le"))

    for edit in sorted(edits, key=lambda one: offset(one["range"]["start"]), reverse=True):
        begin, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:begin] + edit["newText"] + text[end:]
    return text


class Server:
    """A running `heddle lsp`."""

    def __init__(self, root=None, *says):
        self.process = subprocess.Popen([harness.HEDDLE, "lsp", *says], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, bufsize=0)
        self.bytes, self.ids, self.notes = b"", 0, []
        self.texts, self.versions = {}, {}
        if root is not None:
            self.started = self.ask("initialize", {"rootUri": self.uri(root), "capabilities": {}})
            self.tell("initialized", {})

    def uri(self, path):
        return f"file://{path}"

    def raw(self, data):
        self.process.stdin.write(data)

    def read(self):
        """The next message."""
        while True:
            head, gap, rest = self.bytes.partition(b"\r\n\r\n")
            if gap:
                size = int(head.split(b":")[1])
                if len(rest) >= size:
                    self.bytes = rest[size:]
                    return json.loads(rest[:size])
            ready, _, _ = select.select([self.process.stdout], [], [], harness.NEVER)
            assert ready, "the server does not answer"
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            assert more, f"the server has ended: status {self.process.wait()}"
            self.bytes += more

    def answer(self, number):
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == number:
                return message
            self.notes.append(message)

    def request(self, method, params):
        """The whole answer."""
        self.ids += 1
        self.raw(frame({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params}))
        return self.answer(self.ids)

    def ask(self, method, params):
        message = self.request(method, params)
        assert "error" not in message, message
        return message["result"]

    def refused(self, method, params):
        message = self.request(method, params)
        assert "result" not in message, message
        return message["error"]

    def tell(self, method, params):
        self.raw(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    def open(self, path, text=None):
        text = path.read_text() if text is None else text
        self.texts[path], self.versions[path] = text, 1
        self.tell("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(path), "languageId": "heddle", "version": 1, "text": text}})
        return text

    def change(self, path, text):
        self.versions[path] += 1
        self.texts[path] = text
        self.tell("textDocument/didChange", {
            "textDocument": {"uri": self.uri(path), "version": self.versions[path]},
            "contentChanges": [{"text": text}]})

    def diagnostics(self, path):
        """Those of the newest version of a file."""
        while True:
            for note in self.notes + [None]:
                message = note or self.read()
                params = message.get("params", {})
                if message.get("method") == "textDocument/publishDiagnostics" \
                        and params["uri"] == self.uri(path) \
                        and params.get("version", 0) == self.versions.get(path, 0):
                    self.notes = [one for one in self.notes if one is not note]
                    return params["diagnostics"]
                if note is None:
                    self.notes.append(message)

    def at(self, path, before, after=""):
        return {"textDocument": {"uri": self.uri(path)},
                "position": place(self.texts[path], before, after)}

    def labels(self, path, before, after=""):
        found = self.ask("textDocument/completion", self.at(path, before, after))
        return [one["label"] for one in found or []]

    def end(self):
        """Shuts down as editors do; the status."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.process.wait(harness.NEVER)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
