// The VS Code under test: the newest that ../get knows, or with SPECLENS_VSCODE=1.93 the oldest that the extension supports
// (`engines` in its package.json).

export const IS_FLOOR = process.env.SPECLENS_VSCODE === '1.93';

/** Its name in ../get and in the cache. */
export const PART = IS_FLOOR ? 'vscode-1.93' : 'vscode';
