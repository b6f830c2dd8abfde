// Starts `evalcase lsp` for the files that are evalcase's business. All else is in the server.
const path = require("node:path");
const { window, workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const FILES = ["**/*.eval.{yaml,yml,json,jsonl}", "**/*.suite.{yaml,yml}", "**/evalcase.toml", "**/pyproject.toml"];

let client;

function serverCommand() {
  const [program, ...args] = workspace.getConfiguration("evalcase").get("command");
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  // A path that leads somewhere is seen from the folder that is open; a name is searched for.
  const command = folder && /[\\/]/.test(program) ? path.resolve(folder, program) : program;
  return { command, args, options: { cwd: folder } };
}

async function activate() {
  const documentSelector = [
    ...FILES.map((pattern) => ({ scheme: "file", pattern })),
    // Any YAML may name the schema in its first line; the server leaves all others alone.
    { scheme: "file", language: "yaml" },
  ];
  client = new LanguageClient("evalcase", "evalcase", serverCommand(), { documentSelector });
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `evalcase: the language server did not start (${error.message}). ` +
        'It needs evalcase, and pygls beside it: pip install "pygls>=2.0". ' +
        "The setting evalcase.command says what is started.",
    );
  }
}

function deactivate() {
  return client?.isRunning() ? client.stop() : undefined;
}

module.exports = { activate, deactivate };
