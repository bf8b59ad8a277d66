import { modPrime, signedModPrime } from '../../base/prime.js';
import { openSealed } from '../../base/wrappers.js';
import { InvariantError } from '../../base/errors.js';
import type { NoiseSource } from '../../random/source.js';
import type { SealedEvent } from '../accounting/sealed-cost.js';
import {
  createSealedMechanisms, noisedShare, type SealedMechanisms, type SealedSums,
} from './sealed-noise.js';

/** One opening: what the shares of three servers add up to. */
export interface ObservedOpening {
  readonly event: SealedEvent;
  /** Without noise, in steps of the event's grid; of a symmetric matrix the entries i <= j. */
  readonly sums: readonly bigint[];
  /** With the noise of all three servers. */
  readonly noised: readonly bigint[];
}

/** A server that waits until all three open. */
interface Waiting {
  readonly event: SealedEvent;
  readonly clear: Uint32Array;
  readonly noised: Uint32Array;
  readonly resolve: (opened: Uint32Array) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The mechanisms of three servers, which show what is opened and release what an observer says. As
 * `observed`: for checks on made-up data, so only src/audit may import this file.
 *
 * Each opening goes through the real mechanisms of each server, so one that was not charged, or
 * that does not fit its event, throws as it does in a release.
 * @param noises - one for each server.
 * @param answer - returns the steps that are opened in place of `noised`.
 */
export function observedOpenings(
  events: readonly SealedEvent[], noises: readonly NoiseSource[],
  answer: (opening: ObservedOpening) => readonly bigint[],
): readonly SealedMechanisms[] {
  const byName = new Map(events.map((event) => [event.name, event]));
  let waiting: Waiting[] = [];
  const open = (one: Waiting): void => {
    waiting.push(one);
    if (waiting.length < noises.length) return;
    const all = waiting;
    waiting = [];
    try {
      const opened = openedBy(all, answer);
      all.forEach(({ resolve }) => resolve(opened.slice()));
    } catch (error) {
      all.forEach(({ reject }) => reject(error));
    }
  };
  return noises.map((noise): SealedMechanisms => {
    let asked: Pick<Waiting, 'event' | 'clear'> | null = null;
    const inner = createSealedMechanisms(events, noise, (noised) =>
      new Promise((resolve, reject) => { open({ ...asked!, noised, resolve, reject }); }));
    return {
      prepare: () => 0,
      open: async (name, sums, unit) => {
        const event = byName.get(name);
        if (event !== undefined) {
          const { own } = openSealed<SealedSums>(sums);
          const silent = new Array<() => number>(own.length / 2).fill(() => 0);
          asked = { event, clear: noisedShare(own, unit / event.grid, silent) };
        }
        return inner.open(name, sums, unit);
      },
    };
  });
}

function openedBy(
  all: readonly Waiting[], answer: (opening: ObservedOpening) => readonly bigint[],
): Uint32Array {
  const [{ event }] = all as readonly [Waiting];
  if (all.some((one) => one.event !== event)) {
    throw new InvariantError('the three servers open different events');
  }
  const opened = answer({
    event, sums: sumOf(all.map(({ clear }) => clear)),
    noised: sumOf(all.map(({ noised }) => noised)),
  });
  return new Uint32Array(BigUint64Array.from(opened, modPrime).buffer);
}

/** Sums modulo 2^61 - 1, as signed numbers. */
function sumOf(shares: readonly Uint32Array[]): readonly bigint[] {
  const lists = shares.map((share) => new BigUint64Array(Uint32Array.from(share).buffer));
  return Array.from(lists[0]!, (_, i) =>
    signedModPrime(lists.reduce((sum, list) => sum + list[i]!, 0n)));
}
