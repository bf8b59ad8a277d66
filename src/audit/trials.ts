import { utf8 } from '../base/bytes.js';
import { inlineCompute } from '../estimators/contract/compute.js';
import type { FinishedSummaries, Plan } from '../estimators/contract/estimator.js';
import { createGroups, assignmentHashBytes } from '../estimators/run.js';
import type { MechanismEvent } from '../privacy/accounting/events.js';
import type { Mechanisms } from '../privacy/mechanisms/contract.js';
import { createMechanisms } from '../privacy/mechanisms/index.js';
import type { NoiseSource } from '../random/source.js';
import { seededRandom } from '../random/work.js';
import type {
  Contributors, LossBlock, LossPool, LossRequest, NeighbourPair, OutputBlock, Side, TrialPool,
  TrialRequest,
} from './contract.js';
import { other } from './events.js';
import { recording, repeating, Unanswered, type Answers } from './given.js';
import { lossTrial, UnknownLaw, type ReleaseOf } from './losses/loss-trials.js';
import { outputWidth, writeOutput, writeUnanswered } from './outputs.js';

/** The estimator under audit. */
export interface TrialSubject {
  readonly plan: Plan;
  readonly dimension: number;
  /**
   * How a release gets its mechanisms: `createMechanisms`, unless a test plants a defect.
   * @param create - makes mechanisms. Exact checks give one that shows what they are given.
   */
  readonly mechanisms?: (
    events: readonly MechanismEvent[], noise: NoiseSource, create: typeof createMechanisms,
  ) => Mechanisms;
  /** Audits these events alone, given the answers of all others. */
  readonly alone?: {
    readonly events: ReadonlySet<string>;
    /** The noise of the release that gives those answers. It is the same on all threads. */
    readonly noise: () => NoiseSource;
  };
}

/** Most releases that are tried until one gives answers to record. */
const rehearsalsMax = 100;

/**
 * Runs trials of one subject on one thread. The summaries of a side are finished once, because they
 * contain no noise.
 */
export class TrialRunner {
  readonly #prepared = new Map<string, FinishedSummaries>();
  readonly #given = new Map<string, Answers>();
  readonly #compute = inlineCompute();

  constructor(private readonly subject: TrialSubject) {}

  get #mechanisms(): NonNullable<TrialSubject['mechanisms']> {
    return this.subject.mechanisms ?? ((events, noise, create) => create(events, noise));
  }

  /** Fresh noise for every trial; O(trials * release). */
  async run(
    { pair, side, trials }: Omit<TrialRequest, 'label'>, noise: NoiseSource,
  ): Promise<OutputBlock> {
    const { plan, alone } = this.subject;
    const make = this.#mechanisms;
    const summaries = this.#summariesOf(pair, side);
    const given = alone === undefined ? null : await this.#givenFor(pair, alone.noise());
    const width = outputWidth(plan);
    const values = new Float64Array(trials * width);
    for (let trial = 0; trial < trials; trial++) {
      const made = make(plan.events, noise, createMechanisms);
      const asked = given === null ? made : repeating(made, given, alone!.events);
      try {
        const released = await plan.release(summaries, asked, this.#compute);
        writeOutput(released.value, values, trial * width, width);
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        writeUnanswered(values, trial * width, width);
      }
    }
    return { count: trials, width, values };
  }

  /** Answers of a release on the left side that had a value, or else of the last release tried. */
  async #givenFor(pair: NeighbourPair, noise: NoiseSource): Promise<Answers> {
    const { plan } = this.subject;
    const make = this.#mechanisms;
    const known = this.#given.get(pair.name);
    if (known !== undefined) return known;
    const summaries = this.#summariesOf(pair, 'left');
    let answers: Answers = new Map();
    for (let rehearsal = 0; rehearsal < rehearsalsMax; rehearsal++) {
      answers = new Map();
      const mechanisms = make(plan.events, noise, createMechanisms);
      const released =
        await plan.release(summaries, recording(mechanisms, answers), this.#compute);
      if (released.value.kind === 'value') break;
    }
    this.#given.set(pair.name, answers);
    return answers;
  }

  /** The privacy losses of releases, each with fresh noise; O(trials * 2 releases). */
  async losses(
    { pair, side, trials, multiples, shifts }: Omit<LossRequest, 'label'>, noise: NoiseSource,
  ): Promise<LossBlock | null> {
    const { plan, alone } = this.subject;
    const make = this.#mechanisms;
    const given = alone === undefined ? null : await this.#givenFor(pair, alone.noise());
    const release: ReleaseOf = async (summaries, source, create) => {
      const made = make(plan.events, source, create);
      const asked = given === null ? made : repeating(made, given, alone!.events);
      try {
        return await plan.release(summaries, asked, this.#compute);
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        return null;
      }
    };
    const [own, others] = [side, other(side)].map((one) => this.#summariesOf(pair, one));
    const values = new Float64Array(2 * trials);
    const isMeasured = trials === 1;
    let block: LossBlock = { values, rho: 0, shifts: new Map() };
    for (let at = 0; at < trials; at++) {
      try {
        const found =
          await lossTrial(release, own!, others!, { multiples, shifts }, noise, isMeasured);
        values.set([found.weight, found.loss], 2 * at);
        if (isMeasured) block = { values, rho: found.rho, shifts: found.shifts };
      } catch (error) {
        if (error instanceof UnknownLaw) return null;
        throw error;
      }
    }
    return block;
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
export function summariesOf(
  { plan, dimension }: Pick<TrialSubject, 'plan' | 'dimension'>,
  { count, assignmentHashes, rows }: Contributors,
): FinishedSummaries {
  const groups = createGroups(plan, dimension);
  for (let i = 0; i < count; i++) {
    const assignmentHash = assignmentHashes.subarray(
      i * assignmentHashBytes, (i + 1) * assignmentHashBytes,
    );
    groups.add(assignmentHash, rows.subarray(i * dimension, (i + 1) * dimension));
  }
  return groups.finish(seededRandom(utf8('audit')));
}

/** Trials on the calling thread. @param noiseOf - the noise of one request, by its label. */
export function inlineTrials(
  subject: TrialSubject, noiseOf: (label: string) => NoiseSource,
): TrialPool & LossPool {
  const runner = new TrialRunner(subject);
  return {
    parallelism: 1,
    run: (request) => runner.run(request, noiseOf(request.label)),
    runLosses: (request) => runner.losses(request, noiseOf(request.label)),
  };
}
