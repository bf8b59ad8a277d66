import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { signing } from '../../../src/signing/node.js';
import { Chance } from './chance.js';
import { rough, shareNames, type FaultCounts, type FaultRates } from './faults.js';
import { BrokenPromise, type Model } from './model.js';
import type { PlantName } from './planted.js';
import { settled, type Scheduler } from './scheduler.js';
import { World } from './world.js';

export interface SimulationOptions {
  readonly seed: number;
  /** Steps under faults; more follow, without faults, until all is settled. Default 500. */
  readonly steps?: number;
  /** Default: everything, often. */
  readonly rates?: FaultRates;
  readonly plant?: PlantName | null;
  /** Gets every step. */
  readonly log?: (line: string) => void;
}

export interface SimulationResult<Counts = FaultCounts> {
  readonly seed: number;
  /** Null when every promise held. */
  readonly failure: string | null;
  readonly steps: number;
  readonly virtualMs: number;
  /** Equal for equal seeds: of every step, verdict, acknowledgement and published byte. */
  readonly traceHash: string;
  readonly counts: Counts;
  readonly checks: { readonly [name: string]: number };
}

/** Virtual time and steps within which a world without faults must have settled everything. */
const settleMs = 30_000;
const settleSteps = 30_000;

/** What is run: servers, a network and everybody else, all from one seed. */
export interface SimulatedWorld<Counts> {
  readonly scheduler: Scheduler;
  readonly model: Model;
  readonly counts: Counts;
  readonly broken: unknown;
  /** Makes everybody; the first step is still to come. */
  begin(): Promise<void>;
  /** From now on nobody begins anything, and nothing fails. */
  quiet(): void;
  openEpochs(): Map<string, bigint>;
  /** Null when all is as it should be once faults have stopped. */
  unfinished(target: ReadonlyMap<string, bigint>): string | null;
  /** The chain of every study, as one that trusts the first key reads it. */
  verifyLogs(): Promise<void>;
  end(): void;
}

/** Runs one world of one server from its seed. */
export function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const { seed, rates = rough, plant = null } = options;
  return runWorld(options, (onNote) => new World(seed, rates, plant, onNote));
}

/**
 * The stream from which the code of a world draws nonces, secrets of keys, and seeds of work. What
 * else runs in this process draws from the system, and takes nothing of it: a listener of another
 * test makes a key share every five minutes.
 */
const secretsOfWorld = new AsyncLocalStorage<Chance>();

/**
 * Runs a world. Nothing in it depends on time, threads, or anything but the seed.
 * @param make makes the world; `onNote` gets every fact.
 */
export async function runWorld<Counts>(
  options: Pick<SimulationOptions, 'seed' | 'steps' | 'log'>,
  make: (onNote: (text: string) => void) => SimulatedWorld<Counts>,
): Promise<SimulationResult<Counts>> {
  const real = { ...signing };
  const randomBytes = (length: number): Uint8Array =>
    secretsOfWorld.getStore()?.bytes(length) ?? real.randomBytes(length);
  Object.assign(signing, { randomBytes, generateSeed: () => randomBytes(32) });
  try {
    const secrets = Chance.of(options.seed).fork('secrets');
    return await secretsOfWorld.run(secrets, () => runSteps(options, make));
  } finally {
    Object.assign(signing, real);
  }
}

async function runSteps<Counts>(
  { seed, steps = 500, log }: Pick<SimulationOptions, 'seed' | 'steps' | 'log'>,
  make: (onNote: (text: string) => void) => SimulatedWorld<Counts>,
): Promise<SimulationResult<Counts>> {
  const world = make((text) => log?.(`  ${text}`));
  let taken = 0;
  let failure: string | null = null;
  const trace = createHash('sha256');
  const step = async (): Promise<boolean> => {
    const label = world.scheduler.step();
    if (label === null) return false;
    taken += 1;
    trace.update(`${world.scheduler.nowMs.toFixed(6)} ${label}\n`);
    log?.(`${world.scheduler.nowMs.toFixed(3)} ${label}`);
    await settled();
    return world.broken === null;
  };
  try {
    await world.begin();
    await settled();
    while (taken < steps && await step()) { /* The world goes on. */ }
    if (world.broken === null) {
      world.quiet();
      failure = await settle(world, step);
      if (failure === null && world.broken === null) await world.verifyLogs();
    }
    if (world.broken !== null) failure = textOf(world.broken);
  } catch (error) {
    failure = textOf(error);
  } finally {
    world.end();
  }
  trace.update(world.model.trace.digest());
  return {
    seed, failure, steps: taken, virtualMs: world.scheduler.nowMs, traceHash: trace.digest('hex'),
    counts: world.counts, checks: world.model.checks,
  };
}

/**
 * Liveness: after faults, epochs that were open end, everybody gets an answer, subscribers get
 * every release.
 */
async function settle(
  world: SimulatedWorld<unknown>, step: () => Promise<boolean>,
): Promise<string | null> {
  const untilMs = world.scheduler.nowMs + settleMs;
  let target = world.openEpochs();
  let left: string | null = 'nothing happened';
  for (let count = 0; count < settleSteps && world.scheduler.nowMs < untilMs; count++) {
    if (!await step()) return world.broken === null ? `stuck: ${left}` : null;
    // A server that was down says now which epoch is open.
    if ([...target.values()].includes(0n)) target = world.openEpochs();
    left = world.unfinished(target);
    if (left === null) return null;
  }
  return `not settled ${settleMs} ms after the last fault: ${left}`;
}

function textOf(error: unknown): string {
  if (error instanceof BrokenPromise) return error.message;
  return error instanceof Error
    ? `${error.name}: ${error.message}\n${error.stack ?? ''}` : String(error);
}

/** What to type to see it again. */
export function replayCommand(
  seed: number, steps: number, plant: PlantName | null = null, rates = rough,
): string {
  const others = Object.entries(shareNames).filter(([, rate]) => rates[rate] !== rough[rate])
    .map(([name, rate]) => ` --${name} ${rates[rate]}`);
  const rest = `${plant === null ? '' : ` --plant ${plant}`}${others.join('')}`;
  return `npm run simulate -- --seed ${seed} --steps ${steps}${rest}`;
}
