// The speclens program to start.

import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import * as vscode from 'vscode';
import { programOf } from './paths';

export interface Program {
  path: string;
  version: string;
  /** Origin of the path, as words for messages. */
  source: string;
}

/** The setting's program, or else the bundled one, or else the first on `PATH`. Throws an error with a remedy. */
export async function findProgram(context: vscode.ExtensionContext): Promise<Program> {
  const { path, source } = await locate(context);
  const version = await askVersion(path, source);
  const needed: string = context.extension.packageJSON.version;
  // Before 1.0 a minor version may change the protocol between client and server.
  if (minor(version) !== minor(needed)) {
    throw new Error(`${path} (${source}) is speclens ${version}, but this extension needs ${minor(needed)}.x`);
  }
  return { path, version, source };
}

async function locate(context: vscode.ExtensionContext): Promise<{ path: string; source: string }> {
  // VS Code itself withholds the workspace's value while the workspace is not trusted (`restrictedConfigurations`).
  const setting = vscode.workspace.getConfiguration('speclens').get('server.path', '').trim();
  if (setting) {
    const source = 'setting speclens.server.path';
    const program = programOf(setting, homedir());
    const path = 'path' in program ? program.path : await onPath(program.name);
    if (path) return { path, source };
    throw new Error(`${setting} (${source}) is not on the PATH. Install it, or set an absolute path`);
  }

  const bundled = context.asAbsolutePath(join('bin', process.platform === 'win32' ? 'speclens.exe' : 'speclens'));
  if (await isExecutable(bundled)) return { path: bundled, source: 'bundled' };

  const path = await onPath('speclens');
  if (path) return { path, source: 'on PATH' };
  throw new Error('speclens was not found: it is not bundled with the extension and not on the PATH. Install it, or set speclens.server.path');
}

/** The first program with this name on `PATH`. */
async function onPath(name: string): Promise<string | undefined> {
  const names = process.platform === 'win32' ? [`${name}.exe`, name] : [name];
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    // A relative entry would mean a program in whatever folder is open.
    if (!isAbsolute(folder)) continue;
    for (const path of names.map((each) => join(folder, each))) if (await isExecutable(path)) return path;
  }
  return undefined;
}

async function askVersion(path: string, source: string): Promise<string> {
  let answer: string;
  try {
    answer = (await promisify(execFile)(path, ['--version'], { timeout: 10_000 })).stdout.trim();
  } catch (error) {
    throw new Error(`${path} (${source}) does not start: ${error instanceof Error ? error.message.trim() : error}`);
  }
  const version = /^speclens (\d+\.\d+\.\S+)$/.exec(answer)?.[1];
  if (!version) throw new Error(`${path} (${source}) is not speclens: --version prints “${answer.slice(0, 80)}”`);
  return version;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function minor(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}
