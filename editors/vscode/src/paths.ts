// Decides which paths the extension starts and opens. It uses neither VS Code nor the disk.

import { dirname, isAbsolute, join, normalize, sep } from 'node:path';

/** The program that a setting names: a path, or a name to be found on `PATH`. Throws an error with a remedy. */
export function programOf(setting: string, home: string): { path: string } | { name: string } {
  if (setting.startsWith('~/')) return { path: join(home, setting.slice(2)) };
  if (isAbsolute(setting)) return { path: setting };
  if (!/[/\\]/.test(setting) && setting !== '.' && setting !== '..') return { name: setting };
  // It would start a program of whatever folder is open.
  throw new Error(`speclens.server.path is the relative path “${setting}”. Set an absolute path, or a name on the PATH`);
}

/** Whether a path is that of a reference that the server writes: nothing else is opened by a link. */
export function isReference(path: string, { home, state }: { home: string; state: string | undefined }): boolean {
  const directory = join(state && isAbsolute(state) ? state : join(home, '.local', 'state'), 'speclens');
  return normalize(path) === path && dirname(path) === directory && /^reference-[\w.+-]+\.md$/.test(path.slice(directory.length + sep.length));
}
