// A program on a real terminal: tmux draws its screen, and keys are sent to it as a person types them.

import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { folder, remains, repository } from './support.mjs';

const DEADLINE = 30_000;

/** Text of the first code block in this language on a page of the repository: settings that users copy. */
export function recipe(page, language) {
  const block = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(readFileSync(join(repository, page), 'utf8'));
  if (!block) throw new Error(`${page} has no block in ${language}`);
  return block[1];
}

/** Whether `text` contains `wanted`, a string or a pattern. */
export function shows(text, wanted) {
  return wanted instanceof RegExp ? wanted.test(text) : text.includes(wanted);
}

/** The processes that have this home directory: a program that a test started, and what that started. */
export function processes(home) {
  return readdirSync('/proc').filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/environ`, 'utf8').split('\0').includes(`HOME=${home}`);
    } catch {
      return false; // It has ended, or is another user's.
    }
  });
}

export class Terminal {
  /** Runs a program on a new screen. `env` has everything that it needs, with a HOME of its own. */
  constructor(words, { cwd, env, width = 130, height = 45 }) {
    this.socket = join(folder('tmux'), 'socket');
    this.home = env.HOME;
    // By env: tmux itself must not have the program's home directory, which tells the program's processes from others.
    // 16 colors, whatever the terminal of the tests has.
    const variables = Object.entries({ COLORTERM: '', LC_ALL: 'C.UTF-8', ...env }).map(([name, value]) => `${name}=${value}`);
    const command = ['exec', 'env', ...variables, ...words].map(quoted).join(' ');
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-x', width, '-y', height, '-c', cwd, command);
  }

  #tmux(...words) {
    return execFileSync('tmux', ['-u', '-S', this.socket, ...words.map(String)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  }

  /** Presses keys by their names in tmux. */
  keys(...names) {
    this.#tmux('send-keys', '--', ...names);
  }

  type(text) {
    this.#tmux('send-keys', '-l', '--', text);
  }

  /** The text on the screen; with the codes of its colors if asked for. */
  screen(codes = false) {
    return this.#tmux('capture-pane', '-p', ...(codes ? ['-e'] : []));
  }

  /** The line of the screen with the cursor. */
  cursorLine() {
    return this.screen().split('\n')[Number(this.#tmux('display-message', '-p', '#{cursor_y}'))];
  }

  /** Waits until `look` returns something, and returns that. */
  async until(what, look) {
    for (const end = Date.now() + DEADLINE; ; await pause(20)) {
      const seen = await look();
      if (seen) return seen;
      if (Date.now() > end) throw new Error(`never seen: ${what}`);
    }
  }

  /** Waits until the screen shows each of these strings or patterns. */
  async see(...wanted) {
    for (const each of wanted) await this.until(each, () => shows(this.screen(), each));
  }

  /** Waits until the screen shows none of these strings or patterns. */
  async lose(...unwanted) {
    for (const each of unwanted) await this.until(`a screen without ${each}`, () => !shows(this.screen(), each));
  }

  /** Kills the program, which has no time to end what it started. */
  kill() {
    process.kill(Number(this.#tmux('display-message', '-p', '#{pane_pid}')), 'SIGKILL');
  }

  /** Waits until the program and all that it started have ended. */
  async ended() {
    await this.until('the end of all processes', () => processes(this.home).length === 0);
  }

  /** Runs `act`, shows the screen if it fails, and ends the program. */
  async during(name, act) {
    try {
      return await act();
    } catch (error) {
      let screen = '(the program has ended)';
      try {
        screen = this.screen();
      } catch {} // tmux ends with the program.
      const kept = remains(name);
      writeFileSync(join(kept, 'screen.txt'), screen);
      error.message += `\n${screen.trimEnd()}\n(screen: ${kept})`;
      throw error;
    } finally {
      try {
        this.#tmux('kill-server');
      } catch {} // It ended with the program.
    }
  }
}

function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
