import { utf8 } from '../base/bytes.js';
import { inlineCompute } from '../estimators/compute.js';
import type { FinishedSummaries, Plan } from '../estimators/contract.js';
import { createGroups, ticketBytes } from '../estimators/run.js';
import type { MechanismEvent } from '../privacy/events.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';
import { createMechanisms } from '../privacy/mechanisms/index.js';
import type { NoiseSource } from '../random/source.js';
import { seededWork } from '../random/work.js';
import type { Contributors, NeighbourPair, OutputBlock, Side, TrialPool, TrialRequest } from './contract.js';
import { outputWidth, writeOutput } from './outputs.js';

/** The estimator under audit. */
export interface TrialSubject {
  readonly plan: Plan;
  readonly dimension: number;
  /** How a release gets its mechanisms: `createMechanisms` unless a test plants a defect. */
  readonly mechanisms?: (events: readonly MechanismEvent[], noise: NoiseSource) => Mechanisms;
}

/** Runs trials of one subject on one thread. Summaries of a side are finished once: they hold no noise. */
export class TrialRunner {
  readonly #prepared = new Map<string, FinishedSummaries>();
  readonly #compute = inlineCompute();

  constructor(private readonly subject: TrialSubject) {}

  /** Fresh noise for every trial; O(trials * release). */
  async run({ pair, side, trials }: Omit<TrialRequest, 'label'>, noise: NoiseSource): Promise<OutputBlock> {
    const { plan, mechanisms = createMechanisms } = this.subject;
    const summaries = this.#summariesOf(pair, side);
    const width = outputWidth(plan);
    const values = new Float64Array(trials * width);
    for (let trial = 0; trial < trials; trial++) {
      const released = await plan.release(summaries, mechanisms(plan.events, noise), this.#compute);
      writeOutput(released.value, values, trial * width, width);
    }
    return { count: trials, width, values };
  }

  #summariesOf(pair: NeighbourPair, side: Side): FinishedSummaries {
    const key = `${side} ${pair.name}`;
    let found = this.#prepared.get(key);
    if (found === undefined) {
      found = summariesOf(this.subject, pair[side]);
      this.#prepared.set(key, found);
    }
    return found;
  }
}

/** Work randomness is the same on both sides: no proof rests on it, so an audit may fix it. */
function summariesOf({ plan, dimension }: TrialSubject, { count, tickets, rows }: Contributors): FinishedSummaries {
  const groups = createGroups(plan, dimension);
  for (let i = 0; i < count; i++) {
    const ticket = tickets.subarray(i * ticketBytes, (i + 1) * ticketBytes);
    groups.add(ticket, rows.subarray(i * dimension, (i + 1) * dimension));
  }
  return groups.finish(seededWork(utf8('audit')));
}

/** Trials on the calling thread. @param noiseOf - the noise of one request, by its label. */
export function inlineTrials(subject: TrialSubject, noiseOf: (label: string) => NoiseSource): TrialPool {
  const runner = new TrialRunner(subject);
  return { parallelism: 1, run: (request) => runner.run(request, noiseOf(request.label)) };
}
