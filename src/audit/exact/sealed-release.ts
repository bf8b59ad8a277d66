import { utf8 } from '../../base/bytes.js';
import { costOfEvents } from '../../privacy/accounting/composition.js';
import { amountUnit } from '../../privacy/accounting/amount.js';
import { serverDeviation, type SealedEvent } from '../../privacy/accounting/sealed-cost.js';
import {
  observedOpenings, type ObservedOpening,
} from '../../privacy/mechanisms/observed-sealed.js';
import { seededNoise } from '../../random/insecure.js';
import { seededRandom } from '../../random/work.js';
import type { SealedProgram } from '../../sealed/programs/contract.js';
import { servers } from '../../sealed/shares/body.js';
import type { ShareForm } from '../../sealed/shares/form.js';
import { add, fraction, surelyAbove, toNumber, zero, type Interval } from './interval.js';
import { listsOf } from './mechanism-cases.js';
import { atThreeParties, splitRows } from './three-parties.js';

/**
 * The shares of contributors, on two sides that differ in one of them. How many take part is
 * public.
 */
export interface SealedPair {
  readonly name: string;
  readonly left: readonly Uint32Array[];
  readonly right: readonly Uint32Array[];
}

/** The sealed program to check, and the pairs on which to compare it. */
export interface SealedCheck {
  readonly program: SealedProgram;
  readonly pairs: readonly SealedPair[];
  /** Data for which the program has an answer: what it opens gives prefixes too. */
  readonly crowd: readonly Uint32Array[];
  /** How many contributors each of the crowd stands for. */
  readonly standsFor: number;
  /** Prefixes of each pair. */
  readonly prefixes: number;
  /** Asked before each pair but the first: whether there is no time for more. */
  readonly isOver?: () => boolean;
}

/** The result of checking a sealed program. */
export interface SealedResult {
  readonly pairs: number;
  readonly openings: number;
  /** Prefixes after which both sides came to an answer, and to a refusal. */
  readonly answered: number;
  readonly refused: number;
  /** Each with its pair. */
  readonly faults: readonly string[];
}

const faultsMax = 20;
/** Contributors of a small data set, at most. */
const seats = 4;

/**
 * Compares a program over sealed rows on pairs of neighbours, opening by opening, after the same
 * opened numbers. The program runs at three parties on either side.
 *
 * Claim: if no pair and no prefix has a fault, the program is an adaptive composition of its events
 * on this domain: what is opened costs at most what `sealedCost` charges, to readers and to anyone
 * who knows what one server drew.
 * Why: as in `compareRelease`. Both sides open the same events in the same order. The exact
 * cost of two sums that differ by D_i steps in entry i is the sum of D_i^2 / (4 s_i^2), where s_i
 * is the deviation of each of the two draws that remain (accounting/sealed-cost). It is at most
 * what the event charges, and its sum at most the cost of the program. Both sides end alike.
 * A server sees nothing but masked and opened values: test/sealed/views lists them.
 */
export async function checkSealed(asked: SealedCheck): Promise<SealedResult> {
  const total = { pairs: 0, openings: 0, answered: 0, refused: 0 };
  const faults: string[] = [];
  const scripts: Script[] = [];
  for (let run = 0; run < 2; run++) scripts.push(await crowdScript(asked, `crowd ${run}`));
  for (const pair of asked.pairs) {
    if ((total.pairs > 0 && asked.isOver?.() === true) || faults.length >= faultsMax) break;
    total.pairs += 1;
    for (let prefix = 0; prefix < asked.prefixes; prefix++) {
      const seed = `prefix ${prefix}`;
      const script = prefix === 0 ? undefined : scripts[prefix % scripts.length];
      const left = await run(asked.program, pair.left, seed, chosenBy(script, prefix));
      const right = await run(asked.program, pair.right, seed, (_, at) =>
        left.openings[at]?.opened);
      total.openings += right.openings.length;
      if (left.outcome.includes('"kind":"value"')) total.answered += 1;
      else total.refused += 1;
      const fault = faultOf(asked.program, left, right);
      if (fault !== null) faults.push(`${pair.name}: ${fault}`);
    }
  }
  return { ...total, faults };
}

/** The steps that events opened, by their names. */
type Script = ReadonlyMap<string, readonly bigint[]>;

interface Opening extends ObservedOpening {
  readonly opened: readonly bigint[];
}

interface SideRun {
  readonly openings: readonly Opening[];
  readonly outcome: string;
  readonly thrown: string | null;
}

/** Runs a program. @param choose - what is opened; undefined ends the run. */
async function run(
  program: SealedProgram, values: readonly Uint32Array[], seed: string,
  choose: (opening: ObservedOpening, at: number) => readonly bigint[] | undefined,
): Promise<SideRun> {
  const openings: Opening[] = [];
  const noises = servers.map((server) => seededNoise(`${seed} ${server}`));
  const mechanisms = observedOpenings(program.events, noises, (opening) => {
    const opened = choose(opening, openings.length);
    if (opened?.length !== opening.sums.length) throw new Error('it opens what the other does not');
    openings.push({ ...opening, opened });
    return opened;
  });
  const rows = splitRows(values, program.form);
  try {
    const released = await atThreeParties((party) =>
      program.run({ party, mechanisms: mechanisms[party.server]!, rows: rows[party.server]! }));
    const texts = new Set(released.map(({ value }) => JSON.stringify(value)));
    if (texts.size > 1) throw new Error('the three servers have different outcomes');
    return { openings, outcome: [...texts][0]!, thrown: null };
  } catch (error) {
    return { openings, outcome: '', thrown: error instanceof Error ? error.message : 'an error' };
  }
}

async function crowdScript(
  { program, crowd, standsFor }: SealedCheck, seed: string,
): Promise<Script> {
  const found = await run(program, crowd, seed, ({ sums, noised }) =>
    sums.map((sum, i) => BigInt(standsFor - 1) * sum + noised[i]!));
  return new Map(found.openings.map(({ event, opened }) => [event.name, opened]));
}

/** Moves of an opened number, in standard deviations. From the third prefix on they are used. */
const moves = [0, 0, 1, -1, 8, -8, 40, -40];

function chosenBy(script: Script | undefined, prefix: number) {
  const random = seededRandom(utf8(`moves ${prefix}`));
  return ({ event, noised }: ObservedOpening, at: number): readonly bigint[] => {
    const base = script?.get(event.name) ?? noised;
    if (prefix < 3 || at % 2 === prefix % 2) return base;
    const unit = serverDeviation(event);
    return base.map((steps) =>
      steps + unit * BigInt(moves[Math.floor(random.uniform() * moves.length)]!));
  };
}

function faultOf(program: SealedProgram, left: SideRun, right: SideRun): string | null {
  let whole = zero;
  for (const [at, { event, sums }] of right.openings.entries()) {
    const twin = left.openings[at]!;
    if (twin.event.name !== event.name) {
      return `one side opens ${twin.event.name}, and the other ${event.name}`;
    }
    const cost = costOfSums(event, twin.sums, sums);
    const charged = costOfEvents([event], { disjoint: [] }).rho + 1n;
    whole = add(whole, cost);
    const over = [[cost, charged], [whole, program.cost.rho]] as const;
    for (const [found, limit] of over) {
      if (surelyAbove(found, fraction(limit, amountUnit))) {
        return `${event.name}: the sums cost rho ${toNumber(found)}, and `
          + `${toNumber(fraction(limit, amountUnit))} was charged`;
      }
    }
  }
  const thrown = left.thrown ?? right.thrown;
  if (thrown !== null) return `the program throws: ${thrown}`;
  if (left.openings.length !== right.openings.length) {
    return `one side ends, and the other opens ${left.openings[right.openings.length]?.event.name}`;
  }
  return left.outcome === right.outcome ? null
    : `equal openings have the outcomes ${left.outcome} and ${right.outcome}`;
}

/** The sum of D^2 / (4 s^2) over the opened entries. */
function costOfSums(
  event: SealedEvent, left: readonly bigint[], right: readonly bigint[],
): Interval {
  const [own, off] = [false, true].map((isOff) => serverDeviation(event, isOff));
  const isOff = offDiagonal(event);
  const squares = [0n, 0n];
  left.forEach((sum, i) => {
    squares[isOff(i) ? 1 : 0]! += (sum - right[i]!) ** 2n;
  });
  return add(
    fraction(squares[0]!, 4n * own! * own!), fraction(squares[1]!, 4n * off! * off!),
  );
}

/** True if an opened entry of an event is off the diagonal of a symmetric matrix. */
function offDiagonal({ kind, dimension }: SealedEvent): (entry: number) => boolean {
  if (kind === 'gaussian') return () => false;
  const diagonal = new Set<number>();
  for (let row = 0, at = 0; row < dimension; at += dimension - row, row++) diagonal.add(at);
  return (entry) => !diagonal.has(entry);
}

/**
 * All pairs of one to four contributors who share one of these lists of values. The others are
 * listed up to their order.
 */
export function sealedPairs(choices: readonly (readonly number[])[]): readonly SealedPair[] {
  const places = choices.map((_, i) => i);
  const others = Array.from({ length: seats }, (_, count) => listsOf(places, count)).flat()
    .filter((list) => list.every((choice, i) => i === 0 || list[i - 1]! <= choice));
  const shared = (list: readonly number[]): readonly Uint32Array[] =>
    list.map((choice) => Uint32Array.from(choices[choice]!));
  return others.flatMap((rest) => places.flatMap((one) => places.slice(one + 1).map((other) => ({
    name: `[${choices[one]!.join(' ')}] or [${choices[other]!.join(' ')}], beside `
      + (rest.map((choice) => `[${choices[choice]!.join(' ')}]`).join(', ') || 'nobody'),
    left: shared([one, ...rest]), right: shared([other, ...rest]),
  }))));
}

/** Contributors of a larger data set, at most: more than a word of bits has. */
const largerMost = 80;

/** Random pairs of 12 to 80 contributors: lists of these values, or any that the form allows. */
export function largerSealedPairs(
  form: ShareForm, choices: readonly (readonly number[])[], count: number,
): readonly SealedPair[] {
  const random = seededRandom(utf8('larger sealed'));
  const below = (limit: number): number => Math.floor(random.uniform() * limit);
  const row = (): Uint32Array => (below(2) === 0
    ? Uint32Array.from(choices[below(choices.length)]!)
    : Uint32Array.from({ length: form.count }, () => below(2 ** form.bits)));
  return Array.from({ length: count }, (_, at) => {
    const rest = Array.from({ length: 11 + below(largerMost - 11) }, row);
    const [one, other] = [row(), row()];
    return {
      name: `[${one.join(' ')}] or [${other.join(' ')}], beside ${rest.length} others, larger data `
        + `set ${at}`,
      left: [one, ...rest], right: [other, ...rest],
    };
  });
}
