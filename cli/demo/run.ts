import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signing } from '#signing';
import { subscribe } from '../../client/index.js';
import { createFleet, datasetSource, type Fleet } from '../../client/simulation/index.js';
import { createAggregator, type Aggregator } from '../../server/aggregator.js';
import { InlineEpochRunner } from '../../server/epochs/inline-runner.js';
import { createLogger } from '../../server/logger.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { toHex, utf8 } from '../../src/base/bytes.js';
import { loadFlights } from '../data/flights.js';
import type { Io } from '../io.js';
import { openRandomness, type Randomness } from '../noise.js';
import type { DemoReport } from './report.js';
import { scoreRelease, summarise, type Score } from './scoreboard.js';
import { demoStudies, flightsPerContribution, type DemoFacts } from './studies.js';

export interface DemoOptions extends DemoFacts {
  readonly epochs: number;
  readonly attack: string;
  readonly strength: number | undefined;
  /** Same seed: same people, keys and attacks. Noise is always fresh. */
  readonly seed: string;
  readonly port: number;
  /** Where the release logs go. */
  readonly logDirectory: string;
}

/** What a run left behind. */
export interface DemoResult {
  readonly scores: readonly Score[];
  readonly logs: readonly string[];
  readonly serverKey: string;
}

/**
 * The whole job in one process: aggregator on a temporary data folder, honest and hostile contributors over real sockets,
 * and a verifying subscriber per study. Ends after `epochs` releases of each study, or when interrupted.
 */
export async function runDemo(
  options: DemoOptions,
  io: Io,
  report: DemoReport,
  onStart: (aggregator: Aggregator, studies: readonly StudyDefinition[]) => void,
): Promise<DemoResult> {
  const randomness = openRandomness(io);
  const studies = demoStudies(options);
  const folder = mkdtempSync(join(tmpdir(), 'keelson-demo-'));
  const stop = new AbortController();
  io.interrupted.addEventListener('abort', () => stop.abort(), { once: true });
  try {
    const aggregator = await startAggregator(folder, studies, options.port, randomness);
    try {
      onStart(aggregator, studies);
      const fleet = startFleet(aggregator, studies, options, stop.signal);
      const scores = await collect(aggregator, studies, fleet, options.epochs, stop.signal, report);
      fleet.abort();
      const logs = await saveLogs(aggregator, studies, options.logDirectory);
      const summaries = studies.map(({ document }) =>
        summarise(document.study, scores.filter((score) => score.study === document.study)));
      const serverKey = toHex(aggregator.serverKey);
      report.summary(summaries, { serverKey, logs, ...(randomness.insecure && { insecure: true }) });
      return { scores, logs, serverKey };
    } finally {
      stop.abort();
      await aggregator.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startAggregator(
  folder: string, studies: readonly StudyDefinition[], port: number, randomness: Randomness,
): Promise<Aggregator> {
  let releases = 0;
  return createAggregator({
    dataDirectory: folder,
    studies,
    port,
    // Problems only, on standard error: standard output is the demonstration's.
    logger: createLogger({ level: 'error', destination: { write: (line) => void process.stderr.write(line) } }),
    ...(randomness.insecure && {
      runnerFactory: () => new InlineEpochRunner({ noise: () => randomness.noise(`demo release ${releases++}`) }),
    }),
  });
}

function startFleet(
  aggregator: Aggregator, studies: readonly StudyDefinition[], options: DemoOptions, signal: AbortSignal,
): Fleet {
  const { count, columns } = loadFlights();
  const values = new Float64Array(2 * count);
  for (let i = 0; i < count; i++) values.set([columns.delay[i]!, columns.distance[i]!], 2 * i);
  const seed = signing.sha512(utf8(`keelson demo ${options.seed}`)).slice(0, 32);
  return createFleet({
    url: aggregator.address.replace('http', 'ws'),
    studies: studies.map(({ document }) => document.study),
    contributors: options.contributors,
    hostileShare: options.hostileShare,
    attack: options.attack,
    ...(options.strength !== undefined && { strength: options.strength }),
    seed,
    rows: datasetSource({ values, columns: 2, rows: flightsPerContribution, contributors: options.contributors, seed }),
    serverKey: aggregator.serverKey,
    signal,
  });
}

async function collect(
  aggregator: Aggregator, studies: readonly StudyDefinition[], fleet: Fleet, epochs: number, signal: AbortSignal, report: DemoReport,
): Promise<readonly Score[]> {
  const scores: Score[] = [];
  const follow = async ({ document }: StudyDefinition): Promise<void> => {
    const { study } = document;
    const releases = subscribe({ url: aggregator.address, study, serverKey: aggregator.serverKey, signal });
    let left = epochs;
    for await (const { release } of releases) {
      const truth = fleet.truth(study, release.epoch);
      if (truth !== null) {
        const score = scoreRelease(release, document, truth);
        scores.push(score);
        report.release(score);
      }
      left -= 1;
      if (left === 0) return;
    }
  };
  await Promise.race([Promise.all(studies.map(follow)), aggregator.failed]);
  return scores;
}

/** The logs as anybody can download them. */
async function saveLogs(aggregator: Aggregator, studies: readonly StudyDefinition[], directory: string): Promise<readonly string[]> {
  mkdirSync(directory, { recursive: true });
  const paths: string[] = [];
  for (const { document } of studies) {
    const response = await fetch(`${aggregator.address}/v1/releases?study=${encodeURIComponent(document.study)}`);
    const path = join(directory, `${document.study}.log`);
    writeFileSync(path, await response.text());
    paths.push(path);
  }
  return paths;
}
