import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './sources.js';

/** One line of a command's `--json` stream. */
export type JsonLine = Readonly<Record<string, unknown>>;

export interface Ended {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `keelson words...`, or another script, as a process of its own, from the build. */
export class LiveCommand {
  readonly child: ChildProcess;
  /** Resolves when the process and its pipes are over. */
  readonly ended: Promise<Ended>;
  stdout = '';
  stderr = '';
  private isOver = false;
  private news: () => void = () => undefined;
  private changed = new Promise<void>((resolve) => { this.news = resolve; });

  constructor(private readonly words: readonly string[], options: LiveOptions = {}) {
    const { command = `${root}bin/keelson.js`, environment = {}, directory = root, descriptors } =
      options;
    const interpreter = options.program ?? process.execPath;
    const limited = descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}`];
    const [program, ...rest] = [
      ...limited, interpreter, command, ...words,
    ] as [string, ...string[]];
    // Node 20 is warned of, which is tested once.
    const isOld = process.versions.node.startsWith('20.');
    const quiet = isOld ? { NODE_NO_WARNINGS: '1' } : {};
    const env = { ...process.env, KEELSON_INSECURE_SEED: '', ...quiet, ...environment };
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    this.child = spawn(program, rest, { env, cwd: directory, stdio: [...stdio] });
    this.child.stdout!.on('data', (chunk: Buffer) =>
      this.heard(() => { this.stdout += chunk.toString(); }));
    this.child.stderr!.on('data', (chunk: Buffer) =>
      this.heard(() => { this.stderr += chunk.toString(); }));
    this.ended = new Promise((resolve) => {
      this.child.on('close', (status) => {
        this.heard(() => { this.isOver = true; });
        resolve({ status, stdout: this.stdout, stderr: this.stderr });
      });
    });
  }

  /** Every whole line of standard output so far, as JSON. */
  get lines(): readonly JsonLine[] {
    return this.stdout.split('\n').slice(0, -1).map((line) => JSON.parse(line) as JsonLine);
  }

  /**
   * The first line that fits, now or later.
   * @throws when the process ends without one.
   */
  async line(fits: (line: JsonLine) => boolean): Promise<JsonLine> {
    for (;;) {
      const found = this.lines.find(fits);
      if (found !== undefined) return found;
      await this.next();
    }
  }

  /** Waits until standard error holds `text`. */
  async says(text: string): Promise<void> {
    while (!this.stderr.includes(text)) await this.next();
  }

  /** Ctrl-C, then the end. */
  interrupt(): Promise<Ended> {
    this.child.kill('SIGINT');
    return this.ended;
  }

  /** As when the machine loses power, as far as one process can tell. */
  kill(): Promise<Ended> {
    this.child.kill('SIGKILL');
    return this.ended;
  }

  private heard(change: () => void): void {
    change();
    const news = this.news;
    this.changed = new Promise((resolve) => { this.news = resolve; });
    news();
  }

  /**
   * Waits for more output.
   * @throws when the process has ended.
   */
  async next(): Promise<void> {
    if (this.isOver) {
      throw new Error(`keelson ${this.words.join(' ')} ended:\n${this.stdout}\n${this.stderr}`);
    }
    await this.changed;
  }
}

export interface LiveOptions {
  /** Another script than the project's own. */
  readonly command?: string;
  /** What runs the script. Default: Node. */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
  /** How many it may have open; Linux only. */
  readonly descriptors?: number;
}

/** Commands and folders of one test; `end` leaves nothing behind, whatever the test did. */
export class Stage {
  private readonly commands: LiveCommand[] = [];
  readonly folder = mkdtempSync(join(tmpdir(), 'keelson-e2e-'));

  /** Starts a command; it is killed at the end if it still runs. */
  start(words: readonly string[], options: LiveOptions = {}): LiveCommand {
    const command = new LiveCommand(words, options);
    this.commands.push(command);
    return command;
  }

  /** Runs a command to its end. */
  run(words: readonly string[], options: LiveOptions = {}): Promise<Ended> {
    return this.start(words, options).ended;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file into the folder. @returns its path. */
  write(name: string, text: string | Uint8Array): string {
    writeFileSync(this.path(name), text);
    return this.path(name);
  }

  /** `keelson serve` on a free port, listening. */
  async serve(
    studies: readonly string[],
    options: {
      readonly data?: string; readonly port?: number; readonly logLevel?: string;
      readonly flags?: readonly string[]; readonly descriptors?: number;
      /** Another script than the project's own. */
      readonly command?: string;
    } = {},
  ): Promise<Served> {
    const { data = 'data', port = 0, logLevel = 'warn', flags = [], descriptors, command: script } =
      options;
    const place = ['--data', this.path(data), '--port', String(port)];
    const words = ['serve', ...studies, ...place, '--log-level', logLevel, '--json', ...flags];
    const command = this.start(words, {
      ...(descriptors !== undefined && { descriptors }),
      ...(script !== undefined && { command: script }),
    });
    const listening = await command.line(({ type }) => type === 'listening');
    const address = String(listening['address']);
    return {
      command, address,
      url: address.replace('http', 'ws'),
      port: Number(new URL(address).port),
      serverKey: String(listening['serverKey']),
      listening,
    };
  }

  async endCommands(): Promise<void> {
    await Promise.all(this.commands.map((command) => command.kill()));
  }

  async end(): Promise<void> {
    await this.endCommands();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A running `keelson serve`. */
export interface Served {
  readonly command: LiveCommand;
  readonly address: string;
  readonly url: string;
  readonly port: number;
  readonly serverKey: string;
  readonly listening: JsonLine;
}
