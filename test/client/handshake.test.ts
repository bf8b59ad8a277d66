import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findStudy, verifyWelcome } from '../../client/session/handshake.js';
import { Opening } from '../../client/session/opening.js';
import { signing as asyncSigning } from '../../src/signing/async-node.js';
import { signing } from '../../src/signing/node.js';
import { signing as web } from '../../src/signing/web.js';
import { signRotation, signShare, signStatement, type Signer } from '../../src/signing/index.js';
import {
  decodeClientFrame, encodeStudyDocument, studyId, type SignedStudy, type Welcome,
} from '../../src/wire/index.js';
import { fromHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import { document } from '../support/wire-samples.js';

/** Signatures that were checked, whoever asked. */
let checked = 0;
beforeEach(() => {
  checked = 0;
  const createVerifier = signing.createVerifier.bind(signing);
  vi.spyOn(asyncSigning, 'createVerifier').mockImplementation((key) => {
    const verifier = createVerifier(key);
    return {
      ...verifier, verify: (message, signature) => (checked++, verifier.verify(message, signature)),
    };
  });
});
afterEach(() => vi.restoreAllMocks());

const signer = signing.createSigner(signing.generateSeed());
const welcome = (studies: readonly SignedStudy[], serverKey = signer.publicKey): Welcome => ({
  kind: 'welcome', serverKey, serverNonce: new Uint8Array(32), studies, rotations: [],
  limits: {
    frameBytes: 1e6, rowsPerBatch: 4096, creditBatches: 16, channelsPerSocket: 1024,
    sequenceWindow: 256,
  },
});

async function study(name: string, change: object = {}): Promise<SignedStudy> {
  const facts = encodeStudyDocument({ ...document, study: name, ...change });
  const id = fromHex(await studyId(facts, signing));
  return {
    facts, signature: signStatement('study', signer, id, signing.sha512(facts)), state: 'open',
    epoch: 7n,
  };
}

it('checks the facts of a study once for all sockets that show them', async () => {
  const studies = [await study('first'), await study('second')];
  for (let socket = 0; socket < 3; socket++) {
    expect((await verifyWelcome(welcome(studies), [], 0)).studies.map(
      ({ document: { study: name } }) => name,
    ))
      .toEqual(['first', 'second']);
  }
  expect(checked).toBe(2);
});

it('does not accept facts that only resemble signed ones', async () => {
  const [known, other] = [await study('third'), await study('fourth')];
  await verifyWelcome(welcome([known]), [], 0);
  const signature = known.signature.slice();
  signature[0]! ^= 1;
  await expect(verifyWelcome(welcome([{ ...known, signature }]), [], 0)).rejects
    .toThrow('not signed by the server');
  await expect(verifyWelcome(welcome([{ ...known, facts: other.facts }]), [], 0)).rejects
    .toThrow('not signed');
  const stranger = signing.createSigner(signing.generateSeed()).publicKey;
  await expect(verifyWelcome(welcome([known], stranger), [], 0)).rejects.toThrow('not signed');
  // What failed is not remembered as signed either.
  await expect(verifyWelcome(welcome([{ ...known, signature }]), [], 0)).rejects
    .toThrow('not signed');
});

it('leaves out a study that it cannot read, and continues with the others', async () => {
  const later = await study('later', { admission: { kind: 'by-vote' } });
  const verified = await verifyWelcome(welcome([later, await study('now')]), [], 0);
  expect(verified.studies.map(({ document: { study: name } }) => name)).toEqual(['now']);
  expect(() => findStudy(verified, 'later'))
    .toThrow('no study later; it has: now, and 1 that only a newer client can read');
  const forged = { ...later, signature: new Uint8Array(64) };
  await expect(verifyWelcome(welcome([forged]), [], 0)).rejects.toThrow('not signed by the server');
});

describe('a server that changed its key', () => {
  const [first, second, third, stranger] = [1, 2, 3, 4].map((fill) =>
    signing.createSigner(new Uint8Array(32).fill(fill))) as [Signer, Signer, Signer, Signer];
  const rotations = [signRotation(first, second, signing), signRotation(second, third, signing)];
  const shown = (serverKey: Uint8Array, changes: readonly Uint8Array[]): Welcome => ({
    ...welcome([], serverKey), rotations: changes,
  });

  it('is followed by clients that pinned any of its keys, or two of them', async () => {
    for (const pins of [[], [first], [second], [third], [first, second]]) {
      const { server, keys } = await verifyWelcome(
        shown(third.publicKey, rotations), pins.map(({ publicKey }) => publicKey), 0,
      );
      expect(server.publicKey).toEqual(third.publicKey);
      expect(keys.map(({ publicKey }) => publicKey))
        .toEqual([first, second, third].map(({ publicKey }) => publicKey));
    }
  });

  it('is refused unread where it shows more changes than a server makes', async () => {
    const back = signRotation(second, first, signing);
    const many = Array.from({ length: protocolLimits.keyRotations + 1 }, (_, i) =>
      (i % 2 === 0 ? rotations[0]! : back));
    await expect(verifyWelcome(shown(second.publicKey, many), [], 0)).rejects
      .toMatchObject({ code: 'bad-signature' });
    expect(checked).toBe(0);
    expect((await verifyWelcome(shown(first.publicKey, many.slice(0, -1)), [], 0)).keys.length)
      .toBe(protocolLimits.keyRotations + 1);
  });

  it('is refused where a link is forged, missing, out of order, or older than what is '
    + 'known', async () => {
    const forged = rotations[0]!.slice();
    forged.set(stranger.sign(new Uint8Array(180)), 64);
    const cases: readonly (readonly [Uint8Array, readonly Uint8Array[], Signer, string])[] = [
      [third.publicKey, [forged, rotations[1]!], first, 'bad-signature'],
      [third.publicKey, rotations.toReversed(), first, 'bad-signature'],
      [third.publicKey, [rotations[0]!], first, 'bad-signature'],
      [third.publicKey, [rotations[1]!], first, 'server-key-mismatch'],
      [
        stranger.publicKey, [signRotation(stranger, stranger, signing)], first,
        'server-key-mismatch',
      ],
      [second.publicKey, [rotations[0]!], third, 'server-key-mismatch'],
      [second.publicKey, [], first, 'server-key-mismatch'],
      ...[0, 31, 40, 64, 191, 193].map((length) => {
        const cut = new Uint8Array(length);
        cut.set(rotations[1]!.subarray(0, length));
        return [third.publicKey, [rotations[0]!, cut], first, 'bad-signature'] as const;
      }),
    ];
    for (const [key, changes, pinned, code] of cases) {
      await expect(verifyWelcome(shown(key, changes), [pinned.publicKey], 0)).rejects
        .toMatchObject({ code });
    }
  });
});

/** The points of small order of X25519, and the forms of them that are not reduced. */
const smallOrder = [
  '00'.repeat(32), `01${'00'.repeat(31)}`,
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  ...['ec', 'ed', 'ee'].map((first) => `${first}${'ff'.repeat(30)}7f`),
];

describe.each([
  ['on Node', () => signing.keyAgreement()], ['in a page', () => web.keyAgreement()],
])('an Open %s', (_, keyAgreement) => {
  const frameFor = async (share: Uint8Array): Promise<Uint8Array> => {
    const unsigned = { share, issuedMs: 0n, untilMs: 600_000n };
    const signature = signShare(signer, unsigned, signing);
    const shown = await verifyWelcome(
      { ...welcome([]), share: { ...unsigned, signature } }, [], 0,
    );
    return new Opening({ signer }, shown, new Uint8Array(32)).frame;
  };

  it.each(smallOrder)('is not made for the signed share %s of small order', async (point) => {
    vi.spyOn(asyncSigning, 'keyAgreement').mockImplementation(keyAgreement);
    await expect(frameFor(fromHex(point))).rejects.toMatchObject({ code: 'malformed' });
    const good = signing.x25519(signing.randomBytes(32), Uint8Array.of(9, ...new Uint8Array(31)));
    expect(decodeClientFrame(await frameFor(good))).toMatchObject({ kind: 'open' });
  });
});
