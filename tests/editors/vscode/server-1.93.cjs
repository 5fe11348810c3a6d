// The VS Code server of code-server 4.93, which has no start of its own: code-server calls it as a module. The options are those of
// later servers. Usage: node server-1.93.cjs FOLDER [OPTION]...

const { once } = require('node:events');
const { createServer } = require('node:http');
const { join } = require('node:path');

async function start() {
  const [folder] = process.argv.splice(2, 1); // the rest is parsed by VS Code
  const code = await require(join(folder, 'out/server-main.js')).loadCodeWithNls();
  if (process.argv.includes('--install-extension')) return code.spawnCli();
  const option = (name) => process.argv[process.argv.indexOf(name) + 1];
  const vscode = await code.createServer(null);
  const server = createServer((request, response) => vscode.handleRequest(request, response));
  server.on('upgrade', (request, socket) => vscode.handleUpgrade(request, socket));
  server.listen(Number(option('--port')), option('--host'));
  await once(server, 'listening');
  console.log('Extension host agent listening');
}

start();
