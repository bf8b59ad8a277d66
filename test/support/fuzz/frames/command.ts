import { startCoverage } from '../coverage.js';
import { framesPerWorld, fuzzWorld } from './run.js';
import { Tally } from './tally.js';

/* eslint-disable no-console -- see main.ts. */

/** Where coverage is looked at. */
const fuzzed = ['server/listener', 'server/studies', 'server/store', 'src/wire', 'src/signing'];

export interface FramesOptions {
  readonly seed: number;
  readonly frames: number;
  readonly minutes: number;
  readonly coverage: boolean;
}

/**
 * Worlds one after the other, each from its own seed, with a line now and then. @returns the exit
 * status.
 */
export async function fuzzFrames(
  { seed, frames, minutes, coverage }: FramesOptions,
): Promise<number> {
  const tally = new Tally();
  const stopCoverage = coverage ? await startCoverage() : undefined;
  // Most frames are refused, and each refusal is an error whose stack nobody reads.
  Error.stackTraceLimit = 0;
  const startedMs = performance.now();
  const untilMs = startedMs + minutes * 60_000;
  let world = seed;
  let saidMs = startedMs;
  while (tally.frames < frames && performance.now() < untilMs) {
    try {
      await fuzzWorld(world, Math.min(framesPerWorld, frames - tally.frames), tally);
    } catch (error) {
      console.log(`world ${world} broke:`, error);
      console.log(`replay: npm run fuzz:frames -- --seed ${world} --frames ${framesPerWorld}`);
      return 1;
    }
    world += 1;
    if (performance.now() < saidMs + 30_000) continue;
    saidMs = performance.now();
    console.log(progress(tally, startedMs));
  }
  console.log(`seeds ${seed} to ${world - 1}\n${progress(tally, startedMs)}`);
  print('outcome', tally.outcomes);
  print('recipe', tally.recipes);
  if (stopCoverage !== undefined) console.log(await stopCoverage(fuzzed));
  return 0;
}

function progress(tally: Tally, startedMs: number): string {
  const seconds = (performance.now() - startedMs) / 1_000;
  const memory = process.memoryUsage();
  const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  return [
    new Date().toISOString(), `${tally.frames} frames`, `${(tally.frames / seconds).toFixed(0)}/s`,
    `${(process.cpuUsage().user / tally.frames).toFixed(1)} us CPU each`,
    `${(100 * tally.passedSignature / tally.frames).toFixed(1)} % past the signature check`,
    `${tally.welcomes} chains of keys`, `${tally.sessions} sessions, ${tally.worlds} servers`,
    `slowest burst ${tally.slowestMs.toFixed(0)} ms`,
    `rss ${mebibytes(memory.rss)} (most ${mebibytes(tally.rssPeakBytes)}), heap `
      + `${mebibytes(memory.heapUsed)} MiB`,
  ].join(', ');
}

function print(what: string, counts: ReadonlyMap<string, number>): void {
  const width = Math.max(...[...counts.keys()].map((name) => name.length));
  console.log(`\n${what.padEnd(width)}       count`);
  for (const [name, count] of [...counts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    console.log(`${name.padEnd(width)}  ${String(count).padStart(10)}`);
  }
}
