import type { Sensitive } from '../../base/brands.js';
import { utf8 } from '../../base/bytes.js';
import { assign, assignmentHashBytes } from '../../estimators/summaries/assignment.js';
import type { Plan } from '../../estimators/contract/estimator.js';
import { inlineCompute } from '../../estimators/contract/compute.js';
import type { MechanismEvent } from '../../privacy/accounting/events.js';
import { keyKeepingCount, leastOfKey, showsKeys } from '../../privacy/mechanisms/bounds.js';
import type { FoundKeys, PlaceTable } from '../../privacy/mechanisms/contract.js';
import { leadOf } from '../../privacy/mechanisms/mode.js';
import type { ObservedCall } from '../../privacy/mechanisms/observed.js';
import { seededRandom } from '../../random/work.js';
import type { Contributors, NeighbourPair } from '../contract.js';
import { summariesOf, type TrialSubject } from '../trials.js';
import { knownOf } from './call-cost.js';
import { compareRelease, countsOfKeys } from './coupled.js';

/** The release to check, and the pairs on which to compare it. */
export interface ReleaseCheck {
  readonly subject: TrialSubject;
  readonly pairs: readonly (NeighbourPair & { readonly cohort?: string })[];
  /** Data for which the release has an answer: its released values are prefixes too. */
  readonly crowd?: Contributors;
  /**
   * How many contributors each of the crowd stands for: what the crowd adds up is released times
   * this whole number. Default 1.
   */
  readonly standsFor?: number;
  /** Prefixes of each pair; at least 2. */
  readonly prefixes: number;
  /** The keys of a plan for discovered keys. */
  readonly keys?: Sensitive<FoundKeys>;
  /** Asked before each pair but the first: whether there is no time for more. */
  readonly isOver?: () => boolean;
  /** Stops at the first fault. */
  readonly isFirstEnough?: boolean;
}

/** The result of checking a release. */
export interface ReleaseResult {
  readonly pairs: number;
  /** Prefixes that were compared, over all pairs. */
  readonly prefixes: number;
  readonly calls: number;
  /** Prefixes in which the contents of some call differ. None: nothing was compared. */
  readonly moved: number;
  /** Prefixes after which both sides came to an answer, and to a refusal. */
  readonly answered: number;
  readonly refused: number;
  /** Each with its pair, and the released values that show it. */
  readonly faults: readonly string[];
}

const faultsMax = 20;

/**
 * Compares a release on pairs of neighbours after several prefixes each: see `compareRelease`.
 * Prefixes are values that were drawn for the left side, values that a whole crowd had released,
 * and these moved by some standard deviations. All noise is from fixed seeds.
 */
export async function checkRelease(asked: ReleaseCheck): Promise<ReleaseResult> {
  const { subject, pairs, prefixes } = asked;
  const total = { pairs: 0, prefixes: 0, calls: 0, moved: 0, answered: 0, refused: 0 };
  const faults: string[] = [];
  const scripts = asked.crowd === undefined ? []
    : await crowdScripts(asked, asked.crowd);
  const compute = inlineCompute();
  for (const pair of pairs) {
    if ((total.pairs > 0 && asked.isOver?.() === true) || faults.length >= faultsMax) break;
    total.pairs += 1;
    const [left, right] = [pair.left, pair.right].map((side) => summariesOf(subject, side));
    for (let prefix = 0; prefix < prefixes; prefix++) {
      const seed = `prefix ${prefix}`;
      const result = await compareRelease({
        subject, left: left!, right: right!, compute, seed,
        choose: chooser(prefix < 1 ? undefined : scripts[prefix % scripts.length], prefix),
        ...(pair.cohort !== undefined && { cohort: pair.cohort }),
        ...(asked.keys !== undefined && { keys: asked.keys }),
      });
      total.prefixes += 1;
      total.calls += result.calls;
      if (result.moved) total.moved += 1;
      if (result.ended && result.outcome.includes('"kind":"value"')) total.answered += 1;
      else if (result.ended) total.refused += 1;
      if (result.fault !== null) faults.push(`${pair.name}: ${result.fault}`);
      if (result.fault !== null && asked.isFirstEnough === true) return { ...total, faults };
    }
  }
  return { ...total, faults };
}

type Script = ReadonlyMap<string, readonly unknown[]>;

/** The values that releases on the crowd drew, by the names of their calls. */
async function crowdScripts(
  { subject, keys, standsFor = 1 }: ReleaseCheck, crowd: Contributors,
): Promise<readonly Script[]> {
  const summaries = summariesOf(subject, crowd);
  const scripts: Script[] = [];
  for (let run = 0; run < 3; run++) {
    const script = new Map<string, unknown[]>();
    await compareRelease({
      subject, left: summaries, right: summaries, compute: inlineCompute(), seed: `crowd ${run}`,
      ...(keys !== undefined && { keys }),
      choose: ({ name, method }, _, drawn) => {
        const isSum = drawn instanceof Float64Array && method !== 'mask';
        const released = isSum ? drawn.map((entry) => standsFor * entry) : drawn;
        script.set(name, [...(script.get(name) ?? []), released]);
        return released;
      },
    });
    scripts.push(script);
  }
  return scripts;
}

/** Moves of a released value, in standard deviations. From the third prefix on they are used. */
const moves = [0, 0, 1, -1, 8, -8, 40, -40];

function chooser(script: Script | undefined, prefix: number) {
  const used = new Map<string, number>();
  const random = seededRandom(utf8(`moves ${prefix}`));
  return (call: ObservedCall, at: number, drawn: unknown): unknown => {
    const place = used.get(call.name) ?? 0;
    used.set(call.name, place + 1);
    const value = script?.get(call.name)?.[place];
    if (script !== undefined && call.method === 'histogram') return shownBins(call);
    if (script !== undefined && (call.method === 'groupHistogram' || call.method === 'groupSums')) {
      return shownKeys(call);
    }
    if (script !== undefined && call.method === 'mode') return leader(call);
    const base = fits(value, drawn) ? value : drawn;
    if (prefix < 3 || at % 2 === prefix % 2 || !(base instanceof Float64Array)) return base;
    const unit = unitOf(call.event);
    if (call.method === 'mask') return base;
    return base.map((entry) => entry + unit * moves[Math.floor(random.uniform() * moves.length)]!);
  };
}

function fits(value: unknown, drawn: unknown): boolean {
  if (value === undefined) return false;
  if (drawn instanceof Float64Array) {
    return value instanceof Float64Array && value.length === drawn.length;
  }
  // Which keys and labels can be shown depends on the data at hand.
  return typeof value === typeof drawn && typeof value !== 'object';
}

function unitOf(event: MechanismEvent): number {
  if ('sigma' in event) return event.sigma;
  return 'scale' in event ? event.scale : 0;
}

function leader({ contents }: ObservedCall): string | null {
  const labels = contents[0] as readonly string[];
  return labels.length === 0 ? null : leadOf(labels).label;
}

/** All keys that are known or pass the prefilter, shown. */
function shownKeys({ contents, event }: ObservedCall): unknown {
  if (!showsKeys(event)) return [];
  const counts = countsOfKeys(contents[0] as ArrayLike<number> | PlaceTable);
  const keys = contents[1] as FoundKeys;
  const least = keyKeepingCount(event) + event.grid;
  // Far from 0, so that a ratio of two sums has an answer.
  const sums = event.kind === 'group-sums' && {
    noisySums: new Float64Array(event.values)
      .fill(event.sumsGrid * Math.round((64 * event.sumsSigma) / event.sumsGrid)),
  };
  const known = knownOf({ contents });
  const found = Array.from(counts, (count, place) => ({ count, place }))
    .filter(({ count }) => count >= leastOfKey(event))
    .sort((one, other) => keys.compare(one.place, other.place))
    .map(({ place }) => keys.partsOf(place)).filter((key) => !known.has(JSON.stringify(key)));
  const shown = (key: readonly string[], isKnown: boolean): unknown =>
    ({ key, noisyCount: least, isKnown, ...sums });
  return [
    ...[...known].map((key) => shown(JSON.parse(key) as readonly string[], true)),
    ...found.map((key) => shown(key, false)),
  ];
}

/** All bins that are occupied, shown with counts like a crowd's. */
function shownBins({ contents, event }: ObservedCall): unknown {
  const size = 'sigma' in event ? 64 * Math.ceil(event.sigma) : 64;
  const counts = contents[0] as readonly ReadonlyMap<number, number>[];
  return counts.map((bins) => [...bins.entries()]
    .filter(([, count]) => count > 0)
    .sort(([one, first], [other, second]) => second - first || one - other)
    .map(([bin, count], i) => ({ bin, noisyCount: size * (count + 2) - i })));
}

/** The cohort of the contributor who changes: the last of the longer side. */
export function cohortOfLast({ arms }: Plan, { left, right }: NeighbourPair): string {
  const { count, assignmentHashes } = left.count >= right.count ? left : right;
  const hash =
    assignmentHashes.subarray((count - 1) * assignmentHashBytes, count * assignmentHashBytes);
  return arms[assign(hash, arms).arm]!.name;
}
