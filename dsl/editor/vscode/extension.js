// The client of `heddle lsp` in VS Code. It speaks the protocol itself, so that the extension needs
// nothing but this folder: no packages to install, nothing to build.
'use strict';
const vscode = require('vscode');
const { spawn } = require('child_process');

const LANGUAGE = 'heddle';
let server; // the running one, or undefined

// ---- messages

class Server {
    constructor(command, args, output) {
        this.output = output;
        this.waiting = new Map();
        this.handlers = new Map();
        this.number = 0;
        this.bytes = Buffer.alloc(0);
        this.process = spawn(command, args);
        this.process.stdout.on('data', (data) => this.take(data));
        this.process.stderr.on('data', (data) => output.append(data.toString()));
        this.process.on('error', (error) => this.end(`${command} cannot be started: ${error.message}`));
        this.process.on('exit', (status) => this.end(`heddle lsp has ended with status ${status}`));
        this.process.stdin.on('error', () => {});
    }

    end(reason) {
        this.output.appendLine(reason);
        for (const [, reject] of this.waiting.values())
            reject(new Error(reason));
        this.waiting.clear();
    }

    send(message) {
        const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
        this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.process.stdin.write(body);
    }

    tell(method, params) {
        this.send({ method, params });
    }

    ask(method, params) {
        const id = ++this.number;
        return new Promise((resolve, reject) => {
            this.waiting.set(id, [resolve, reject]);
            this.send({ id, method, params });
        });
    }

    take(data) {
        this.bytes = Buffer.concat([this.bytes, data]);
        for (;;) {
            const head = this.bytes.indexOf('\r\n\r\n');
            if (head < 0)
                return;
            const size = Number(/Content-Length: *(\d+)/i.exec(this.bytes.toString('latin1', 0, head))[1]);
            if (this.bytes.length < head + 4 + size)
                return;
            const message = JSON.parse(this.bytes.toString('utf8', head + 4, head + 4 + size));
            this.bytes = this.bytes.subarray(head + 4 + size);
            this.handle(message);
        }
    }

    handle(message) {
        if (message.method !== undefined) {
            const handler = this.handlers.get(message.method);
            if (handler)
                handler(message.params);
            return;
        }
        const [resolve, reject] = this.waiting.get(message.id) || [];
        this.waiting.delete(message.id);
        if (resolve && message.error)
            reject(new Error(message.error.message));
        else if (resolve)
            resolve(message.result);
    }
}

// ---- from the protocol's shapes to the editor's

const toRange = (range) => new vscode.Range(range.start.line, range.start.character,
                                            range.end.line, range.end.character);
const toLocation = (one) => new vscode.Location(vscode.Uri.parse(one.uri), toRange(one.range));
const toEdit = (one) => vscode.TextEdit.replace(toRange(one.range), one.newText);
const fromRange = (range) => ({ start: { line: range.start.line, character: range.start.character },
                                end: { line: range.end.line, character: range.end.character } });

function toDiagnostic(one) {
    const made = new vscode.Diagnostic(toRange(one.range), one.message, one.severity - 1);
    made.code = one.code;
    made.source = one.source;
    made.relatedInformation = (one.relatedInformation || []).map(
        (other) => new vscode.DiagnosticRelatedInformation(toLocation(other.location), other.message));
    return made;
}

function toCompletion(one) {
    const made = new vscode.CompletionItem(one.label, one.kind - 1);
    made.detail = one.detail;
    made.sortText = one.sortText;
    made.range = toRange(one.textEdit.range);
    made.insertText = one.textEdit.newText;
    if (one.documentation)
        made.documentation = new vscode.MarkdownString(one.documentation.value);
    return made;
}

function toSymbol(one) {
    const made = new vscode.DocumentSymbol(one.name, one.detail, one.kind - 1, toRange(one.range),
                                           toRange(one.selectionRange));
    made.children = one.children.map(toSymbol);
    return made;
}

function toWorkspaceEdit(one) {
    const made = new vscode.WorkspaceEdit();
    for (const [uri, edits] of Object.entries(one.changes))
        made.set(vscode.Uri.parse(uri), edits.map(toEdit));
    return made;
}

function toAction(one) {
    const made = new vscode.CodeAction(one.title, vscode.CodeActionKind.QuickFix);
    made.edit = toWorkspaceEdit(one.edit);
    made.diagnostics = one.diagnostics.map(toDiagnostic);
    return made;
}

// ---- what the editor asks

function at(document, position, more) {
    return { textDocument: { uri: document.uri.toString() },
             position: position && { line: position.line, character: position.character }, ...more };
}

const ask = (method, params) => server.ask('textDocument/' + method, params);
const list = (made, to) => (made || []).map(to);

const providers = {
    CompletionItem: { provideCompletionItems: async (document, position) =>
        list(await ask('completion', at(document, position)), toCompletion) },
    Hover: { provideHover: async (document, position) => {
        const hover = await ask('hover', at(document, position));
        return hover && new vscode.Hover(new vscode.MarkdownString(hover.contents.value),
                                         toRange(hover.range));
    } },
    Definition: { provideDefinition: async (document, position) => {
        const found = await ask('definition', at(document, position));
        return found && toLocation(found);
    } },
    Reference: { provideReferences: async (document, position, context) =>
        list(await ask('references', at(document, position, { context })), toLocation) },
    DocumentSymbol: { provideDocumentSymbols: async (document) =>
        list(await ask('documentSymbol', at(document)), toSymbol) },
    DocumentFormattingEdit: { provideDocumentFormattingEdits: async (document, options) =>
        list(await ask('formatting', at(document, undefined, { options })), toEdit) },
    Rename: {
        provideRenameEdits: async (document, position, newName) =>
            toWorkspaceEdit(await ask('rename', at(document, position, { newName }))),
        prepareRename: async (document, position) => {
            const found = await ask('prepareRename', at(document, position));
            if (!found)
                throw new Error('no name that can be changed stands here');
            return { range: toRange(found.range), placeholder: found.placeholder };
        } },
    CodeActions: { provideCodeActions: async (document, range) =>
        list(await ask('codeAction', at(document, undefined, { range: fromRange(range),
                                                               context: { diagnostics: [] } })),
             toAction) },
};

// ---- documents

function isOurs(document) {
    return document.languageId === LANGUAGE;
}

function tellOpen(document) {
    if (isOurs(document))
        server.tell('textDocument/didOpen', { textDocument: {
            uri: document.uri.toString(), languageId: LANGUAGE, version: document.version,
            text: document.getText() } });
}

function tellChange(event) {
    if (isOurs(event.document) && event.contentChanges.length > 0)
        server.tell('textDocument/didChange', {
            textDocument: { uri: event.document.uri.toString(), version: event.document.version },
            contentChanges: event.contentChanges.map(
                (one) => ({ range: fromRange(one.range), text: one.text })) });
}

function tellClose(document) {
    if (isOurs(document))
        server.tell('textDocument/didClose', { textDocument: { uri: document.uri.toString() } });
}

async function activate(context) {
    const keep = (...things) => context.subscriptions.push(...things);
    const output = vscode.window.createOutputChannel('heddle');
    const shown = vscode.languages.createDiagnosticCollection(LANGUAGE);
    const settings = vscode.workspace.getConfiguration(LANGUAGE);
    server = new Server(settings.get('path', 'heddle'),
                        ['lsp', ...settings.get('include', []).map((folder) => '-I' + folder)], output);
    server.handlers.set('textDocument/publishDiagnostics', (params) =>
        shown.set(vscode.Uri.parse(params.uri), params.diagnostics.map(toDiagnostic)));
    server.handlers.set('window/showMessage', (params) =>
        vscode.window.showWarningMessage(params.message));
    keep(output, shown);
    const folders = (vscode.workspace.workspaceFolders || []).map(
        (folder) => ({ uri: folder.uri.toString(), name: folder.name }));
    try {
        await server.ask('initialize', { processId: process.pid, rootUri: null,
                                         workspaceFolders: folders, capabilities: {} });
    } catch (error) {
        vscode.window.showErrorMessage(`${error.message}. The setting 'heddle.path' names the command.`);
        return;
    }
    server.tell('initialized', {});
    vscode.workspace.textDocuments.forEach(tellOpen);
    keep(vscode.workspace.onDidOpenTextDocument(tellOpen),
         vscode.workspace.onDidChangeTextDocument(tellChange),
         vscode.workspace.onDidCloseTextDocument(tellClose));
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.heddle');
    const tellFiles = () => server.tell('workspace/didChangeWatchedFiles', { changes: [] });
    watcher.onDidChange(tellFiles);
    watcher.onDidCreate(tellFiles);
    watcher.onDidDelete(tellFiles);
    keep(watcher);
    for (const [name, provider] of Object.entries(providers))
        keep(vscode.languages[`register${name}Provider`](
            LANGUAGE, provider, ...(name === 'CompletionItem' ? ['.', '"', ':'] : [])));
}

async function deactivate() {
    if (!server)
        return;
    await server.ask('shutdown', null).catch(() => {});
    server.tell('exit', null);
}

module.exports = { activate, deactivate };
