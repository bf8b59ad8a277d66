import type { WireCode } from '../../../src/base/error-codes.js';
import { Chance } from '../simulation/chance.js';

/**
 * Which epoch a call names, by what the study has when the call is made: the oldest one that the
 * call is for, or a number counted from the newest one.
 */
export type NamedEpoch = 'fitting' | number;

export interface BatchFacts {
  readonly contributor: number;
  readonly sequence: bigint;
  /** Counted from the newest epoch. */
  readonly epoch: number;
  readonly rows: number;
  readonly last: boolean;
  readonly content: number;
  /** It came on an encrypted channel, so it has no signature. */
  readonly isEncrypted: boolean;
  readonly rejectAs: WireCode | null;
}

export interface EpochFacts {
  /** Counted from the newest epoch: 1 is the next. */
  readonly epoch: number;
  readonly rho: number;
  readonly delta: number;
  /** Null: the noise is not pure. */
  readonly pure: number | null;
  readonly rowsMax: number;
  readonly late: 'next' | 'drop';
  /** How long it stays open; 0 when it closes on a count. */
  readonly openMs: number;
}

interface OfStudy { readonly study: number }

/** One call of the store, or what happens between calls. */
export type Action =
  | { readonly kind: 'admit'; readonly batches: readonly (BatchFacts & OfStudy)[] }
  | OfStudy & (
    | { readonly kind: 'open'; readonly next: EpochFacts }
    | { readonly kind: 'turn'; readonly closing: NamedEpoch; readonly next: EpochFacts }
    | { readonly kind: 'charge'; readonly epoch: NamedEpoch; readonly events: string }
    | {
      readonly kind: 'release'; readonly epoch: NamedEpoch; readonly offset: number;
      readonly content: number; readonly series: boolean;
    }
    | {
      readonly kind: 'close' | 'lapse' | 'purge' | 'recover' | 'recovered';
      readonly epoch: NamedEpoch;
    }
    | { readonly kind: 'withdraw'; readonly contributor: number; readonly epoch: number }
    | {
      readonly kind: 'quarantine'; readonly contributors: readonly number[];
      readonly from: number | null;
    }
    | { readonly kind: 'state'; readonly to: 'open' | 'exhausted' | 'ended' }
    | {
      readonly kind: 'register';
      readonly change: 'same' | 'smaller' | 'larger' | 'scope' | 'window';
    })
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'repair'; readonly confirmed: boolean }
  | { readonly kind: 'look' }
  | { readonly kind: 'reopen' };

/** What a study of a sequence is registered with. */
export interface StudySetup {
  readonly scope: 'study' | 'contributor' | 'population';
  readonly rule: 'zcdp' | 'pure' | 'renyi';
  readonly cap: number;
  readonly windowMs: number | null;
  /** New keys that the study takes in a period. */
  readonly rate: { readonly contributorKeys: number; readonly perMs: number } | null;
  /** Of running totals. */
  readonly separation: number | null;
  /** The most people of an epoch: often fewer than there are. */
  readonly peopleMax: number;
}

export interface Sequence {
  readonly seed: number;
  /** Studies of one sequence have one name and one budget, as versions of a study have. */
  readonly studies: readonly StudySetup[];
  readonly actions: readonly Action[];
}

export const contributorCount = 4;

/** A sequence of calls as servers make them, with some that no server makes. */
export function sequenceOf(seed: number): Sequence {
  const chance = Chance.of(seed);
  const peopleMax = seed % 3 === 0 ? 1 + seed % contributorCount : 1_000;
  const first = { ...setupOf(chance), peopleMax };
  const studies = chance.happens(0.4) ? [first, { ...first }] : [first];
  const length = 8 + chance.below(32);
  const begin = studies.map((_, study): Action => ({
    kind: 'open', study, next: { ...epochFacts(chance), epoch: 1 },
  }));
  const actions = Array.from({ length }, (_, i) =>
    actionOf(chance, studies.length, chance.fork(`forms ${i}`)));
  return { seed, studies, actions: [...begin, ...actions, { kind: 'look' }] };
}

function setupOf(chance: Chance): Omit<StudySetup, 'peopleMax'> {
  const scope = chance.pick(['study', 'study', 'contributor', 'population'] as const);
  return {
    scope, rule: chance.pick(['zcdp', 'zcdp', 'pure', 'renyi'] as const),
    cap: chance.pick([150, 300, 500, 10_000]),
    windowMs: chance.happens(0.3) ? chance.pick([2_000, 5_000]) : null,
    rate: chance.happens(0.25)
      ? { contributorKeys: 1 + chance.below(2), perMs: chance.pick([1_000, 4_000]) } : null,
    separation: scope === 'contributor' && chance.happens(0.4) ? 1 + chance.below(3) : null,
  };
}

function epochFacts(chance: Chance): EpochFacts {
  return {
    epoch: chance.happens(0.92) ? 1 : chance.pick([-1, 0, 2, 5]), rho: chance.pick([40, 100, 100]),
    delta: chance.pick([0, 10, 60]), pure: chance.pick([null, 60, 100, 100]),
    rowsMax: chance.pick([1, 4, 4, 9]),
    late: chance.pick(['next', 'next', 'drop'] as const), openMs: chance.pick([0, 1_000, 1_000]),
  };
}

/** Each kind as often as its weight. */
const kinds: readonly (readonly [Action['kind'], number])[] = [
  ['admit', 12], ['turn', 5], ['open', 1], ['close', 1], ['charge', 5], ['release', 5],
  ['lapse', 1], ['purge', 2], ['recover', 0.4], ['recovered', 0.2], ['withdraw', 2],
  ['quarantine', 1], ['state', 0.6], ['register', 0.6], ['advance', 3], ['repair', 0.3],
  ['look', 0.3], ['reopen', 0.2],
];
const weight = kinds.reduce((sum, [, part]) => sum + part, 0);

function kindOf(chance: Chance): Action['kind'] {
  let left = chance.between(0, weight);
  return kinds.find(([, part]) => (left -= part) < 0)![0];
}

const namedEpoch = (chance: Chance): NamedEpoch =>
  (chance.happens(0.85) ? 'fitting' : chance.pick([-2, -1, 0, 1]));

/** @param forms draws in which form batches come, beside the other choices. */
function actionOf(chance: Chance, studies: number, forms: Chance): Action {
  const kind = kindOf(chance);
  const study = chance.below(studies);
  switch (kind) {
    case 'admit':
      return { kind, batches: batchesOf(chance, studies, forms) };
    case 'open':
      return { kind, study, next: epochFacts(chance) };
    case 'turn':
      return { kind, study, closing: namedEpoch(chance), next: epochFacts(chance) };
    case 'charge': {
      const events = chance.happens(0.95) ? '["events"]' : '["others"]';
      return { kind, study, epoch: namedEpoch(chance), events };
    }
    case 'release':
      return {
        kind, study, epoch: namedEpoch(chance), offset: chance.happens(0.9) ? 0 : 1,
        content: chance.below(8) === 0 ? 1 : 0, series: chance.happens(0.5),
      };
    case 'close': case 'lapse': case 'purge': case 'recover': case 'recovered':
      return { kind, study, epoch: namedEpoch(chance) };
    case 'withdraw':
      return {
        kind, study, contributor: chance.below(contributorCount),
        epoch: chance.pick([0, 0, 0, -1, -2, 1]),
      };
    case 'quarantine': {
      const contributors = Array.from({ length: 1 + chance.below(2) },
        () => chance.below(contributorCount));
      return { kind, study, contributors, from: chance.happens(0.6) ? null : chance.below(4) };
    }
    case 'state':
      return { kind, study, to: chance.pick(['open', 'open', 'exhausted', 'ended'] as const) };
    case 'register':
      return {
        kind, study,
        change: chance.pick(['same', 'smaller', 'larger', 'scope', 'window'] as const),
      };
    case 'advance':
      return { kind, ms: chance.happens(0.9) ? chance.below(3_000) : -chance.below(1_500) };
    case 'repair':
      return { kind, confirmed: chance.happens(0.5) };
    case 'look': case 'reopen':
      return { kind };
  }
}

function batchesOf(
  chance: Chance, studies: number, forms: Chance,
): (BatchFacts & OfStudy)[] {
  return Array.from({ length: chance.below(10) }, () => ({
    study: chance.below(studies), contributor: chance.below(contributorCount),
    sequence: sequenceNumber(chance), epoch: chance.pick([0, 0, 0, 0, -1, -2, 1]),
    rows: chance.pick([0, 1, 1, 1, 2, 3]), last: chance.happens(0.2),
    content: chance.happens(0.9) ? 0 : 1, isEncrypted: forms.happens(0.5),
    rejectAs: chance.happens(0.12)
      ? chance.pick(['not-finite', 'wrong-columns'] as const) : null,
  }));
}

function sequenceNumber(chance: Chance): bigint {
  if (chance.happens(0.9)) return BigInt(1 + chance.below(10));
  return chance.pick([0n, 40n, 64n, 65n, 80n, 128n, 2n ** 63n, 2n ** 64n - 1n]);
}
