import type { Readable, Writable } from 'node:stream';

/** What the command needs of its process, so that tests can run it in their own. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts at the first interrupt (Ctrl-C); only commands that declare `stopsGently` see it. */
  readonly interrupted: AbortSignal;
  /** Called by a command that stops gently once it has started: until then an interrupt ends the process. */
  onStarted?(): void;
  /** Calls `action` whenever the process is asked to read its files again (SIGHUP). Absent where nothing asks. */
  onHangUp?(action: () => void): void;
  /** Milliseconds of a clock that never jumps. */
  monotonicMs(): number;
}

/** 0: done. 1: the answer is a refusal or a failed verification. 2: wrong usage or input. */
export type ExitStatus = 0 | 1 | 2;

/** Longest text of a line in help and tables. */
export const terminalColumns = 80;
