import { signing } from '#signing';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { encodeLogLine, type LogFaultCode, type LogLine } from '../../src/log/index.js';
import { signStatement } from '../../src/signing/index.js';
import {
  encodeHeadBody, encodeReleaseBody, ofShortAnswer, type HeadBody,
} from '../../src/wire/index.js';
import {
  counting, facts, factsId, server, shortRelease, type ShortRelease,
} from './samples.js';

/** A log, and the verdict that a verifier must reach. */
export interface LogVector {
  readonly name: string;
  /** The first fault; null: there is none. */
  readonly fault: LogFaultCode | null;
  readonly log: string;
}

const other = signing.createSigner(counting(0xc0, 32));

const study: LogLine = {
  type: 'study', facts, serverKey: server.publicKey,
  signature: signStatement('study', server, factsId, signing.sha512(facts)),
};

function release(
  index: bigint, before: LogLine | null, change: Partial<ShortRelease> = {},
  signer = server,
): LogLine {
  const previousDigest = before?.type === 'release'
    ? signing.sha512(before.body) : new Uint8Array(64);
  const body =
    encodeReleaseBody(ofShortAnswer({
      ...shortRelease, index, epoch: 7n + index, previousDigest, ...change,
    }));
  const signature = signStatement('release', signer, factsId, signing.sha512(body));
  return { type: 'release', body, signature };
}

function head(count: bigint, last: LogLine, change: Partial<HeadBody> = {}): LogLine {
  const digest = last.type === 'release' ? signing.sha512(last.body) : new Uint8Array(64);
  const body = encodeHeadBody({
    serverKey: server.publicKey, studyId: factsId, count, digest, state: 'open', ...change,
  });
  const signature = signStatement('head', server, factsId, signing.sha512(body));
  return { type: 'head', body, signature };
}

const text = (...lines: readonly LogLine[]): string =>
  lines.map((line) => `${encodeLogLine(line)}\n`).join('');

/** A log of two releases whose second one is changed, and signed again with its head. */
function changed(change: Partial<ShortRelease>): string {
  const first = release(0n, null);
  const second = release(1n, first, change);
  return text(study, first, second, head(2n, second));
}

/**
 * The same with a second release that is signed, but describes one of its two numbers only: the run
 * of its kind is shorter.
 */
function changedBytes(): string {
  const first = release(0n, null);
  const { body } = release(1n, first) as Extract<LogLine, { readonly type: 'release' }>;
  // Field 2 of the description, `kind`: 2 bytes, a run of twice the third text.
  const whole = fromHex(toHex(body).replace(/12020304(?=1a)/, '12020302'));
  const second: LogLine = {
    type: 'release', body: whole,
    signature: signStatement('release', server, factsId, signing.sha512(whole)),
  };
  return text(study, first, second, head(2n, second));
}

/** Logs of the fixed keys and study of test/vectors. test/vectors/logs.json has the same. */
export function logVectors(): readonly LogVector[] {
  const first = release(0n, null);
  const second = release(1n, first);
  const end = head(2n, second);
  const forged = release(1n, first, {}, other);
  const good = text(study, first, second, end);
  return [
    { name: 'two releases', fault: null, log: good },
    { name: 'no release', fault: null, log: text(study, head(0n, study)) },
    { name: 'without the study', fault: 'study-missing', log: text(first, second, end) },
    { name: 'without the first release', fault: 'index-mismatch', log: text(study, second, end) },
    { name: 'without the last release', fault: 'head-mismatch', log: text(study, first, end) },
    { name: 'without the head', fault: 'head-missing', log: text(study, first, second) },
    {
      name: 'with two releases swapped', fault: 'index-mismatch',
      log: text(study, second, first, end),
    },
    { name: 'without its last newline', fault: 'line-malformed', log: good.slice(0, -1) },
    { name: 'with a line after the head', fault: 'line-after-head', log: good + text(first) },
    { name: 'with a space in a line', fault: 'line-malformed', log: good.replace(',', ', ') },
    {
      name: 'with a release of another key', fault: 'signature-invalid',
      log: text(study, first, forged, head(2n, forged)),
    },
    {
      name: 'with a head of other releases', fault: 'head-mismatch',
      log: text(study, first, second, head(2n, first)),
    },
    {
      name: 'with a broken chain', fault: 'digest-mismatch',
      log: changed({ previousDigest: new Uint8Array(64).fill(7) }),
    },
    { name: 'with an epoch twice', fault: 'epoch-order', log: changed({ epoch: 7n }) },
    { name: 'with another cohort', fault: 'facts-mismatch', log: changed({ cohort: 17n }) },
    {
      name: 'with another estimator', fault: 'facts-mismatch',
      log: changed({ estimator: 'mean' }),
    },
    {
      name: 'with a number that is not described', fault: 'body-malformed',
      log: changedBytes(),
    },
  ];
}

/** Hexadecimal: the key that the logs are signed with. */
export const logKey = toHex(server.publicKey);
/** Hexadecimal: the key of another server. */
export const otherKey = toHex(other.publicKey);
