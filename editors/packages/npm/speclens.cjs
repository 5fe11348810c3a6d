#!/usr/bin/env node
// Starts the speclens program of this platform, which is in a package of its own: npm installs only the one that fits.

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const name = `@speclens/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/speclens${process.platform === 'win32' ? '.exe' : ''}`);
} catch {
  console.error(`error: the package ${name} is not installed\n  help: install without --omit=optional, or build speclens from source if there is no such package`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// The program stops its own processes and ends; so does this one. A terminal sends Ctrl-C to both.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT']) {
  process.on(signal, () => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  });
}
child.on('error', (error) => {
  console.error(`error: ${error.message}`);
  process.exit(2);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
