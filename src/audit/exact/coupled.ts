import { InvariantError } from '../../base/errors.js';
import type { Compute, FinishedSummaries, Plan } from '../../estimators/contract/estimator.js';
import { costOfEvents } from '../../privacy/accounting/composition.js';
import type { PrivacyCost } from '../../privacy/accounting/cost.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import type { FoundKeys, KeptBin, KeptKey, PlaceTable } from '../../privacy/mechanisms/contract.js';
import type { createMechanisms } from '../../privacy/mechanisms/index.js';
import { leastOfKey, showsKeys } from '../../privacy/mechanisms/bounds.js';
import { observed, type ObservedCall } from '../../privacy/mechanisms/observed.js';
import { seededNoise } from '../../random/insecure.js';
import type { TrialSubject } from '../trials.js';
import { callCost } from './call-cost.js';
import { ofAmount } from './claims.js';
import { add, surelyAbove, toNumber, zero, type Interval } from './interval.js';
import { textOf } from './mechanism-laws.js';

/**
 * Compares a release on two neighbouring data sets, call by call, after the same released values.
 *
 * Claim: if no pair and no prefix has a fault, the release is an adaptive composition of its events
 * on this domain: its cost is at most that of the plan.
 * Why: a release asks its mechanisms one after the other. Given the values released so far (the
 * prefix), what it asks next is fixed on each side. Here both sides are given the same prefix, any
 * prefix that both could release. Then
 * - both ask for the same event, or both end: what is asked reveals nothing;
 * - the exact cost of the two contents (call-cost) is at most what the event charged, and their sum
 *   over the release at most the cost of the plan;
 * - no event is drawn more often than it was charged, by all mechanisms of the release together;
 * - both end with the same outcome: it is a function of what was released.
 * A prefix that one side alone can release is paid for by the delta of its last call. It ends.
 * No noise is sampled: which prefixes are tried is a choice, and each comparison is exact.
 */
export interface CoupledRelease {
  readonly subject: TrialSubject;
  readonly left: FinishedSummaries;
  readonly right: FinishedSummaries;
  /** Cohort of the contributor who changes; absent: not known. */
  readonly cohort?: string;
  readonly compute: Compute;
  /** Chooses what is released: the call, its place in the release, and what was drawn. */
  readonly choose: (call: ObservedCall, at: number, drawn: unknown) => unknown;
  /** Seed of what is drawn. */
  readonly seed: string;
  readonly keys?: Parameters<Plan['release']>[3];
}

/** The result on one prefix. */
export interface CoupledResult {
  /** The first fault, with the prefix that shows it; null if there is none. */
  readonly fault: string | null;
  /** Calls that were compared. */
  readonly calls: number;
  /** True if both sides came to an outcome: else the prefix ended in a call that delta pays for. */
  readonly ended: boolean;
  /** True if the contents of any call differ between the sides. If not, nothing was compared. */
  readonly moved: boolean;
  /** Text of the outcome. */
  readonly outcome: string;
}

interface Step {
  readonly call: ObservedCall;
  readonly released: unknown;
}

/** The prefix is one that this side cannot release, or the sides ask for different events. */
class Parted extends Error {}

const restartsMax = 8;

/** One prefix of two neighbours. Cost: two releases, more where a histogram differs. */
export async function compareRelease(asked: CoupledRelease): Promise<CoupledResult> {
  const forced = new Map<number, unknown>();
  for (let restart = 0; ; restart++) {
    const left = await sideOf(asked, asked.left, (call, at, drawn) =>
      (forced.has(at) ? forced.get(at) : asked.choose(call, at, drawn)));
    const apart: { at: number; common: unknown }[] = [];
    const right = await sideOf(asked, asked.right, (call, at) => {
      const twin = left.steps[at];
      if (twin === undefined || !sameCall(twin.call, call)) throw new Parted();
      const common = commonPart(twin.released, call);
      if (common !== twin.released) {
        apart.push({ at, common });
        throw new Parted();
      }
      return twin.released;
    });
    const result = judged(asked, left, right, apart.length > 0);
    const [first] = apart;
    if (result.fault !== null || first === undefined || restart === restartsMax) return result;
    forced.set(first.at, first.common);
  }
}

interface SideRun {
  readonly steps: readonly Step[];
  /** The call at which the side left the prefix; null if it came to an outcome. */
  readonly last: ObservedCall | null;
  /** Text of the outcome; empty if there is none. */
  readonly outcome: string;
  /** An error of the release itself. */
  readonly thrown: string | null;
}

async function sideOf(
  { subject, compute, seed, keys }: CoupledRelease, summaries: FinishedSummaries,
  answer: (call: ObservedCall, at: number, drawn: unknown) => unknown,
): Promise<SideRun> {
  const steps: Step[] = [];
  let last: ObservedCall | null = null;
  const create: typeof createMechanisms = (events, noise) =>
    observed(events, noise, (call, drawn) => {
      last = call;
      const released = answer(call, steps.length, drawn);
      steps.push({ call, released });
      last = null;
      return released;
    });
  const make = subject.mechanisms ?? ((events, noise, made) => made(events, noise));
  try {
    const mechanisms = make(subject.plan.events, seededNoise(seed), create);
    const released = await subject.plan.release(summaries, mechanisms, compute, keys);
    return { steps, last: null, outcome: JSON.stringify(released.value), thrown: null };
  } catch (error) {
    if (error instanceof Parted) return { steps, last, outcome: '', thrown: null };
    const text = error instanceof Error ? error.message : 'an error';
    return { steps, last: null, outcome: '', thrown: text };
  }
}

function sameCall(left: ObservedCall, right: ObservedCall): boolean {
  return left.name === right.name && left.method === right.method
    && textOf(left.event) === textOf(right.event);
}

/** The part of a released histogram that this side can release too; all other values whole. */
function commonPart(released: unknown, { method, contents, event }: ObservedCall): unknown {
  if (method === 'histogram') {
    const counts = contents[0] as readonly ReadonlyMap<number, number>[];
    const lists = released as readonly (readonly KeptBin[])[];
    const common = lists.map((kept, i) =>
      kept.filter(({ bin }) => (counts[i]!.get(bin) ?? 0) > 0));
    return common.every((kept, i) => kept.length === lists[i]!.length) ? released : common;
  }
  if (showsKeys(event)) {
    const counts = countsOfKeys(contents[0] as ArrayLike<number> | PlaceTable);
    const keys = contents[1] as FoundKeys;
    const least = leastOfKey(event);
    const passing = new Set(Array.from(counts, (count, place) =>
      (count >= least ? JSON.stringify(keys.partsOf(place)) : '')));
    const list = released as readonly KeptKey[];
    const common = list.filter(({ key, isKnown }) =>
      isKnown || passing.has(JSON.stringify(key)));
    return common.length === list.length ? released : common;
  }
  return released;
}

/** Contributors by place, of a call that shows keys. */
export function countsOfKeys(content: ArrayLike<number> | PlaceTable): ArrayLike<number> {
  return 'counts' in content ? content.counts : content;
}

function judged(
  asked: CoupledRelease, left: SideRun, right: SideRun, isApart: boolean,
): CoupledResult {
  const ended = left.last === null && right.last === null;
  const spent = new Spent(asked.subject.plan);
  const found = faultOf(asked, left, right, { isApart, spent });
  const { moved } = spent;
  const result = { calls: right.steps.length, ended, moved, outcome: left.outcome };
  const prefix = (upTo: number): string => left.steps.slice(0, upTo)
    .map(({ call, released }) => `${call.name} = ${shortened(textOf(released))}`).join('; ');
  if (found === null) return { ...result, fault: null };
  const before = found.at === 0 ? '' : ` after ${prefix(found.at)}`;
  return { ...result, fault: `${found.text}${before}` };
}

function shortened(text: string): string {
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`;
}

interface Fault {
  readonly text: string;
  readonly at: number;
}

function faultOf(
  asked: CoupledRelease, left: SideRun, right: SideRun,
  { isApart, spent }: { readonly isApart: boolean; readonly spent: Spent },
): Fault | null {
  const { plan } = asked.subject;
  const twice = drawnTooOften(plan, left.steps);
  if (twice !== null) return twice;
  const thrown = left.thrown ?? right.thrown;
  if (thrown !== null && (left.thrown !== right.thrown || thrown.length > 0)) {
    return { text: `the release throws: ${thrown}`, at: right.steps.length };
  }
  // The call that parted the sides was made by both, if it is the same call.
  const calls = right.last === null ? right.steps.map(({ call }) => call)
    : [...right.steps.map(({ call }) => call), right.last];
  for (const [at, call] of calls.entries()) {
    const twin = left.steps[at]?.call;
    if (twin === undefined || !sameCall(twin, call)) {
      return {
        text: `one side asks for ${call.name}, and the other for ${twin?.name ?? 'nothing more'}`,
        at,
      };
    }
    const text = spent.add(twin, call, asked.cohort);
    if (text !== null) return { text, at };
    if (passesUnpaid(twin, call, left.steps[at]!.released)) return null;
  }
  if (isApart) return null;
  if (left.steps.length !== right.steps.length) {
    return {
      text: `one side ends, and the other asks for ${left.steps[right.steps.length]?.call.name}`,
      at: right.steps.length,
    };
  }
  if (left.outcome !== right.outcome) {
    return {
      text: `equal releases have the outcomes ${shortened(left.outcome)} and `
        + `${shortened(right.outcome)}`,
      at: left.steps.length,
    };
  }
  return null;
}

/** A pass that delta pays for: what follows it may differ. */
function passesUnpaid(left: ObservedCall, right: ObservedCall, released: unknown): boolean {
  if (left.event.kind !== 'gaussian-threshold') return false;
  if (released === false || released === null) return false;
  return callCost(left.event, left, right).delta > 0;
}

/** An event that all mechanisms together drew more often than the plan charges for. */
function drawnTooOften(plan: Plan, steps: readonly Step[]): Fault | null {
  const drawn = new Map<string, number>();
  for (const [at, { call: { name } }] of steps.entries()) {
    const times = (drawn.get(name) ?? 0) + 1;
    drawn.set(name, times);
    const event = chargedEvent(plan, name);
    const allowed = event?.kind === 'exponential' ? event.times : 1;
    if (times > allowed) {
      return { text: `${name} is drawn ${times} times, and ${allowed} was charged`, at };
    }
  }
  return null;
}

function chargedEvent(plan: Plan, name: string): MechanismEvent | undefined {
  return plan.events.find((event) => event.name === name)
    ?? plan.events.find((event) => event.name === name.replace(/#\d+$/, ''));
}

/** The cost of a release's calls so far, against the charge. */
class Spent {
  /** True if any of the contents differed. */
  moved = false;
  #rho = zero;
  #delta = 0;

  constructor(private readonly plan: Plan) {}

  /** @returns what is more than was charged; null if nothing is. */
  add(left: ObservedCall, right: ObservedCall, cohort: string | undefined): string | null {
    const { plan } = this;
    const event = chargedEvent(plan, left.name);
    if (event === undefined) throw new InvariantError(`no event ${left.name} was charged`);
    const cost = callCost(left.event, left, right);
    const moved = cost.rho.high > 0n || cost.delta > 0;
    this.moved ||= moved || cost.fault !== null;
    if (cost.fault !== null) return `${left.name}: ${cost.fault}`;
    if (moved && cohort !== undefined && event.cohort !== cohort) {
      return `${left.name} is charged to ${event.cohort}, and a contributor of ${cohort} moves it`;
    }
    const charged = costOfEvents([withoutKeys(event)], { disjoint: [] });
    const over = overCharge(cost, charged);
    if (over !== null) return `${left.name}: ${over}`;
    this.#rho = add(this.#rho, cost.rho);
    this.#delta = 1 - (1 - this.#delta) * (1 - cost.delta);
    const whole = overCharge({ rho: this.#rho, delta: this.#delta, epsilon: null }, plan.cost);
    return whole === null ? null : `all calls up to ${left.name}: ${whole}`;
  }
}

/** The event as it is charged for one key. */
function withoutKeys(event: MechanismEvent): MechanismEvent {
  const single: { keyed?: unknown } & MechanismEvent = { ...event };
  delete single.keyed;
  return single;
}

const deltaTolerance = 1 + 1e-9;

function overCharge(
  cost: { readonly rho: Interval; readonly delta: number; readonly epsilon: Interval | null },
  charged: PrivacyCost,
): string | null {
  if (charged.renyi === undefined && surelyAbove(cost.rho, ofAmount(charged.rho))) {
    return `the contents cost rho ${toNumber(cost.rho)}, and ${toNumber(ofAmount(charged.rho))} `
      + 'was charged';
  }
  const delta = toNumber(ofAmount(charged.delta));
  if (cost.delta > delta * deltaTolerance + 2 ** -64) {
    return `what one side alone can release has probability ${cost.delta}, and ${delta} was charged`;
  }
  if (charged.epsilon !== null && cost.epsilon !== null
      && surelyAbove(cost.epsilon, ofAmount(charged.epsilon))) {
    return `the contents cost epsilon ${toNumber(cost.epsilon)}, and `
      + `${toNumber(ofAmount(charged.epsilon))} was charged`;
  }
  return null;
}
