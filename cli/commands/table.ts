import type { Command } from '../base/command.js';

/** A command that is loaded only when it runs, so that `keelson` starts fast. */
export interface CommandEntry {
  /** The same line as in the command's file; a test compares them. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** Drops the type of the arguments: the table only runs the command. */
const erase = (command: unknown): Command => command as Command;

/** Every command of `keelson`, in the order of its help. */
export const commandTable: Readonly<Record<string, CommandEntry>> = {
  demo: {
    summary: 'Run everything at once on real flights: aggregator, honest people and liars.',
    load: async () => erase((await import('./demo.js')).demo),
  },
  lab: {
    summary: 'Attack real studies with simulated liars, and see which estimators hold.',
    load: async () => erase((await import('./lab.js')).lab),
  },
  init: {
    summary: 'Write a study file with a comment for each key, from a few questions.',
    load: async () => erase((await import('./init.js')).init),
  },
  serve: {
    summary: 'Run the aggregator with one or more studies.',
    load: async () => erase((await import('./serve.js')).serve),
  },
  studies: {
    summary: 'List the studies of a running aggregator, or end one for good.',
    load: async () => erase((await import('./studies.js')).studies),
  },
  contribute: {
    summary: 'Send the rows of a file to a study, as one contributor\'s contribution.',
    load: async () => erase((await import('./contribute.js')).contribute),
  },
  simulate: {
    summary: 'Let simulated contributors, honest and hostile, take part in a running study.',
    load: async () => erase((await import('./simulate.js')).simulate),
  },
  watch: {
    summary: 'Follow a study\'s releases, each verified, as a table or JSON lines.',
    load: async () => erase((await import('./watch.js')).watch),
  },
  ledger: {
    summary: 'Show what was spent, reserved and is left of every budget of a server.',
    load: async () => erase((await import('./ledger.js')).ledger),
  },
  backup: {
    summary: 'Copy the store of a data folder, beside a running aggregator.',
    load: async () => erase((await import('./backup.js')).backup),
  },
  doctor: {
    summary: 'Check a data folder or a running server, and say what to mend.',
    load: async () => erase((await import('./doctor.js')).doctor),
  },
  store: {
    summary: 'Make, upgrade or mend the tables of a store in PostgreSQL, or show its state.',
    load: async () => erase((await import('./store.js')).store),
  },
  estimators: {
    summary: 'List the estimators, or show one with its parameters and guarantees.',
    load: async () => erase((await import('./estimators.js')).estimators),
  },
  estimate: {
    summary: 'Run one estimator on a file and print the private result.',
    load: async () => erase((await import('./estimate.js')).estimate),
  },
  plan: {
    summary: 'Sample sizes, noise and expected error from public numbers, without data.',
    load: async () => erase((await import('./plan.js')).plan),
  },
  audit: {
    summary: 'Attack an estimator, to prove a lower bound on its epsilon.',
    load: async () => erase((await import('./audit.js')).audit),
  },
  verify: {
    summary: 'Check a release log: chain, signatures and signed head.',
    load: async () => erase((await import('./verify.js')).verify),
  },
  conform: {
    summary: 'Try a client program of any language on the rules of the protocol.',
    load: async () => erase((await import('./conform.js')).conform),
  },
  keys: {
    summary: 'Show or change the key that an aggregator signs with.',
    load: async () => erase((await import('./keys.js')).keys),
  },
  keygen: {
    summary: 'Make a contributor key: a file only you can read, and its public half.',
    load: async () => erase((await import('./keygen.js')).keygen),
  },
  enrol: {
    summary: 'Issue enrolment tokens: let keys into studies that admit only those.',
    load: async () => erase((await import('./enrol.js')).enrol),
  },
  issuer: {
    summary: 'Run an issuer of blind tokens: one for each person and period.',
    load: async () => erase((await import('./issuer.js')).issuer),
  },
  token: {
    summary: 'Get a blind token for a key, to contribute with any client.',
    load: async () => erase((await import('./token.js')).token),
  },
};
