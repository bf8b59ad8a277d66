import { signing } from '#signing';
import type {
  Contributor, createContributor, openOutbox, subscribe, Settled,
} from '../../client/index.js';
import type { createOnceContributor, OnceContributor } from '../../client/once.js';
import type { Sealing } from '../../client/sealing.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { KeelsonError, WireError } from '../../src/base/errors.js';
import { signedMessage } from '../../src/signing/index.js';

/** A command of the kit. docs/reference/conformance.md has the members of each. */
export interface Line {
  readonly do: string;
  readonly url: string;
  readonly study: string;
  readonly seed: string;
  readonly outbox: string;
  readonly serverKey?: string;
  readonly enrolment?: string;
  readonly once?: boolean;
  readonly encryptedOnly?: boolean;
  readonly id: string;
  readonly rows: number[][];
  readonly last?: boolean;
  readonly epoch?: number;
  readonly from?: number;
  readonly previousDigest?: string;
  readonly log: string;
  readonly label: 'hello' | 'batch' | 'open';
  readonly studyId: string;
  readonly bytes: string;
}

/** The code under which rows are settled. */
const outcomeOf = (result: Settled): string =>
  (result.kind === 'accepted' ? 'accepted' : result.error.code);

/** Reports an event to the kit. */
export type Say = (event: string, members?: object) => void;

const codeOf = (error: unknown): string =>
  (error instanceof KeelsonError ? error.code : 'invariant');

/** Short waits: a try ends sooner, and nobody else is kept from the server. */
const waits = { backoffInitialMs: 20, backoffMaxMs: 500 };

/**
 * The parts of the client under test. Tests of the kit replace them with faulty ones. A client
 * lacks the skills of those that are absent.
 */
export interface LineClientParts {
  readonly createContributor: typeof createContributor;
  readonly createOnceContributor?: typeof createOnceContributor;
  readonly openOutbox: typeof openOutbox;
  readonly subscribe: typeof subscribe;
  readonly sealing?: Sealing;
  /** True if the log in a file is authentic. @param serverKey 32 bytes. */
  readonly verifyLog?: (path: string, serverKey: Uint8Array) => Promise<boolean>;
}

const pinOf = ({ serverKey }: Line): { serverKey?: Uint8Array } =>
  (serverKey === undefined ? {} : { serverKey: fromHex(serverKey) });

/**
 * The client of this package behind the line protocol, on Node or in a page. One contributor and
 * one subscription.
 */
export class LineClient {
  private contributor: OnceContributor | null = null;
  /** The same, where it has a channel. */
  private onChannel: Contributor | null = null;
  private reading: AbortController | null = null;

  constructor(private readonly parts: LineClientParts, private readonly say: Say) {}

  /** Says what this client can do. */
  hello(): void {
    const { createOnceContributor: once, verifyLog, sealing } = this.parts;
    this.say('hello', { can: [
      'contribute', 'encrypt', 'encrypted-only', 'withdraw', 'typed', 'subscribe',
      ...(once === undefined ? [] : ['once']), ...(verifyLog === undefined ? [] : ['verify']),
      ...(sealing === undefined ? [] : ['sealed']),
    ] });
  }

  async take(line: Line): Promise<void> {
    switch (line.do) {
      case 'open': return this.open(line);
      case 'send': return void this.send(line);
      case 'withdraw': return void this.withdraw(line);
      case 'subscribe': return void this.read(line);
      case 'verify': return this.verify(line);
      case 'sign': return this.sign(line);
      case 'ping': return this.say('pong');
      case 'close': return void this.close();
      default: throw new Error(`unknown command ${line.do}`);
    }
  }

  async open(line: Line): Promise<void> {
    const { url, study, seed, enrolment } = line;
    const outbox = await this.parts.openOutbox(line.outbox);
    const options = {
      url, study, seed: fromHex(seed), outbox, ...waits, ...pinOf(line),
      ...(enrolment !== undefined && { enrolment }),
    };
    const { sealing } = this.parts;
    if (line.once !== true) {
      const { encryptedOnly = false } = line;
      this.onChannel = this.parts.createContributor({
        ...options, encryptedOnly, ...(sealing !== undefined && { sealing }),
      });
    }
    this.contributor = this.onChannel ?? this.parts.createOnceContributor!(options);
    void this.follow(this.contributor);
  }

  private async follow(own: OnceContributor): Promise<void> {
    const { say } = this;
    for await (const status of own.status()) {
      if (status.kind === 'kept') say('stored');
      if (status.kind === 'recovered') say('settled', { code: outcomeOf(status.result) });
      if (status.kind === 'ended' && status.error !== null) {
        say('ended', { code: status.error.code });
      }
    }
  }

  private async verify({ log, serverKey = '' }: Line): Promise<void> {
    this.say('verified', { ok: await this.parts.verifyLog!(log, fromHex(serverKey)) });
  }

  private sign({ label, seed, serverKey = '', studyId, bytes }: Line): void {
    const signer = signing.createSigner(fromHex(seed));
    const context = { serverKey: fromHex(serverKey), studyId: fromHex(studyId) };
    const payload = label === 'hello' ? fromHex(bytes) : signing.sha512(fromHex(bytes));
    const message = signedMessage(label, context, signer.publicKey, payload);
    this.say('signed', { message: toHex(message), signature: toHex(signer.sign(message)) });
  }

  async send({ id, rows, last = false }: Line): Promise<void> {
    try {
      const result = await this.contributor!.send(rows, { last });
      this.say('settled', { id, code: outcomeOf(result) });
    } catch (error) {
      // An error that ended the contributor is reported as its end. The outbox keeps the rows.
      if (error instanceof WireError && this.contributor!.state.kind !== 'ended') {
        this.say('settled', { id, code: error.code });
      }
    }
  }

  async withdraw({ epoch = 0 }: Line): Promise<void> {
    try {
      this.say('withdrawn', { epoch: Number(await this.onChannel!.withdraw(BigInt(epoch))) });
    } catch (error) {
      if (this.contributor!.state.kind !== 'ended') this.say('withdrawn', { code: codeOf(error) });
    }
  }

  async read(line: Line): Promise<void> {
    const { url, study, from = 0, previousDigest } = line;
    const start = {
      from: BigInt(from),
      ...(previousDigest !== undefined && { previousDigest: fromHex(previousDigest) }),
    };
    this.reading = new AbortController();
    const { signal } = this.reading;
    try {
      for await (const { release, signed } of
        this.parts.subscribe({ url, study, signal, ...start, ...waits, ...pinOf(line) })) {
        const digest = toHex(signing.sha512(signed.body));
        this.say('release', { index: Number(release.index), epoch: Number(release.epoch), digest });
      }
    } catch (error) {
      this.say('ended', { code: codeOf(error) });
    }
  }

  async close(): Promise<void> {
    this.reading?.abort();
    await this.contributor?.close();
    const state = this.contributor?.state;
    const ended = state?.kind === 'ended' ? state.error : null;
    if (ended === null) this.say('closed');
  }
}
