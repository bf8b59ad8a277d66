import { InvalidParameterError } from '../src/base/errors.js';
import { findAttack, isProtocolAttack, type RowAttack } from './attacks/index.js';
import type { FleetOptions } from './fleet-options.js';

/** The behaviour of the hostile contributors of one study in one epoch. */
export interface Hostility {
  /** Number of hostile contributors. They are the first ones. */
  readonly hostile: number;
  /** `absent`: they send nothing. Null: an abuse group plays them. */
  readonly attack: RowAttack | 'absent' | null;
  /** Undefined: the attack's own strength. */
  readonly strength: number | undefined;
  /** Epochs since this began, from 0. */
  readonly age: number;
}

/**
 * The behaviour in this epoch: that of the fleet's tactics, or else that of its options.
 * @param before the behaviour in the epoch before. The age of a repeated attack grows.
 * @throws InvalidParameterError for tactics with a share outside [0, 1), an unknown attack or one
 *   on the protocol.
 */
export function hostilityOf(
  fleet: FleetOptions, study: string, epoch: bigint, before: Hostility | null,
): Hostility {
  const tactics = fleet.tactics?.(study, epoch) ?? null;
  const share = tactics?.corruption ?? fleet.corruption ?? 0;
  if (!(share >= 0 && share < 1)) {
    throw new InvalidParameterError(`the fraction of liars is ${share}: give one in [0, 1)`);
  }
  const attack = attackOf(tactics?.attack ?? fleet.attack ?? 'shift', tactics !== null);
  const goesOn = before !== null && before.attack === attack;
  return {
    hostile: Math.round(share * fleet.contributors),
    attack,
    strength: tactics === null ? fleet.strength : tactics.strength,
    age: goesOn ? before.age + 1 : 0,
  };
}

function attackOf(name: string, isTactic: boolean): Hostility['attack'] {
  if (name === 'absent' && isTactic) return 'absent';
  const attack = findAttack(name);
  if (!isProtocolAttack(attack)) return attack;
  if (!isTactic) return null;
  throw new InvalidParameterError(
    `${name} is an attack on the protocol: give it to a fleet of its own`,
  );
}
