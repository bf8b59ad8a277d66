import { afterEach, describe, expect, it, vi } from 'vitest';
import { Greeting } from '../../client/session/greeting.js';
import type { VerifiedWelcome } from '../../client/session/handshake.js';
import { signReady, verifyHello } from '../../src/signing/index.js';
import { signing as asyncSigning } from '../../src/signing/async-node.js';
import { signing } from '../../src/signing/node.js';
import { decodeClientFrame, type Hello, type Ready } from '../../src/wire/index.js';
import { contributor, factsId as studyId, server } from '../support/wire-samples.js';

afterEach(() => vi.restoreAllMocks());

const welcomeWith = (serverNonce: Uint8Array): VerifiedWelcome => {
  const verifier = signing.createVerifier(server.publicKey);
  return {
    server: verifier, keys: [verifier], serverNonce, share: null, studies: [], unread: 0,
    limits: {
      frameBytes: 1, rowsPerBatch: 1, creditBatches: 1, channelsPerSocket: 1, sequenceWindow: 1,
    },
  };
};

async function greet(
  serverNonce: Uint8Array,
): Promise<{ readonly greeting: Greeting; readonly hello: Hello }> {
  const greeting =
    new Greeting({ signer: contributor, enrolment: undefined }, welcomeWith(serverNonce), studyId);
  return { greeting, hello: decodeClientFrame(await greeting.hello()) as Hello };
}

/**
 * What only the holder of the server's key can answer, and anybody who recorded it can show again.
 */
const readyTo = ({ clientNonce }: Hello, serverNonce: Uint8Array): Ready => ({
  kind: 'ready', channel: 1, studyId, publicKey: contributor.publicKey, epoch: 1n, nextSequence: 1n,
  holes: [], credit: 1, ownSpend: null,
  signature: signReady(server, studyId, contributor.publicKey, { serverNonce, clientNonce }),
});

describe('the nonces of a handshake', () => {
  const serverNonce = signing.randomBytes(32);

  it('make a recorded Ready worth nothing, also behind a recorded Welcome', async () => {
    const before = await greet(serverNonce);
    const recorded = readyTo(before.hello, serverNonce);
    expect(await before.greeting.isProvenBy(recorded)).toBe(true);
    const after = await greet(serverNonce);
    expect(await after.greeting.isProvenBy(recorded)).toBe(false);
    expect(after.hello.clientNonce).not.toEqual(before.hello.clientNonce);
  });

  it('are what the client relies on: with one that repeats, a recording is taken for the '
    + 'server', async () => {
    vi.spyOn(asyncSigning, 'randomBytes')
      .mockImplementation((length) => new Uint8Array(length).fill(7));
    const recorded = readyTo((await greet(serverNonce)).hello, serverNonce);
    expect(await (await greet(serverNonce)).greeting.isProvenBy(recorded)).toBe(true);
  });

  it('are fresh for each Hello of a socket, whose answers may come in any order', async () => {
    const { greeting, hello } = await greet(serverNonce);
    const second = decodeClientFrame(await greeting.hello()) as Hello;
    expect(second.clientNonce).not.toEqual(hello.clientNonce);
    for (const each of [second, hello]) {
      expect(await greeting.isProvenBy(readyTo(each, serverNonce))).toBe(true);
    }
  });

  it('make a recorded Hello worth nothing on another socket', async () => {
    const { hello } = await greet(serverNonce);
    const context = { serverKey: server.publicKey, studyId };
    const verifier = signing.createVerifier(contributor.publicKey);
    const checked = (nonce: Uint8Array): boolean =>
      verifyHello(
        verifier, context, { serverNonce: nonce, clientNonce: hello.clientNonce }, hello.signature,
      );
    expect([checked(serverNonce), checked(signing.randomBytes(32))]).toEqual([true, false]);
  });
});
