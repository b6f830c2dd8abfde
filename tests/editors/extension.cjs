// Loads the extension with stand-ins for what VS Code and its client bring; prints what it does.
const Module = require("node:module");
const [extension, command] = process.argv.slice(2);
const seen = { errors: [] };

class LanguageClient {
  constructor(id, name, server, options) {
    Object.assign(seen, { id, name, server, options });
  }
  async start() {
    if (seen.server.command === "gone") throw new Error("spawn gone ENOENT");
    seen.started = true;
  }
  isRunning() {
    return true;
  }
  async stop() {
    seen.stopped = true;
  }
}

const stands = {
  vscode: {
    window: { showErrorMessage: (message) => seen.errors.push(message) },
    workspace: {
      workspaceFolders: [{ uri: { fsPath: "/project" } }],
      getConfiguration: () => ({ get: () => JSON.parse(command) }),
    },
  },
  "vscode-languageclient/node": { LanguageClient },
};
const load = Module._load;
Module._load = (name, ...rest) => stands[name] ?? load(name, ...rest);

const { activate, deactivate } = require(extension);
activate()
  .then(deactivate)
  .then(() => console.log(JSON.stringify(seen)));
