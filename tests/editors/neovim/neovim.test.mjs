// speclens in real Neovims, headless. Each scenario is a Lua file that runs inside Neovim. node --test tests/editors/neovim/neovim.test.mjs

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { before, test } from 'node:test';
import { cache, folder, get, program, remains, repository, workspace } from '../support.mjs';

const here = import.meta.dirname;
const DEADLINE = 120_000;

const scenarios = {
  'alone.lua': ['0.10', '0.12'],
  'agents.lua': ['0.10', '0.12'],
  'clawspec.lua': ['0.10', '0.12'],
  'formats.lua': ['0.10', '0.12'],
  'untrusted.lua': ['0.10', '0.12'],
  'beside-yaml-language-server.lua': ['0.10', '0.12'],
  'enabled.lua': ['0.12'], // vim.lsp.enable came with 0.11
};

before(() => get('node', 'neovim'));

/** Runs a scenario in a new workspace and home directory; returns its output. */
function neovim(version, scenario) {
  const root = join(cache, `nvim-${version}`);
  const home = folder('home');
  const bin = folder('bin'); // PATH as after an installation
  symlinkSync(program(), join(bin, 'speclens'));
  const env = {
    ...process.env,
    LANG: 'C.UTF-8',
    VIMRUNTIME: join(root, 'usr/share/nvim/runtime'),
    HOME: home,
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
    PATH: [bin, process.env.PATH].join(delimiter),
    SPECLENS_BIN: program(),
    SPECLENS_PLUGIN: join(repository, 'editors/nvim'),
    SPECLENS_TESTS: here,
    SPECLENS_SCENARIO: scenario,
    YAML_LANGUAGE_SERVER: join(here, '../node_modules/.bin/yaml-language-server'),
  };
  const words = ['--headless', '-u', join(here, 'init.lua'), 'kindlm.yaml'];
  return new Promise((done) => {
    execFile(join(root, 'usr/bin/nvim'), words, { cwd: workspace(), env, timeout: DEADLINE, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
      done({ code: error ? (error.code ?? error.signal) : 0, output: stdout + stderr, log: join(env.XDG_STATE_HOME, 'nvim/lsp.log') });
    });
  });
}

for (const version of ['0.10', '0.12']) {
  test(`Neovim ${version}`, async (t) => {
    t.diagnostic(execFileSync(join(cache, `nvim-${version}/usr/bin/nvim`), ['--version'], { encoding: 'utf8' }).split('\n')[0]);
    for (const [scenario, versions] of Object.entries(scenarios)) {
      if (!versions.includes(version)) continue;
      await t.test(scenario, async (t) => {
        const { code, output, log } = await neovim(version, scenario);
        // `ok NAME`, or `not ok NAME: REASON` and indented lines.
        const results = [...output.matchAll(/^(ok|not ok) (.*(?:\r?\n  .*)*)/gm)];
        for (const [, verdict, text] of results) await t.test(text.split(/[:\r\n] ?\//)[0], () => assert.equal(verdict, 'ok', text));
        if (code === 0 && results.length > 0) return;
        const kept = remains(`neovim-${version}-${scenario}`);
        writeFileSync(join(kept, 'output.txt'), output);
        if (existsSync(log)) copyFileSync(log, join(kept, 'lsp.log'));
        assert.fail(`Neovim ended with ${code}\n${output}\n(output and the server's log: ${kept})`);
      });
    }
  });
}
