import { describe, expect, it } from 'vitest';
import {
  chainStart, decodeLogLine, LogError, ReleaseChain, type ChainPosition,
} from '../../src/log/index.js';
import { signing } from '../../src/signing/node.js';
import { document, server } from '../support/wire-samples.js';
import { sampleLog } from '../support/log-samples.js';

const log = await sampleLog(5);
const head =
  decodeLogLine(log.lines.at(-1)!) as { readonly body: Uint8Array; readonly signature: Uint8Array };
const verifier = signing.createVerifier(server.publicKey);

function chain(from?: ChainPosition): ReleaseChain {
  return new ReleaseChain({
    server: verifier, signing, studyId: log.studyId, document, ...(from && { from }),
  });
}

function fault(action: () => unknown): LogError {
  try {
    action();
  } catch (error) {
    expect(error).toBeInstanceOf(LogError);
    return error as LogError;
  }
  throw new Error('nothing was thrown');
}

describe('release chain', () => {
  it('follows a log from its start to its head', () => {
    const live = chain();
    log.releases.forEach((release, i) => expect(live.accept(release).index).toBe(BigInt(i)));
    expect(live.position).toEqual({ index: 5n, digest: log.releases[4]!.digest, epoch: 13n });
    expect(live.checkHead(head)).toMatchObject({ count: 5n, state: 'ended' });
  });

  it('resumes where another left off', () => {
    const before = chain();
    log.releases.slice(0, 3).forEach((release) => before.accept(release));
    const after = chain(before.position);
    expect(after.accept(log.releases[3]!).index).toBe(3n);
    expect(chain(chainStart).accept(log.releases[0]!).index).toBe(0n);
  });

  it('takes the first link on trust when its digest is not known, and no later one', () => {
    const live = chain({ index: 2n, digest: null, epoch: null });
    live.accept(log.releases[2]!);
    live.accept(log.releases[3]!);
    const wrong = chain({ index: 2n, digest: new Uint8Array(64), epoch: null });
    expect(fault(() => wrong.accept(log.releases[2]!)).fault).toBe('digest-mismatch');
  });

  it('distinguishes a gap from a repetition by the indexes, and continues after either', () => {
    const live = chain();
    live.accept(log.releases[0]!);
    const gap = fault(() => live.accept(log.releases[2]!));
    expect(gap).toMatchObject({ code: 'log-invalid', fault: 'index-mismatch', retryable: false });
    expect(gap.details).toMatchObject({ fault: 'index-mismatch', expected: 1n, found: 2n });
    expect(fault(() => live.accept(log.releases[0]!)).details)
      .toMatchObject({ expected: 1n, found: 0n });
    expect(live.accept(log.releases[1]!).index).toBe(1n);
  });

  it('refuses a head that counts more or fewer releases', () => {
    const live = chain();
    log.releases.slice(0, 4).forEach((release) => live.accept(release));
    expect(fault(() => live.checkHead(head)).details).toMatchObject({ expected: 5n, found: 4n });
  });

  it('refuses a signature for the body of another label', () => {
    expect(fault(() => chain().accept(head)).fault).toBe('signature-invalid');
    expect(fault(() => chain().checkHead(log.releases[0]!)).fault).toBe('signature-invalid');
  });
});
