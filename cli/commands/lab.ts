import type { ArgsDef } from 'citty';
import { signing } from '#signing';
import { attackNames, findAttack, type Fleet } from '../../simulation/index.js';
import { defineCommand } from '../base/command.js';
import { connected } from '../demo/connecting.js';
import { fitDemo, measureHandshakes } from '../demo/fit.js';
import { UsageError } from '../base/errors.js';
import { KeelsonError } from '../../src/base/errors.js';
import type { Io } from '../base/io.js';
import { breakdown, breakdownTable } from '../lab/breakdown.js';
import { attacksOn, labData, type LabData } from '../lab/data.js';
import { labFiles } from '../lab/files.js';
import type { Round } from '../lab/rounds.js';
import { runLab, type LabOptions } from '../lab/run.js';
import { Script, type Setting } from '../lab/setting.js';
import { labPeople, labStudies, usualEstimators, type LabFacts } from '../lab/studies.js';
import { LabSession } from '../lab/session.js';
import { serveLab } from '../lab/web.js';
import { refuseInsecureSeed } from '../base/noise.js';
import { listFlag, numberFlag } from '../base/numbers.js';
import type { Output } from '../base/output.js';

const defaults = {
  contributors: 4000, epsilon: 2, corruption: 0.1, epochs: 1, port: 0, page: 8790,
  shares: [0, 0.05, 0.1, 0.2],
} as const;
const usual = (of: (data: LabData) => readonly string[], most: number): string => {
  const texts = labData.map((data) => of(data).slice(0, most).join(','));
  return `${texts[0]!}; for rides ${texts.at(-1)!}`;
};
const attacksNamed = (data: LabData): readonly string[] => attacksOn(data).map(({ name }) => name);

const text = (valueHint: string, description: string) =>
  ({ type: 'string', valueHint, description }) as const;

const flags = {
  data: {
    type: 'enum', options: labData.map(({ name }) => name),
    description: 'what honest people hold (default flights)',
  },
  estimators:
    text('a,b', `private estimators to compare (default ${usual(usualEstimators, Infinity)})`),
  attack:
    text('a,b', `attacks to play, or all that suit the data (default ${usual(attacksNamed, 1)}): `
      + attackNames.join(', ')),
  liars: text(
    'a,b', `fractions of liars to play, below 0.5 (default ${defaults.shares.join(',')})`,
  ),
  admission: {
    type: 'enum', options: ['open', 'enrolment'],
    description: 'whose rows the studies take: anybody\'s, or those of people with a token, of '
      + 'which a Sybil has one (default open)',
  },
  epochs: text('n', 'no page: play so many epochs of each attack and share, then end (default with '
    + `--json ${defaults.epochs})`),
  contributors: text('n', 'simulated people (default: as many as suit this machine, up to '
    + `${defaults.contributors})`),
  every: text('seconds', 'length of an epoch (default: what suits this machine, at least 4)'),
  epsilon: text('e', `of each release, at delta 1e-6 (default ${defaults.epsilon})`),
  corruption: text('fraction', 'fraction of liars that robust estimators are planned for '
    + `(default ${defaults.corruption})`),
  seed: text('text', 'people and attacks follow from it; the noise never does (default 1)'),
  port: text('port', 'where the aggregator listens (default: any free port)'),
  page: text(
    'port', `where the page is, on this machine only (default ${defaults.page}; 0: any free port)`,
  ),
} satisfies ArgsDef;

export const lab = defineCommand({
  name: 'lab',
  summary: 'Attack real studies with simulated liars, and see which estimators hold.',
  details: [
    'It shows a page on which you choose what the liars do, and see the effect on every answer. '
    + 'With --epochs or --json there is no page: it plays every attack at every share in turn, '
    + 'and prints a table of errors.',
    'It starts an aggregator with one study per estimator and the same people in all of them. In '
    + 'every epoch a share of them attacks. The private answers are what the server released. The '
    + 'lab computes three answers without privacy from its own people\'s rows: the mean of all, '
    + 'the median of each column, and a robust filter. Errors are Euclidean distances from the '
    + 'honest mean, in units of spread. With --data rides the studies answer by group, and the lab '
    + 'computes their plain counts, sums and means; each error is in the unit of its own promise. '
    + 'Brackets hold the error that the plan promised before any '
    + 'row, and ! marks an error of more than twice that. Without a page, a round is repeated if '
    + 'too many honest people were late, because the machine was too slow for it.',
  ],
  args: flags,
  examples: [
    'keelson lab',
    'keelson lab --attack shift,direction --liars 0.05,0.1 --epochs 1',
    'keelson lab --json --attack all --epochs 3',
  ],
  stopsGently: true,
  async run({ args, io, output }) {
    refuseInsecureSeed(io, 'lab');
    if (args.epochs === undefined && !output.isJson) return playWithPage(args, io, output);
    if (args.page !== undefined) {
      throw new UsageError(
        '--page is the port of a page, and with --epochs or --json there is none: leave it out',
      );
    }
    const { options, perSetting } = scriptFrom(args, io);
    const rounds: Round[] = [];
    await runLab(options, {
      started: ({ address }) => output.note(`aggregator at ${address}; ${options.rounds} rounds of `
        + `${options.epochMs / 1000} s, ${perSetting} of each attack and share`),
      gathering: (fleet) => gather(fleet, options, io, output),
      round: (round) => {
        rounds.push(round);
        output.jsonLine({ type: 'round', ...round });
        output.note(`round ${rounds.length} of ${options.rounds}: ${round.setting.attack}, `
          + `${100 * round.setting.corruption} % hostile`);
      },
      spoiled: ({ attack, corruption }, honest, expected) => output.note(
        `${attack} with ${100 * corruption} % hostile is played again: ${honest} of ${expected} `
        + 'honest people were in time. Longer epochs (--every) or fewer people (--contributors) '
        + 'suit this machine better',
      ),
    });
    const rows = breakdown(rounds);
    output.jsonLine({ type: 'breakdown', rows });
    const { head, lines } = breakdownTable(rows);
    output.table(head, lines);
    return rounds.length === options.rounds ? 0 : 1;
  },
});

async function gather(fleet: Fleet, options: LabOptions, io: Io, output: Output): Promise<void> {
  const { contributors, studies } = options;
  const milliseconds = await connected(fleet, contributors, studies.length, io);
  output.note(`${contributors} people connected after ${(milliseconds / 1000).toFixed(1)} s`);
}

type Typed = Readonly<Partial<Record<keyof typeof flags, string | undefined>>>;

const share = { atLeast: 0, below: 0.5 } as const;

/** Serves the page until it is interrupted. */
async function playWithPage(typed: Typed, io: Io, output: Output): Promise<0> {
  const { data, contributors, epsilon, ...facts } = factsFrom(typed, io);
  const [attack] = attacksOf(typed.attack, data);
  const [corruption = 0.1] = sharesOf(typed.liars) ?? [];
  const session = new LabSession({
    ...facts,
    scene: {
      data: data.name, estimators: estimatorsOf(typed.estimators, data), contributors, epsilon,
    },
    setting: { attack: attack!, corruption },
    ...placeFrom(typed, io),
  });
  const port = numberFlag(typed.page, '--page', { whole: true, atLeast: 0, atMost: 65_535 })
    ?? defaults.page;
  const web = await serveLab(session, labFiles(), '127.0.0.1', port);
  output.text(`the laboratory is at ${web.address} until you press Ctrl-C`);
  try {
    await session.play();
  } finally {
    await web.close();
  }
  return 0;
}

/** Fits all missing values to the machine, with enough people for every requested estimator. */
function factsFrom(typed: Typed, io: Io): LabFacts {
  const contributors = numberFlag(
    typed.contributors, '--contributors', { whole: true, ...labPeople },
  );
  const seconds = numberFlag(typed.every, '--every', { atLeast: 1, atMost: 3600 });
  const epsilon = numberFlag(typed.epsilon, '--epsilon', { above: 0, atMost: 20 })
    ?? defaults.epsilon;
  const facts = {
    data: labData.find(({ name }) => name === (typed.data ?? labData[0]!.name))!,
    epsilon,
    promise: numberFlag(typed.corruption, '--corruption', share) ?? defaults.corruption,
    ...(typed.admission === 'enrolment'
      && { issuer: signing.createSigner(signing.generateSeed()) }),
  };
  const epochMs = seconds === undefined ? undefined : 1000 * seconds;
  if (contributors !== undefined && epochMs !== undefined) {
    return { ...facts, contributors, epochMs };
  }
  const estimators = estimatorsOf(typed.estimators, facts.data);
  const speed = measureHandshakes(io);
  const asked = {
    epochMs, epochs: 1, epsilon, studies: estimators.length,
    contributorsMost: defaults.contributors,
  };
  let fit = fitDemo({ ...asked, contributors }, speed);
  while (contributors === undefined && fit.contributors < defaults.contributors
      && !canPlan({ ...facts, ...fit }, estimators)) {
    const more = Math.min(defaults.contributors, Math.ceil(1.5 * fit.contributors));
    fit = fitDemo({ ...asked, contributors: more }, speed);
  }
  return { ...facts, contributors: fit.contributors, epochMs: fit.epochMs };
}

function canPlan(facts: LabFacts, estimators: readonly string[]): boolean {
  try {
    labStudies(facts, estimators);
    return true;
  } catch (error) {
    if (error instanceof KeelsonError && error.code === 'plan-infeasible') return false;
    throw error;
  }
}

function placeFrom(typed: Typed, io: Io) {
  return {
    seed: typed.seed ?? '1',
    host: '127.0.0.1',
    port: numberFlag(typed.port, '--port', { whole: true, atLeast: 0, atMost: 65_535 })
      ?? defaults.port,
    signal: io.interrupted,
  };
}

function sharesOf(typed: string | undefined): readonly number[] | undefined {
  return listFlag(typed, '--liars')?.map((one) => numberFlag(one, '--liars', share));
}

function estimatorsOf(typed: string | undefined, data: LabData): readonly string[] {
  const names = listFlag(typed, '--estimators') ?? usualEstimators(data);
  if (new Set(names).size < names.length) {
    throw new UsageError('--estimators names one of them twice');
  }
  return names;
}

function scriptFrom(typed: Typed, io: Io): {
  readonly options: LabOptions; readonly perSetting: number;
} {
  const facts = factsFrom(typed, io);
  const perSetting = numberFlag(typed.epochs, '--epochs', { whole: true, atLeast: 1, atMost: 1000 })
    ?? defaults.epochs;
  const shares = sharesOf(typed.liars) ?? defaults.shares;
  const script = attacksOf(typed.attack, facts.data).flatMap((attack) =>
    shares.flatMap((corruption) =>
      Array.from({ length: perSetting }, (): Setting => ({ attack, corruption }))));
  return {
    perSetting,
    options: {
      ...facts,
      studies: labStudies(facts, estimatorsOf(typed.estimators, facts.data)),
      director: new Script(script),
      rounds: script.length,
      ...placeFrom(typed, io),
    },
  };
}

function attacksOf(typed: string | undefined, data: LabData): readonly string[] {
  const named = listFlag(typed, '--attack') ?? attacksNamed(data).slice(0, 1);
  if (named.includes('all')) return attacksNamed(data);
  for (const name of named) findAttack(name);
  return named;
}
