import { startCoverage } from '../coverage.js';
import { FileTally, fuzzFile, readSamples, type FileKind } from './run.js';

/* eslint-disable no-console -- see main.ts. */

export interface FilesOptions {
  readonly seed: number;
  readonly files: number;
  readonly minutes: number;
  readonly coverage: boolean;
  /** The project's folder. */
  readonly root: string;
}

const fuzzed = ['cli/input', 'server/study-file', 'src/log'];
/** Study files are planned, which takes a hundred times as long as reading a table. */
const cheap = ['csv', 'ndjson', 'npy', 'parquet', 'arrow', 'log', 'csv', 'npy'] as const;
const kindOf = (seed: number): FileKind =>
  (seed % 64 === 0 ? 'study' : cheap[seed % cheap.length]!);

/** One file per seed. @returns the exit status. */
export async function fuzzFiles(
  { seed, files, minutes, coverage, root }: FilesOptions,
): Promise<number> {
  const samples = await readSamples(root);
  const tally = new FileTally();
  const stopCoverage = coverage ? await startCoverage() : undefined;
  Error.stackTraceLimit = 3;
  const startedMs = performance.now();
  let saidMs = startedMs;
  for (let at = seed; at < seed + files && performance.now() < startedMs + minutes * 60_000; at++) {
    const kind = kindOf(at);
    try {
      await fuzzFile(kind, at, samples, tally);
    } catch (error) {
      console.log(`${kind} file ${at} broke:`, error);
      console.log(`replay: npm run fuzz:files -- --seed ${at} --files 1`);
      return 1;
    }
    if (performance.now() < saidMs + 30_000) continue;
    saidMs = performance.now();
    console.log(progress(tally, startedMs));
  }
  console.log(progress(tally, startedMs));
  for (const [name, count] of [...tally.outcomes].sort(([left], [right]) =>
    (left < right ? -1 : 1))) {
    console.log(`${name.padEnd(34)} ${String(count).padStart(9)}`);
  }
  if (stopCoverage !== undefined) console.log(await stopCoverage(fuzzed));
  return 0;
}

function progress(tally: FileTally, startedMs: number): string {
  const seconds = (performance.now() - startedMs) / 1_000;
  const { rss, heapUsed } = process.memoryUsage();
  return `${new Date().toISOString()}, ${tally.files} files, `
    + `${(tally.files / seconds).toFixed(0)}/s, slowest ${tally.slowestMs.toFixed(0)} ms `
    + `(${tally.slowest}), rss ${(rss / 2 ** 20).toFixed(0)}, heap `
    + `${(heapUsed / 2 ** 20).toFixed(0)} MiB`;
}
