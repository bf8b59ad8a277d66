import { Readable, Writable } from 'node:stream';
import type { Io } from '../../cli/base/io.js';
import { runCommandLine } from '../../cli/run.js';

export interface CommandRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Collector extends Writable {
  text = '';
  isTTY = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/** Runs `keelson words...` inside this process. */
export async function keelson(
  words: readonly string[],
  options: {
    readonly stdin?: string | Buffer;
    readonly environment?: Record<string, string>;
    /** Default: one that the next release runs on, too. */
    readonly nodeVersion?: string;
    /** Standard error is a terminal. */
    readonly tty?: boolean;
    /** Somebody types standard input at a terminal. */
    readonly typed?: boolean;
  } = {},
): Promise<CommandRun> {
  const stdout = new Collector();
  const stderr = new Collector();
  stderr.isTTY = options.tty ?? options.typed ?? false;
  const stdin = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]);
  let nowMs = 0;
  const io: Io = {
    stdin: Object.assign(stdin, { isTTY: options.typed ?? false }),
    stdout,
    stderr,
    environment: options.environment ?? {},
    nodeVersion: options.nodeVersion ?? '24.0.0',
    interrupted: new AbortController().signal,
    // Two seconds pass at each look, so that a progress bar has its chance.
    monotonicMs: () => (nowMs += 2000),
  };
  const status = await runCommandLine(words, io);
  return { status, stdout: stdout.text, stderr: stderr.text };
}
