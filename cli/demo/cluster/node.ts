import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { packageFile } from '../../../server/base/place.js';
import { fromHex } from '../../../src/base/bytes.js';

const program = fileURLToPath(packageFile('bin/keelson.js'));

/** One server of the demonstration, in a process of its own, so that it can be killed. */
export class DemoNode {
  #child: ChildProcess | undefined;
  #said: string[] = [];
  serverKey: Uint8Array = new Uint8Array(0);

  #port: number;

  /**
   * @param words of `keelson serve`.
   * @param port - default: any free one.
   */
  constructor(readonly name: string, private readonly words: readonly string[], port = 0) {
    this.#port = port;
  }

  get port(): number {
    return this.#port;
  }

  /**
   * Resolves when it listens, on the same port at every start.
   * @throws Error with its output, if it ends before.
   */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [
      program, 'serve', ...this.words, '--port', String(this.#port), '--log-level', 'error',
      '--json',
    ], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    endWithThisProcess(child);
    this.#said = [];
    createInterface(child.stderr).on('line', (line) => {
      this.#said = [...this.#said.slice(-5), line];
    });
    const listening = await new Promise<{ address: string; serverKey: string }>(
      (resolve, reject) => {
        createInterface(child.stdout).on('line', (line) => {
          const told = JSON.parse(line) as { type: string; address: string; serverKey: string };
          if (told.type === 'listening') resolve(told);
        });
        child.once('error', reject).once('close', () =>
          reject(new Error(`${this.name} did not start: ${this.#said.join('\n')}`)));
      });
    this.#port = Number(new URL(listening.address).port);
    this.serverKey = fromHex(listening.serverKey);
  }

  /** Names of the studies that it leads; none while it is down. */
  async leads(): Promise<readonly string[]> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.#port}/readyz`);
      return (await answer.json() as { leads?: readonly string[] }).leads ?? [];
    } catch {
      return [];
    }
  }

  /** Ends the process without a warning. Resolves when it has ended. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Lets the server finish its work in progress. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  async #end(signal: 'SIGKILL' | 'SIGINT'): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.kill(signal);
    await ended;
  }
}

/** No server outlives this process: if it is killed, a shell ends the server. */
function endWithThisProcess(child: ChildProcess): void {
  const keeper = spawn('/bin/sh', ['-c', 'cat > /dev/null; kill -KILL "$0"', String(child.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'], detached: true,
  });
  keeper.unref();
  child.once('close', () => keeper.kill('SIGKILL'));
}
