import type { Readable, Writable } from 'node:stream';

/** The parts of the process that a command needs, so that tests can run it in their own process. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborts at the first interrupt (Ctrl-C). Only commands with `stopsGently` see it. */
  readonly interrupted: AbortSignal;
  /**
   * A command that stops gently calls this when it has started. Before that, an interrupt ends the
   * process.
   */
  onStarted?(): void;
  /**
   * Calls `action` each time the process is asked to read its files again (SIGHUP). Absent if there
   * is no such signal.
   */
  onHangUp?(action: () => void): void;
  /** The version, in the form of `process.versions.node`. */
  readonly nodeVersion: string;
  /** Milliseconds on a clock that never jumps. */
  monotonicMs(): number;
}

/** 0: done. 1: the answer is a refusal or a failed verification. 2: wrong usage or input. */
export type ExitStatus = 0 | 1 | 2;

/** Longest line in help and tables. */
export const terminalColumns = 80;
