import { statSync } from 'node:fs';
import type { ArgsDef } from 'citty';
import { attackNames } from '../../simulation/index.js';
import { defineCommand } from '../base/command.js';
import { ClusterPage } from '../demo/cluster/page.js';
import { isWhole } from '../demo/cluster/account.js';
import { runClusterDemo, type ClusterDemoOptions } from '../demo/cluster/run.js';
import { fitDemo, measureHandshakes, type Fit, type FitRequest } from '../demo/fit.js';
import { createReport } from '../demo/report.js';
import { runDemo, type DemoOptions } from '../demo/run.js';
import { SealedPage } from '../demo/sealed/page.js';
import { runSealedDemo, type SealedDemoOptions } from '../demo/sealed/run.js';
import { isAnswered } from '../demo/scoreboard.js';
import { demoStudiesCount, flightsPerContribution } from '../demo/studies.js';
import { UsageError } from '../base/errors.js';
import type { Io } from '../base/io.js';
import { openRandomness } from '../base/noise.js';
import { numberFlag } from '../base/numbers.js';

const defaults = { epsilon: 2, liars: 0.1, port: 0, logs: 'demo-data' } as const;

const text = (valueHint: string, description: string) =>
  ({ type: 'string', valueHint, description }) as const;

const flags = {
  what: {
    type: 'positional', required: false,
    description: 'sealed: instead, a study whose rows no single server sees',
  },
  contributors: text('n', 'simulated people (default: as many as suit this machine, up to 6000)'),
  liars: text(
    'fraction', `fraction of the people that attacks, below 0.5 (default ${defaults.liars})`,
  ),
  attack: {
    type: 'enum',
    options: [...attackNames] as string[],
    description: 'what they do (default shift: all move 4 spreads per column)',
  },
  strength: text('spreads', 'how far the attack moves things'),
  epochs: text('n', 'epochs to show, of all studies (default: 5, fewer where they are long)'),
  every: text('seconds', 'length of an epoch (default: what suits this machine, at least 4)'),
  epsilon: text('e', `of each release, at delta 1e-6 (default ${defaults.epsilon})`),
  seed: text('text', 'people and attacks follow from it; the noise never does (default 1)'),
  port: text('port', 'where the aggregator listens (default: any free port)'),
  keep: {
    type: 'boolean',
    description: 'go on after the epochs to show, until Ctrl-C: people keep sending',
  },
  cluster: {
    type: 'boolean',
    description: 'instead: three servers on one PostgreSQL, one of which is killed',
  },
  logs: text('folder', `where the release logs go (default ${defaults.logs})`),
} satisfies ArgsDef;

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run everything at once on real flights: aggregator, honest people and liars.',
  details: [
    `Each simulated person gets ${flightsPerContribution} flights per epoch out of 231,083, and `
    + 'takes part in three studies at once. The first two ask one question: the private mean, and '
    + 'robust-mean, which limits the effect of a minority. The hostile people attack together. The '
    + 'table shows each of their releases beside two numbers that only the demonstration knows: '
    + 'the mean of the honest people, and the error of the plain mean of all rows. Errors are '
    + 'Euclidean distances, in units of the studies\' spread. The third study asks ten questions. '
    + 'A person sends it one contribution, which answers all ten. Beside each answer stand that of '
    + 'the honest people without noise, and the planned error.',
    'The address of the dashboard, the data folder and the operator token are printed first. The '
    + 'page shows releases while the command runs, and the folder is removed at the end. With '
    + '--keep the budgets renew, so that releases continue. The promise then holds for any period '
    + 'of the length that the first lines print.',
    'The first epoch opens when everybody is connected. Without flags, the number of people, the '
    + 'length of epochs and their number depend on how fast this machine signs and verifies. '
    + 'Check the release logs with "keelson verify" afterwards.',
    'With --cluster three servers share a PostgreSQL that the command starts in a temporary '
    + 'folder. People send rows through one address. When each server leads a study, one is '
    + 'killed, and starts again later. At the end every row, release and charge in the database '
    + 'is compared with what the people were told. It takes about a minute. It needs the programs '
    + 'of PostgreSQL and the package pg, and uses --contributors (default 40, in each study) and '
    + '--every (default 3).',
    'With the word sealed, three servers hold shares of the rows of one study. The demonstration '
    + 'shows what each server holds of one row, and what is released. One machine protects nobody: '
    + 'it only shows how it works. It takes about half a minute, and uses --contributors (default '
    + '600), --liars (default 0.1, at most 0.2), --every (default 20), --keep and --logs.',
  ],
  args: flags,
  examples: [
    'keelson demo', 'keelson demo --keep', 'keelson demo sealed --keep',
    'keelson demo --contributors 10000 --epsilon 1 --liars 0.05 --attack direction',
  ],
  stopsGently: true,
  async run({ args, io, output }) {
    if (args.what !== undefined) {
      const options = sealedOptions(args.what, args);
      const isComplete = await runSealedDemo(options, io, new SealedPage(output));
      return isComplete || isKeptToTheEnd(args, io) ? 0 : 1;
    }
    if (args.cluster === true) {
      const account = await runClusterDemo(clusterOptions(args), io, new ClusterPage(output));
      return account === null || isWhole(account) ? 0 : 1;
    }
    checkFolder(args.logs ?? defaults.logs);
    const randomness = openRandomness(io);
    const report = createReport(output, randomness.insecure);
    const { shown, isComplete } = await runDemo(optionsFrom(args, io), io, randomness, report);
    if (isKeptToTheEnd(args, io)) return 0;
    return isComplete && shown.every(isAnswered) ? 0 : 1;
  },
});

/** With --keep, Ctrl-C is the normal end, whatever was shown. */
function isKeptToTheEnd({ keep }: Typed, { interrupted }: Io): boolean {
  return keep === true && interrupted.aborted;
}

/** @throws UsageError for a flag that has no meaning here. */
function checkFlags(typed: Typed, where: string, known: readonly string[]): void {
  const other = Object.keys(flags).find((name) => !known.includes(name)
    && typed[name as keyof Typed] !== undefined && typed[name as keyof Typed] !== false);
  if (other === undefined) return;
  throw new UsageError(`--${other} has no meaning with ${where}: leave one of them out`);
}

function sealedOptions(what: string, typed: Typed): SealedDemoOptions {
  if (what !== 'sealed') {
    throw new UsageError(`there is no "keelson demo ${what}": write sealed, or leave it out`);
  }
  checkFlags(typed, 'sealed', ['what', 'contributors', 'liars', 'every', 'keep', 'logs']);
  const logDirectory = typed.logs ?? defaults.logs;
  checkFolder(logDirectory);
  const whole = { whole: true } as const;
  return {
    people: numberFlag(
      typed.contributors, '--contributors', { ...whole, atLeast: 300, atMost: 5000 },
    ) ?? 600,
    corruption: numberFlag(typed.liars, '--liars', { atLeast: 0, atMost: 0.2 })
      ?? defaults.liars,
    epochSeconds: numberFlag(typed.every, '--every', { ...whole, atLeast: 2, atMost: 3600 }) ?? 20,
    keep: typed.keep === true,
    logDirectory,
  };
}

function clusterOptions(typed: Typed): ClusterDemoOptions {
  checkFlags(typed, '--cluster', ['cluster', 'contributors', 'every']);
  const whole = { whole: true } as const;
  return {
    people: numberFlag(typed.contributors, '--contributors', { ...whole, atLeast: 20, atMost: 500 })
      ?? 40,
    epochSeconds: numberFlag(typed.every, '--every', { ...whole, atLeast: 2, atMost: 60 }) ?? 3,
  };
}

/** Checks before the start, because the logs are only written at the end. */
function checkFolder(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isDirectory()) return;
  throw new UsageError(`--logs ${path} is a file: name a folder, or one that can be made`);
}

type Switch = 'keep' | 'cluster';
type Typed = Readonly<Partial<Record<Exclude<keyof typeof flags, Switch>, string | undefined>>>
  & { readonly [Name in Switch]?: boolean | undefined };

function optionsFrom(typed: Typed, io: Io): DemoOptions {
  const { contributors, liars, epochs, every, port } = typed;
  const seconds = numberFlag(every, '--every', { atLeast: 1, atMost: 3600 });
  const asked = {
    contributors:
      numberFlag(contributors, '--contributors', { whole: true, atLeast: 100, atMost: 100_000 }),
    epochMs: seconds === undefined ? undefined : 1000 * seconds,
    epochs: numberFlag(epochs, '--epochs', { whole: true, atLeast: 1, atMost: 1_000 }),
    epsilon: numberFlag(typed.epsilon, '--epsilon', { above: 0, atMost: 20 }) ?? defaults.epsilon,
    studies: demoStudiesCount,
  };
  return {
    ...asked,
    ...fit(asked, io),
    corruption: numberFlag(liars, '--liars', { atLeast: 0, below: 0.5 }) ?? defaults.liars,
    attack: typed.attack ?? 'shift',
    strength: numberFlag(typed.strength, '--strength', { atLeast: 0, atMost: 1e9 }),
    keep: typed.keep === true,
    seed: typed.seed ?? '1',
    port: numberFlag(port, '--port', { whole: true, atLeast: 0, atMost: 65_535 }) ?? defaults.port,
    logDirectory: typed.logs ?? defaults.logs,
  };
}

/** Measures nothing if nothing is left to choose. */
function fit(asked: FitRequest, io: Io): Fit {
  const { contributors, epochMs, epochs } = asked;
  if (contributors !== undefined && epochMs !== undefined && epochs !== undefined) {
    return { contributors, epochMs, epochs };
  }
  return fitDemo(asked, measureHandshakes(io));
}
