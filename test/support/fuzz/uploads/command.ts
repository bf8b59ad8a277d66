import { Tally } from '../frames/tally.js';
import { fuzzUploads } from './run.js';

/* eslint-disable no-console -- see main.ts. */

/** How many requests one server lives for. */
const requestsPerWorld = 500;

export interface RequestsOptions {
  readonly seed: number;
  readonly requests: number;
  readonly minutes: number;
}

/** Servers one after the other, each from its own seed. @returns the exit status. */
export async function fuzzRequests(
  { seed, requests, minutes }: RequestsOptions,
): Promise<number> {
  const tally = new Tally();
  const untilMs = performance.now() + minutes * 60_000;
  let world = seed;
  while (tally.frames < requests && performance.now() < untilMs) {
    try {
      await fuzzUploads(world, Math.min(requestsPerWorld, requests - tally.frames), tally);
    } catch (error) {
      console.log(`world ${world} broke:`, error);
      console.log(`replay: npm run fuzz:uploads -- --seed ${world} --requests ${requestsPerWorld}`);
      return 1;
    }
    world += 1;
  }
  console.log(`seeds ${seed} to ${world - 1}: ${tally.frames} requests`);
  console.table(Object.fromEntries([...tally.outcomes].sort()));
  return 0;
}
