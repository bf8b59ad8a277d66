import { ln } from '../../base/elementary.js';
import { Sensitive, type Released } from '../../base/brands.js';
import type { FinishedSummaries } from '../../estimators/contract/estimator.js';
import { createMechanisms } from '../../privacy/mechanisms/index.js';
import { observed, type ObservedCall } from '../../privacy/mechanisms/observed.js';
import { RandomBits } from '../../random/bits.js';
import type { NoiseSource } from '../../random/source.js';
import { callLoss, callRho } from './call-loss.js';
import { moved, shiftOf, type Shift, type Shifts } from './shifts.js';

/** How to draw the outputs of one trial. */
export interface Proposal {
  /** Multiples of the shifts. One of them is drawn for each trial, all with equal probability. */
  readonly multiples: readonly number[];
  readonly shifts: Shifts;
}

/** The result of one trial. */
export interface LossTrial {
  /** log P(outputs | left) - log P(outputs | proposal). */
  readonly weight: number;
  /** The privacy loss: log P(outputs | left) - log P(outputs | right). */
  readonly loss: number;
  /** The cost in rho of the calls for the contents of the two sides (`callRho`). */
  readonly rho: number;
  readonly shifts: Shifts;
}

/** Runs the release of one side, with mechanisms that show what they are given. */
export type ReleaseOf = (
  summaries: FinishedSummaries, noise: NoiseSource, create: typeof createMechanisms,
) => Promise<unknown>;

interface Step {
  readonly call: ObservedCall;
  readonly name: string;
  readonly released: unknown;
}

/** The right side cannot give the outputs of the left one, or asks for something else. */
class Parted extends Error {}

/** A law of the noise that is not known here, so that no loss can be computed. */
export class UnknownLaw extends Error {}

/**
 * One release on the left side, with outputs from a proposal, and the loss of all that it released.
 *
 * The release runs twice, once on each side. The second run is given the values that the first one
 * released. So each call of the two runs has the contents that the sides have after the same
 * outputs, and the probabilities of the outputs are products over the calls. The proposal is a
 * mixture: a multiple s is drawn once, and then the noise of each call is added to contents that
 * are moved by s times the call's shift. Shifts and multiples are fixed before the trial.
 * If the right side asks for another call, the loss counts as -Infinity, which shows nothing.
 * Cost: two releases, and a density of each call for each multiple.
 * @throws UnknownLaw if the release draws a mask.
 */
export async function lossTrial(
  release: ReleaseOf, left: FinishedSummaries, right: FinishedSummaries,
  { multiples, shifts }: Proposal, noise: NoiseSource, isMeasured: boolean,
): Promise<LossTrial> {
  const chosen = new RandomBits(noise).below(multiples.length);
  const steps: Step[] = [];
  /** log P(outputs | proposal of this multiple) - log P(outputs | left). */
  const ratios = multiples.map(() => 0);
  const addRatios = (call: ObservedCall, name: string, released: unknown): void => {
    multiples.forEach((multiple, i) => {
      const content = moved(call, shifts.get(name), multiple);
      if (content === null) return;
      const loss = callLoss(call, [content, ...call.contents.slice(1)], released);
      if (loss !== null) ratios[i]! -= loss;
    });
  };
  await release(left, noise, (events, source) => observed(events, source, (seen, drawn) => {
    if (seen.method === 'mask') throw new UnknownLaw();
    const call = copied(seen);
    const name = `${steps.length} ${call.name}`;
    const content = moved(call, shifts.get(name), multiples[chosen]!);
    const released = content === null ? drawn : drawnAround(call, content, noise);
    if (multiples.length > 1) addRatios(call, name, released);
    steps.push({ call, name, released: copyOf(released) });
    return released;
  }));
  const found = await comparedWith(release, right, steps, noise, isMeasured);
  const best = Math.max(...ratios);
  // The left side cannot give these outputs.
  if (best === Infinity) return { ...found, weight: -Infinity };
  const mixture =
    best + ln(ratios.reduce((sum, ratio) => sum + Math.exp(ratio - best), 0) / ratios.length);
  return { ...found, weight: -mixture };
}

/** A release may use its buffers again after a call, and change what was released. */
const copyOf = (value: unknown): unknown =>
  (value instanceof Float64Array ? value.slice() : value);

const copied = (call: ObservedCall): ObservedCall =>
  ({ ...call, contents: call.contents.map(copyOf) });

function drawnAround({ name, event, method, contents }: ObservedCall, content: unknown,
  noise: NoiseSource): unknown {
  const mechanisms = createMechanisms([event], noise);
  const call = mechanisms[method].bind(mechanisms) as (
    name: string, ...given: readonly unknown[]
  ) => Released<unknown>;
  const rest = contents.slice(1);
  return call(name, Sensitive.of(content), ...rest).value;
}

async function comparedWith(
  release: ReleaseOf, right: FinishedSummaries, steps: readonly Step[], noise: NoiseSource,
  isMeasured: boolean,
): Promise<Omit<LossTrial, 'weight'>> {
  let [at, loss, rho] = [0, 0, 0];
  const shifts = new Map<string, Shift>();
  const create: typeof createMechanisms = (events, source) =>
    observed(events, source, (other) => {
      const step = steps[at++];
      if (step === undefined || step.call.name !== other.name
          || step.call.method !== other.method) {
        loss = -Infinity;
        throw new Parted();
      }
      const { call, name, released } = step;
      loss += callLoss(call, other.contents, released)!;
      if (isMeasured) {
        rho += callRho(call, other.contents);
        const shift = shiftOf(call, other.contents);
        if (shift !== null) shifts.set(name, shift);
      }
      if (loss === Infinity) throw new Parted();
      return copyOf(released);
    });
  try {
    await release(right, noise, create);
  } catch (error) {
    if (!(error instanceof Parted)) throw error;
  }
  return { loss, rho, shifts };
}
