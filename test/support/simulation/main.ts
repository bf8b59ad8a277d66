import { parseArgs } from 'node:util';
import { faultKinds, noFaults, rough, shareNames, type FaultRates } from './faults.js';
import { plantNames, plantTrials, type PlantName } from './planted.js';
import {
  replayCommand, simulate, type SimulationOptions, type SimulationResult,
} from './simulate.js';

/* eslint-disable no-console -- a command of developers: what it prints is its purpose. */

const usage =
  `simulate --seed N                       one seed, twice, with its trace hash; --log prints each step
simulate --seeds N [--from N] [--minutes N]   many seeds, until the first failure; the fault counts at the end
simulate --planted [--seeds N]          each planted fault, and the first seed that finds it
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
      minutes: { type: 'string' }, steps: { type: 'string', default: '500' },
      plant: { type: 'string' }, ...shareOptions,
      planted: { type: 'boolean' }, log: { type: 'boolean' }, help: { type: 'boolean' },
    },
  });
  const plant = (values.plant ?? null) as PlantName | null;
  const steps = Number(values.steps);
  const shares = Object.entries(shareNames).map(([name, rate]) =>
    [rate, Number(values[name as keyof typeof shareNames])] as const);
  const rates: FaultRates = { ...rough, ...Object.fromEntries(shares) };
  if (values.help === true || (plant !== null && !plantNames.includes(plant))) {
    console.log(usage);
    return 2;
  }
  if (values.planted === true) return planted(Number(values.seeds ?? 200), steps);
  if (values.seed !== undefined) {
    return one({ seed: Number(values.seed), steps, plant, rates }, values.log === true);
  }
  const untilMs = values.minutes === undefined
    ? Infinity : performance.now() + Number(values.minutes) * 60_000;
  return many(
    Number(values.from), Number(values.seeds ?? (values.minutes === undefined ? 100 : Infinity)),
    { steps, rates }, untilMs,
  );
}

async function one(options: SimulationOptions, log: boolean): Promise<number> {
  const result =
    await simulate({ ...options, ...(log && { log: (line: string) => console.log(line) }) });
  const again = await simulate(options);
  console.log(JSON.stringify(result, null, 2));
  if (again.traceHash !== result.traceHash) {
    console.log(`not deterministic: the second run has trace ${again.traceHash}`);
    return 1;
  }
  return result.failure === null ? 0 : 1;
}

async function many(
  from: number, seeds: number, options: { readonly steps: number; readonly rates: FaultRates },
  untilMs: number,
): Promise<number> {
  const totals = noFaults();
  const checks: Record<string, number> = {};
  let [done, taken, virtualMs] = [0, 0, 0];
  let failed: SimulationResult | null = null;
  for (let seed = from; seed < from + seeds && performance.now() < untilMs; seed++) {
    const result = await simulate({ seed, ...options });
    done += 1;
    taken += result.steps;
    virtualMs += result.virtualMs;
    for (const kind of faultKinds) totals[kind] += result.counts[kind];
    for (const [name, count] of Object.entries(result.checks)) {
      checks[name] = (checks[name] ?? 0) + count;
    }
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
    + `${replayCommand(failed.seed, options.steps, null, options.rates)}`);
  return 1;
}

async function planted(seeds: number, steps: number): Promise<number> {
  let missed = 0;
  const rows: Record<string, { seed: number | string; found: string }> = {};
  for (const plant of plantNames) {
    rows[plant] = { seed: `none of ${seeds}`, found: '' };
    const { lists = 0, ...trials } = { from: 1, steps, ...plantTrials[plant] };
    const rates = { ...rough, lists };
    for (let seed = trials.from; seed < trials.from + seeds; seed++) {
      const { failure } = await simulate({ seed, steps: trials.steps, plant, rates });
      if (failure === null) continue;
      rows[plant] = { seed, found: failure.split('\n')[0]! };
      break;
    }
    if (rows[plant].found === '') missed += 1;
  }
  console.table(rows);
  return missed === 0 ? 0 : 1;
}
