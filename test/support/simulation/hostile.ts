import { abuses } from '../../../simulation/attacks/index.js';
import { AbuseGroup } from '../../../simulation/abuser.js';
import { signing } from '../../../src/signing/node.js';
import type { ContributorWorld } from './contributor.js';
import { clientRuntime, ProcessTimers } from './scheduler.js';
import { rowOf } from './study.js';

/** Numbers of hostile contributors begin here, so that their rows are nobody else's. */
const firstHostile = 1_000;

/**
 * Contributors that break the protocol: broken frames, bad signatures, replays, wrong sizes, far
 * sequences.
 */
export class HostileCrowd {
  readonly #group: AbuseGroup;
  readonly #timers: ProcessTimers;
  readonly #size = 2;
  #counter = 0;

  /** @param epoch the open one, as far as they know. */
  constructor(private readonly world: ContributorWorld, private readonly epoch: () => bigint) {
    const { scheduler, network, chance, studyId } = world;
    this.#timers = new ProcessTimers(scheduler, 'hostile');
    this.#group = new AbuseGroup({
      connection: {
        url: 'ws://simulated/', runtime: clientRuntime(this.#timers, () => chance.uniform()),
        openTransport: network.transportOf('hostile', () => this.#timers.alive),
        backoffInitialMs: 10, backoffMaxMs: 100, idleTimeoutMs: 700,
      },
      study: studyId,
      signers: Array.from({ length: this.#size }, (_, i) =>
        signing.createSigner(new Uint8Array(32).fill(200 + i))),
      abuses, random: chance.work, onRefused: () => undefined, onDown: () => undefined,
    });
    this.#group.open();
  }

  act(): boolean {
    const { chance } = this.world;
    const index = chance.below(this.#size);
    this.#counter += 1;
    return this.#group.act(
      index, this.epoch(), Float64Array.from(rowOf(firstHostile + index, this.#counter)),
    );
  }
}
