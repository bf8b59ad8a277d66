import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requestToken } from '../../client/tokens.js';
import {
  IssuerRecord, makeIssuer, type Issuer,
} from '../../cli/issuer/folder.js';
import { serveIssuer, type RunningIssuer } from '../../cli/issuer/server.js';
import { systemClock } from '../../server/base/clock.js';
import { fromHex } from '../../src/base/bytes.js';
import type { StudyDocument } from '../../src/wire/study-document.js';

/** How long the periods of the issuers of tests are. The first begins a second after 1970. */
export const perMs = 60_000;
export const fromMs = 1_000;

/** A real issuer of two periods on a free port, with a clock that the test sets. */
export class BlindIssuer {
  nowMs: number;
  /** Set: the clock of the limits stands there. */
  monotonicMs: number | undefined;
  readonly folder = mkdtempSync(join(tmpdir(), 'keelson-issuer-'));
  record!: IssuerRecord;
  running!: RunningIssuer;
  issuer!: Issuer;

  private constructor(readonly times: Readonly<Record<'fromMs' | 'perMs', number>>) {
    this.nowMs = times.fromMs;
  }

  static async start(times = { fromMs, perMs }): Promise<BlindIssuer> {
    const made = new BlindIssuer(times);
    made.issuer = await makeIssuer(made.folder, { issuer: 'tokens.example.org', ...times }, 2);
    await made.serve();
    return made;
  }

  /** Begins with what is in the folder. */
  async serve(): Promise<void> {
    this.record = new IssuerRecord(this.folder);
    this.running = await serveIssuer(this.issuer, this.record, {
      host: '127.0.0.1', port: 0, trustedProxies: ['127.0.0.1'],
      clock: {
        ...systemClock, nowMs: () => this.nowMs,
        monotonicMs: () => this.monotonicMs ?? systemClock.monotonicMs(),
      },
    });
  }

  async stop(): Promise<void> {
    await this.running.close();
    this.record.close();
  }

  async end(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  get admission(): Extract<StudyDocument['admission'], { readonly kind: 'tokens' }> {
    const { issuer: { issuer, keys }, times } = this;
    return { kind: 'tokens', issuer, ...times, keys: keys.map(({ id }) => id) };
  }

  /** The token of a new person. */
  async token(seed: Uint8Array, study: string, code = this.person()): Promise<Uint8Array> {
    const { enrolment } = await requestToken({
      issuer: this.running.address, code, seed, study: { study, admission: this.admission },
    });
    return fromHex(enrolment);
  }

  /** A new person's code. */
  person(): string {
    return this.record.addCodes(1)[0]!;
  }
}
