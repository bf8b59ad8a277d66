import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { ConformanceFault } from './fault.js';

/** A line that the program wrote. docs/reference/conformance.md has its members. */
export interface ProgramEvent {
  readonly event: string;
  readonly id?: string;
  readonly code?: string;
  readonly can?: readonly string[];
  readonly [name: string]: unknown;
}

/** A line for the program. */
export interface ProgramCommand {
  readonly do: string;
  readonly [name: string]: unknown;
}

/** The most characters of a program's standard error that a report repeats. */
const errorsShown = 2_000;

/** The client program that is tried, as a process of its own. */
export class Program {
  readonly events: ProgramEvent[] = [];
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly over: Promise<void>;
  private isOver = false;
  private taken = new Set<ProgramEvent>();
  private rest = '';
  private errors = '';
  private unreadable: string | null = null;
  private news: () => void = () => undefined;
  private changed = new Promise<void>((resolve) => { this.news = resolve; });

  /** @param onEvent is called with each event at once, before anybody who waits for it. */
  constructor(words: readonly string[], private readonly onEvent: (event: ProgramEvent) => void) {
    const [program, ...rest] = words as [string, ...string[]];
    this.child = spawn(program, rest, { stdio: 'pipe' });
    this.child.stdin.on('error', () => undefined);
    this.child.stdout.on('data', (chunk: Buffer) => this.read(chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString()).slice(-errorsShown);
    });
    this.over = new Promise((resolve) => {
      const end = (): void => {
        this.isOver = true;
        this.tell();
        resolve();
      };
      this.child.on('error', (error) => {
        this.errors += error.message;
        end();
      });
      this.child.on('close', end);
    });
  }

  say(command: ProgramCommand): void {
    this.child.stdin.write(`${JSON.stringify(command)}\n`);
  }

  /**
   * The first event that fits and was not taken yet, now or later.
   * @throws ConformanceFault when the program ends first, or writes what is no event.
   */
  async event(fits: (event: ProgramEvent) => boolean): Promise<ProgramEvent> {
    for (;;) {
      const found = this.events.find((event) => !this.taken.has(event) && fits(event));
      if (found !== undefined) {
        this.taken.add(found);
        return found;
      }
      if (this.unreadable !== null) {
        throw new ConformanceFault(`the program wrote a line that is no event: ${this.unreadable}`);
      }
      if (this.isOver) {
        throw new ConformanceFault(`the program has ended${this.errors && `: ${this.errors}`}`);
      }
      await this.changed;
    }
  }

  /** Kills the process, as `kill -9` does. Resolves when it is over. */
  kill(): Promise<void> {
    this.child.kill('SIGKILL');
    return this.over;
  }

  private read(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop()!;
    for (const line of lines) {
      const event = parsed(line);
      if (event === null) this.unreadable ??= line.slice(0, 200);
      else {
        this.onEvent(event);
        this.events.push(event);
      }
    }
    this.tell();
  }

  private tell(): void {
    const { news } = this;
    this.changed = new Promise((resolve) => { this.news = resolve; });
    news();
  }
}

function parsed(line: string): ProgramEvent | null {
  try {
    const value = JSON.parse(line) as ProgramEvent | null;
    return typeof value === 'object' && typeof value?.event === 'string' ? value : null;
  } catch {
    return null;
  }
}
