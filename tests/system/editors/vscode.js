// Runs the extension of VS Code in node, with as much of its interface as the extension uses, and
// prints what the editor was given.
'use strict';
const fs = require('fs');
const Module = require('module');
const [extension, heddle, file] = process.argv.slice(2);
const registered = {}, shown = new Map(), said = [];

class Range {
    constructor(line, character, endLine, endCharacter) {
        this.start = { line, character };
        this.end = { line: endLine, character: endCharacter };
    }
}
class Plain {
    constructor(...values) {
        this.values = values;
    }
}
class Edits {
    constructor() {
        this.changes = {};
    }
    set(uri, edits) {
        this.changes[uri] = edits;
    }
}
const nothing = () => ({ dispose() {} });
const register = (name) => (_, provider) => {
    registered[name] = provider;
    return nothing();
};
const languages = { createDiagnosticCollection: () => ({
    set: (uri, list) => shown.set(uri.toString(), list) }) };
for (const name of ['CompletionItem', 'Hover', 'Definition', 'Reference', 'DocumentSymbol',
                    'DocumentFormattingEdit', 'Rename', 'CodeActions'])
    languages[`register${name}Provider`] = register(name);
const document = {
    languageId: 'heddle', version: 1, uri: { toString: () => 'file://' + file },
    getText: () => fs.readFileSync(file, 'utf8'),
};
let changed;
const vscode = {
    Range, Location: Plain, Diagnostic: Plain, DiagnosticRelatedInformation: Plain,
    CompletionItem: Plain, MarkdownString: Plain, Hover: Plain, DocumentSymbol: Plain,
    WorkspaceEdit: Edits, CodeAction: Plain, CodeActionKind: { QuickFix: 'quickfix' },
    TextEdit: { replace: (range, text) => ({ range, text }) },
    Uri: { parse: (text) => ({ toString: () => text }) },
    languages,
    window: { createOutputChannel: () => ({ append: (text) => said.push(text),
                                            appendLine: (text) => said.push(text) }),
              showWarningMessage: (text) => said.push(text),
              showErrorMessage: (text) => said.push(text) },
    workspace: {
        getConfiguration: () => ({ get: (name, usual) => name === 'path' ? heddle : usual }),
        textDocuments: [document], workspaceFolders: [],
        onDidOpenTextDocument: nothing, onDidCloseTextDocument: nothing,
        onDidChangeTextDocument: (call) => { changed = call; return nothing(); },
        createFileSystemWatcher: () => ({ onDidChange: nothing, onDidCreate: nothing,
                                          onDidDelete: nothing, dispose() {} }),
    },
};
const load = Module._load;
Module._load = (name, ...more) => name === 'vscode' ? vscode : load(name, ...more);
const client = require(extension);

async function until(condition) {
    for (let i = 0; i < 1000 && !condition(); i++)
        await new Promise((resolve) => setTimeout(resolve, 20));
    if (!condition())
        throw new Error('what is waited for did not come');
}

async function main() {
    const context = { subscriptions: [] };
    await client.activate(context);
    await until(() => (shown.get('file://' + file) || []).length > 0);
    const found = shown.get('file://' + file)[0];
    const line = document.getText().split('\n').findIndex((one) => one.includes('wais'));
    const character = document.getText().split('\n')[line].indexOf('wais');
    const actions = await registered.CodeActions.provideCodeActions(
        document, new Range(line, character, line, character));
    document.version = 2;
    changed({ document, contentChanges: [
        { range: new Range(line, character, line, character + 4), text: 'ways' }] });
    await until(() => shown.get('file://' + file).length === 0);
    const position = { line, character: character + 1 };
    const hover = await registered.Hover.provideHover(document, position);
    const items = await registered.CompletionItem.provideCompletionItems(document, position);
    const rename = await registered.Rename.provideRenameEdits(
        document, { line, character: 4 }, 'second');
    const refused = await registered.Rename.provideRenameEdits(document, position, 'second')
        .catch((error) => error.message);
    const symbols = await registered.DocumentSymbol.provideDocumentSymbols(document);
    console.log(JSON.stringify({
        message: found.values[1], code: found.code, fix: actions[0].values[0],
        hover: hover.values[0].values[0], completion: items.map((one) => one.values[0]),
        rename: Object.values(rename.changes)[0].length, refused, symbols: symbols.length, said }));
    await client.deactivate();
}

main().catch((error) => {
    console.error(error, said);
    process.exit(1);
});
