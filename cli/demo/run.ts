import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { subscribe } from '../../client/index.js';
import { createFleet, datasetSource, type Fleet, type RowSource } from '../../simulation/index.js';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createLogger } from '../../server/base/logger.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { toHex, utf8 } from '../../src/base/bytes.js';
import { loadFlights } from '../data/flights.js';
import type { Io } from '../base/io.js';
import type { Randomness } from '../base/noise.js';
import { connected } from './connecting.js';
import type { DemoReport } from './report.js';
import { HonestAnswers } from './honest.js';
import { plannedErrors, questionsRows, questionsSpread, questionsStudy } from './questions.js';
import { Rounds } from './rounds.js';
import { shownOf, summarise, type Shown } from './scoreboard.js';
import { demoStudies, flightsPerContribution, type DemoFacts } from './studies.js';

/**
 * People send rows in the first part of an epoch, so that rows still arrive in time if the machine
 * stalls.
 */
const paceShare = 0.7;

export interface DemoOptions extends DemoFacts {
  readonly attack: string;
  readonly strength: number | undefined;
  /** The same seed gives the same people, keys and attacks. Noise is always fresh. */
  readonly seed: string;
  readonly port: number;
  /** Continues after the last shown epoch, until it is interrupted. */
  readonly keep: boolean;
  /** Folder for the release logs. */
  readonly logDirectory: string;
}

/** The results of a run. */
export interface DemoResult {
  readonly shown: readonly Shown[];
  /** False if an interrupt, or the end of the budget, came before every epoch was shown. */
  readonly isComplete: boolean;
}

interface DemoConfig {
  readonly options: DemoOptions;
  readonly studies: readonly StudyDefinition[];
  readonly aggregator: Aggregator;
  readonly stop: AbortController;
  readonly report: DemoReport;
  readonly io: Io;
  readonly people: People;
  /** Belongs to the study with several questions. */
  readonly honest: HonestAnswers;
}

/** The people who take part, and their rows. */
interface People {
  readonly seed: Uint8Array;
  readonly rows: RowSource;
}

/**
 * The whole demonstration in one process: an aggregator on a temporary data folder, honest and
 * hostile contributors over real sockets, and a verifying subscriber per study. The first epoch
 * opens when everybody is connected. It ends after `epochs` epochs, or at an interrupt.
 * @throws an error of the aggregator's start, or the error that ended a contributor's session
 *   before it was connected.
 */
export async function runDemo(
  options: DemoOptions, io: Io, randomness: Randomness, report: DemoReport,
): Promise<DemoResult> {
  const studies = demoStudies(options);
  const people = peopleFor(options);
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const stop = new AbortController();
  io.interrupted.addEventListener('abort', () => stop.abort(), { once: true });
  try {
    const aggregator = await startAggregator(folder, studies, options.port, randomness);
    try {
      const pages = new Map(aggregator.hub.studies().map(({ studyId, name }) =>
        [name, `${aggregator.address}/#/study/${studyId}`]));
      const { address, paths: { operatorToken } } = aggregator;
      report.started({ ...options, address, folder, operatorToken, studies, pages });
      const honest = new HonestAnswers(
        studies.find(({ document }) => document.study === questionsStudy)!.document,
      );
      return await perform({ options, studies, aggregator, stop, report, io, people, honest });
    } finally {
      stop.abort();
      await aggregator.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function perform(config: DemoConfig): Promise<DemoResult> {
  const { options, studies, aggregator, report, stop } = config;
  const fleet = startFleet(config);
  const shown: Shown[] = [];
  const rounds =
    new Rounds<Shown>(studies.map(({ document }) => document.study), options.epochs, (round) => {
      shown.push(...round);
      report.round(round);
    });
  await Promise.race([
    Promise.all([gather(fleet, config), collect(config, fleet, rounds)]), aggregator.failed,
  ]);
  if (!options.keep) fleet.abort();
  const logs = await saveLogs(aggregator, studies, options.logDirectory);
  const summaries = studies.map(({ document }) => summarise(document, shown));
  const serverKey = toHex(aggregator.serverKey);
  report.summary(
    summaries, { epochs: options.epochs, lostEpochs: rounds.lostEpochs, serverKey, logs },
  );
  if (options.keep && !stop.signal.aborted) {
    report.kept();
    await Promise.race([aborted(stop.signal), aggregator.failed]);
  }
  fleet.abort();
  return { shown, isComplete: rounds.isDone };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }));
}

async function startAggregator(
  folder: string, studies: readonly StudyDefinition[], port: number, randomness: Randomness,
): Promise<Aggregator> {
  let releases = 0;
  return createAggregator({
    dataDirectory: folder,
    studies,
    strict: true,
    port,
    held: true,
    // Only errors, on standard error: standard output belongs to the demonstration.
    logger: createLogger({
      level: 'error', destination: { write: (line) => void process.stderr.write(line) },
    }),
    ...(randomness.insecure && {
      runnerFactory: () =>
        new InlineEpochRunner({ noise: () => randomness.noise(`demo release ${releases++}`) }),
    }),
  });
}

function peopleFor({ seed: text, contributors }: DemoOptions): People {
  const flights = loadFlights();
  const { count, columns } = flights;
  const values = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) {
    values[2 * i] = columns.delay[i]!;
    values[2 * i + 1] = columns.distance[i]!;
  }
  const seed = signing.sha512(utf8(`keelson demo ${text}`)).slice(0, 32);
  // The same seed deals the same flights to a person in every study.
  const deal = (data: { readonly values: Float64Array; readonly columns: number }): RowSource =>
    datasetSource({ ...data, rows: flightsPerContribution, contributors, seed });
  const ofMeans = deal({ values, columns: 2 });
  const ofQuestions = deal(questionsRows(flights));
  return {
    seed,
    rows: (contributor, epoch, study) =>
      (study === questionsStudy ? ofQuestions : ofMeans)(contributor, epoch, study),
  };
}

function startFleet(
  { options, studies, aggregator, stop, people, honest }: DemoConfig,
): Fleet {
  return createFleet({
    ...people,
    url: aggregator.address.replace('http', 'ws'),
    studies: studies.map(({ document }) => document.study),
    contributors: options.contributors,
    corruption: options.corruption,
    attack: options.attack,
    ...(options.strength !== undefined && { strength: options.strength }),
    onAccepted: (study, epoch, _, isHostile, sent) => {
      if (study === questionsStudy && !isHostile) honest.add(epoch, sent);
    },
    spread: { [questionsStudy]: questionsSpread },
    paceShare,
    serverKey: aggregator.serverKey,
    signal: stop.signal,
  });
}

/** Waits for the fleet, then opens the first epoch. An interrupt in between is not an error. */
async function gather(
  fleet: Fleet, { options, studies, aggregator, report, stop, io }: DemoConfig,
): Promise<void> {
  try {
    report.ready((await connected(fleet, options.contributors, studies.length, io)) / 1000);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
    return;
  }
  const { hub } = aggregator;
  await Promise.all(hub.studies().map(({ studyId }) => hub.startStudy(studyId)));
}

/** Follows all studies until there are enough rounds, or no more come. */
async function collect(
  { options, studies, aggregator, stop, honest }: DemoConfig, fleet: Fleet, rounds: Rounds<Shown>,
): Promise<void> {
  const enough = new AbortController();
  const signal = AbortSignal.any([enough.signal, stop.signal]);
  const follow = async (definition: StudyDefinition): Promise<void> => {
    const { document, document: { study } } = definition;
    const { address: url, serverKey } = aggregator;
    for await (const { release } of subscribe({ url, study, serverKey, signal })) {
      const truth = fleet.truth(study, release.epoch);
      rounds.add(study, release.epoch, truth === null
        ? null : shownOf(release, document, truth, () => ({
          honest: honest.of(release.epoch),
          plannedErrors: plannedErrors(definition, options.corruption),
        })));
      if (rounds.isDone) enough.abort();
    }
  };
  await Promise.all(studies.map(follow));
}

/** Saves the logs in the form that anybody can download. */
async function saveLogs(
  aggregator: Aggregator, studies: readonly StudyDefinition[], directory: string,
): Promise<readonly string[]> {
  mkdirSync(directory, { recursive: true });
  const paths: string[] = [];
  for (const { document } of studies) {
    const response = await fetch(`${aggregator.address}/v1/releases?study=`
      + `${encodeURIComponent(document.study)}`);
    const path = join(directory, `${document.study}.log`);
    writeFileSync(path, await response.text());
    paths.push(path);
  }
  return paths;
}
