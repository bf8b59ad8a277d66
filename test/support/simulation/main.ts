import { parseArgs } from 'node:util';
import { roughCluster, type ClusterRates } from './cluster/faults.js';
import { clusterPlantNames, type ClusterPlantName } from './cluster/plants.js';
import { clusterSteps, replayClusterCommand, simulateCluster } from './cluster/simulate.js';
import { rough, shareNames, type FaultRates } from './faults.js';
import { plantNames, plantTrials, type PlantName } from './planted.js';
import { replayCommand, simulate, type SimulationResult } from './simulate.js';

/* eslint-disable no-console -- a command of developers: what it prints is its purpose. */

const usage =
  `simulate --seed N                       one seed, twice, with its trace hash; --log prints each step
simulate --seeds N [--from N] [--minutes N]   many seeds, until the first failure; the fault counts at the end
simulate --planted [--seeds N]          each planted fault, and the first seed that finds it
simulate --cluster ...                  the same with several servers on one database;
  --steps ${clusterSteps} by default, and --plant NAME is one of ${clusterPlantNames.join(', ')}
Everywhere: --steps N (500), --withdraw P (chance that a contributor takes rows back, at each thought; ${rough.withdraw}),
  --change-key P (chance that the server's key is changed before it starts again; ${rough.changeKey}),
  --broken-study P (chance that a start is asked for a study that contradicts the store; ${rough.brokenStudy}),
  --wrong-clock P (chance that the clock is hours ahead at a start; ${rough.wrongClock}),
  --budgets P (share of worlds whose budget has another rule, renews or is soon used up; ${rough.budgets}),
  --lists P (share of worlds whose studies list questions; ${rough.lists}), --plant NAME (${plantNames.join(', ')})`;

const shareOptions = Object.fromEntries(Object.entries(shareNames).map(([name, rate]) =>
  [name, { type: 'string', default: String(rough[rate]) }])) as
  Record<keyof typeof shareNames, { readonly type: 'string'; readonly default: string }>;

/**
 * The command behind `npm run simulate`. @returns the exit code: 1 when a promise was broken, 2 for
 * usage.
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' }, seeds: { type: 'string' }, from: { type: 'string', default: '1' },
      minutes: { type: 'string' }, steps: { type: 'string' },
      plant: { type: 'string' }, ...shareOptions,
      cluster: { type: 'boolean' }, planted: { type: 'boolean' }, log: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const shares = Object.fromEntries(Object.entries(shareNames).map(([name, rate]) =>
    [rate, Number(values[name as keyof typeof shareNames])])) as Partial<FaultRates>;
  const kind = values.cluster === true ? clusterKind(shares) : serverKind(shares);
  const plant = values.plant ?? null;
  const steps = values.steps === undefined ? kind.steps : Number(values.steps);
  if (values.help === true || (plant !== null && !kind.plants.includes(plant))) {
    console.log(usage);
    return 2;
  }
  if (values.planted === true) return planted(kind, Number(values.seeds ?? 200));
  if (values.seed !== undefined) {
    return one(kind, { seed: Number(values.seed), steps, plant }, values.log === true);
  }
  const untilMs = values.minutes === undefined
    ? Infinity : performance.now() + Number(values.minutes) * 60_000;
  return many(
    kind, Number(values.from),
    Number(values.seeds ?? (values.minutes === undefined ? 100 : Infinity)), steps, untilMs,
  );
}

type AnyResult = SimulationResult<Readonly<Record<string, number>>>;

interface Run {
  readonly seed: number;
  readonly steps: number;
  readonly plant: string | null;
  readonly log?: (line: string) => void;
}

/** A kind of world: one server, or several. */
interface Kind {
  readonly steps: number;
  readonly plants: readonly string[];
  run(options: Run): Promise<AnyResult>;
  /** Where to look for a planted fault. */
  trials(plant: string): {
    readonly from: number; readonly steps: number; readonly rates?: Partial<FaultRates>;
  };
  /** The same kind with other rates. */
  withRates(rates: Partial<FaultRates>): Kind;
  replay(seed: number, steps: number): string;
}

function serverKind(shares: Partial<FaultRates>): Kind {
  const rates: FaultRates = { ...rough, ...shares };
  return {
    steps: 500, plants: plantNames,
    run: ({ plant, ...options }) =>
      simulate({ ...options, plant: plant as PlantName | null, rates }),
    trials: (plant) => ({ from: 1, steps: 500, ...plantTrials[plant as PlantName] }),
    withRates: (changed) => serverKind({ ...shares, ...changed }),
    replay: (seed, steps) => replayCommand(seed, steps, null, rates),
  };
}

function clusterKind(shares: Partial<FaultRates>): Kind {
  const rates: ClusterRates = { ...roughCluster, ...shares };
  return {
    steps: clusterSteps, plants: clusterPlantNames,
    run: ({ plant, ...options }) =>
      simulateCluster({ ...options, plant: plant as ClusterPlantName | null, rates }),
    trials: () => ({ from: 1, steps: clusterSteps }),
    withRates: (changed) => clusterKind({ ...shares, ...changed }),
    replay: replayClusterCommand,
  };
}

async function one(kind: Kind, options: Run, log: boolean): Promise<number> {
  const result =
    await kind.run({ ...options, ...(log && { log: (line: string) => console.log(line) }) });
  const again = await kind.run(options);
  console.log(JSON.stringify(result, null, 2));
  if (again.traceHash !== result.traceHash) {
    console.log(`not deterministic: the second run has trace ${again.traceHash}`);
    return 1;
  }
  return result.failure === null ? 0 : 1;
}

async function many(
  kind: Kind, from: number, seeds: number, steps: number, untilMs: number,
): Promise<number> {
  const totals: Record<string, number> = {};
  const checks: Record<string, number> = {};
  const add = (sums: Record<string, number>, more: Readonly<Record<string, number>>): void => {
    for (const [name, count] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + count;
  };
  let [done, taken, virtualMs] = [0, 0, 0];
  let failed: AnyResult | null = null;
  for (let seed = from; seed < from + seeds && performance.now() < untilMs; seed++) {
    const result = await kind.run({ seed, steps, plant: null });
    done += 1;
    taken += result.steps;
    virtualMs += result.virtualMs;
    add(totals, result.counts);
    add(checks, result.checks);
    if (done % 100 === 0) console.log(`${done} seeds, ${taken} steps, ${JSON.stringify(totals)}`);
    if (result.failure !== null) {
      failed = result;
      break;
    }
  }
  console.log(
    `${done} seeds from ${from}, ${taken} steps, ${(virtualMs / 1000).toFixed(0)} virtual seconds`,
  );
  console.table(totals);
  console.table(checks);
  if (failed === null) return 0;
  console.log(`seed ${failed.seed} failed: ${failed.failure}\nreplay: `
    + `${kind.replay(failed.seed, steps)}`);
  return 1;
}

async function planted(kind: Kind, seeds: number): Promise<number> {
  let missed = 0;
  const rows: Record<string, { seed: number | string; found: string }> = {};
  for (const plant of kind.plants) {
    rows[plant] = { seed: `none of ${seeds}`, found: '' };
    const { rates = {}, from, steps } = kind.trials(plant);
    const worlds = kind.withRates(rates);
    for (let seed = from; seed < from + seeds; seed++) {
      const { failure } = await worlds.run({ seed, steps, plant });
      if (failure === null) continue;
      rows[plant] = { seed, found: failure.split('\n')[0]! };
      break;
    }
    if (rows[plant].found === '') missed += 1;
  }
  console.table(rows);
  return missed === 0 ? 0 : 1;
}
