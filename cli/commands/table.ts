import type { Command } from '../command.js';

/** A command that is loaded when it runs, so that starting `keelson` stays fast. */
export interface CommandEntry {
  /** The same line as the command's own; a test compares them. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** A command's arguments are its own business: the table only runs it. */
const erase = (command: unknown): Command => command as Command;

/** Every command of `keelson`, in the order of its help. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  verify: {
    summary: 'Check a release log: chain, signatures and signed head.',
    load: async () => erase((await import('./verify.js')).verify),
  },
  keygen: {
    summary: 'Make a contributor key: a file only you can read, and its public half.',
    load: async () => erase((await import('./keygen.js')).keygen),
  },
};
