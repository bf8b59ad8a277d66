import type { Command } from '../base/command.js';

/** A command that is loaded only when it runs, so that `keelson` starts fast. */
export interface CommandEntry {
  /** The same line as in the command's file; a test compares them. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** Drops the type of the arguments: the table only runs the command. */
const erase = (command: unknown): Command => command as Command;

/** The purpose of the commands that begin with the same word. */
export const commandGroups: Readonly<Record<string, string>> = {
  store: 'Back up and restore a store, or work on its tables in PostgreSQL.',
  keys: 'Make and change the keys of contributors, servers and issuers.',
};

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
    summary: 'List the studies of a running aggregator, end one for good, or resume one.',
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
    summary: 'Show what was spent and is left of each budget of a server or a file.',
    load: async () => erase((await import('./ledger.js')).ledger),
  },
  doctor: {
    summary: 'Check a data folder, a store, a server or a study file, and say what to mend.',
    load: async () => erase((await import('./doctor.js')).doctor),
  },
  'store backup': {
    summary: 'Copy the store of a data folder, beside a running aggregator.',
    load: async () => erase((await import('./store/backup.js')).backup),
  },
  'store restore': {
    summary: 'Put a copy of "keelson store backup" into a data folder.',
    load: async () => erase((await import('./store/restore.js')).restore),
  },
  'store init': {
    summary: 'Make the tables of a store in PostgreSQL.',
    load: async () => erase((await import('./store/init.js')).initStore),
  },
  'store migrate': {
    summary: 'Bring the tables of a store in PostgreSQL up to this version.',
    load: async () => erase((await import('./store/migrate.js')).migrateStore),
  },
  'store import': {
    summary: 'Move the store of a data folder into PostgreSQL.',
    load: async () => erase((await import('./store/import.js')).importStore),
  },
  'store status': {
    summary: 'Show the state of a store in PostgreSQL.',
    load: async () => erase((await import('./store/status.js')).storeStatus),
  },
  'store give-up-rows': {
    summary: 'End epochs of a store in PostgreSQL whose encryption keys are lost for ever.',
    load: async () => erase((await import('./store/give-up-rows.js')).giveUpStoredRows),
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
  'keys new': {
    summary: 'Make a contributor key: a file only you can read, and its public half.',
    load: async () => erase((await import('./keys/new.js')).newKey),
  },
  'keys enrol': {
    summary: 'Issue enrolment tokens: let keys into studies that admit only those.',
    load: async () => erase((await import('./keys/enrol.js')).enrol),
  },
  'keys issuer': {
    summary: 'Run an issuer of blind tokens: one for each person and period.',
    load: async () => erase((await import('./keys/issuer.js')).issuer),
  },
  'keys token': {
    summary: 'Get a blind token for a key, to contribute with any client.',
    load: async () => erase((await import('./keys/token.js')).token),
  },
  'keys server': {
    summary: 'Print the public key that the aggregator of a data folder signs with.',
    load: async () => erase((await import('./keys/server.js')).serverKey),
  },
  'keys rotate': {
    summary: 'Give a data folder a new server key that clients go on to trust.',
    load: async () => erase((await import('./keys/rotate.js')).rotate),
  },
};

/** Name and summary of each command, and of each group once, in the order of the help. */
export function overview(): readonly (readonly [string, string])[] {
  const lines = Object.entries(commandTable).map(([name, { summary }]) => {
    const group = name.split(' ', 1)[0]!;
    return group === name ? [name, summary] as const : [group, commandGroups[group]!] as const;
  });
  return [...new Map(lines)];
}
