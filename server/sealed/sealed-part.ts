import { toHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { servers } from '../../src/sealed/shares/body.js';
import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { TakePeer } from '../network/options.js';
import type { OpenSealed } from '../studies/live/open-sealed.js';
import { Mesh } from './mesh.js';
import { Peers } from './peers.js';
import { SealedStudy } from './sealed-study.js';

export interface SealedPartOptions {
  /** The name of this server in the facts of its sealed studies. */
  readonly as: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The time for which another server may be silent during a release, in milliseconds. */
  readonly timeoutMs: number;
}

/** This process as one of the three servers of its sealed studies. */
export class SealedPart {
  readonly #peers: Peers;
  readonly #studies: SealedStudy[] = [];

  constructor(private readonly options: SealedPartOptions) {
    this.#peers = new Peers(options.clock, options.logger);
  }

  readonly takePeer: TakePeer = (...upgrade) => this.#peers.upgrade(...upgrade);

  /** @throws KeelsonError('invalid-study') unless the study names this server and its key. */
  readonly open: OpenSealed = (context, definition, identity, record, options) => {
    const { as, clock, logger, timeoutMs } = this.options;
    const { sealed, study } = definition.document;
    if (sealed!.unusableMax !== undefined) {
      throw new KeelsonError('invalid-study', `the study ${study} has the fact sealed.unusableMax, `
        + 'which this version does not know: its log and ledger can be read, and it takes and '
        + 'releases nothing. Take the option out of the study file of all three servers: this '
        + 'makes a new study, which goes on with the budget', { details: { study } });
    }
    const place = sealed!.servers.findIndex(({ name }) => name === as);
    const names = sealed!.servers.map(({ name }) => name).join(', ');
    if (place < 0) {
      throw new KeelsonError('invalid-study', `the study ${study} has no server ${as}: give --as `
        + `one of ${names}`, { details: { study } });
    }
    const key = toHex(context.signer.publicKey);
    if (key !== sealed!.servers[place]!.key) {
      throw new KeelsonError('invalid-study', `the key of this data folder is ${key}, and the study `
        + `${study} has another one for ${as}: use the folder of ${as}, or write this key into the `
        + 'study file of all three servers', { details: { study } });
    }
    const { studyId } = identity;
    const server = servers[place]!;
    const mesh = new Mesh({
      studyId, sealed: sealed!, server, signer: context.signer, clock, logger,
    });
    this.#peers.add(studyId, mesh);
    const opened = new SealedStudy(context, definition, identity, record, {
      ...options, server, mesh, timeoutMs,
    });
    this.#studies.push(opened);
    return opened;
  };

  /** Finishes releases whose charge was made, then cuts the sockets of the other servers. */
  async close(): Promise<void> {
    await Promise.all(this.#studies.map((study) => study.close()));
    this.#peers.close();
  }
}
