import { afterEach, describe, expect, it, vi } from 'vitest';
import { fromHex, toHex, utf8 } from '../../src/base/bytes.js';
import { InvalidParameterError, WireError } from '../../src/base/errors.js';
import { keyChain, keyChainSoon, signRotation } from '../../src/signing/index.js';
import { signing as node } from '../../src/signing/node.js';
import { signing as web } from '../../src/signing/web.js';
import { encodeStudyDocument, studyId as idOfFacts } from '../../src/wire/index.js';
import { document } from '../support/wire-samples.js';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const seed = Uint8Array.from({ length: 32 }, (_, i) => 3 * i + 1);
const message = utf8('a batch');

/** A browser that does not know the curves, and one that has no WebCrypto at all. */
function withoutCurves(): void {
  for (const name of ['importKey', 'generateKey'] as const) {
    const own = globalThis.crypto.subtle[name].bind(globalThis.crypto.subtle) as
      (...words: unknown[]) => Promise<unknown>;
    vi.spyOn(globalThis.crypto.subtle, name as 'importKey').mockImplementation((
      (...words: unknown[]) => (words.some((word) => /25519/.test(String(word)))
        ? Promise.reject(new DOMException('no such curve', 'NotSupportedError'))
        : own(...words))) as never);
  }
}
function withoutSubtle(): void {
  const { crypto } = globalThis;
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
}

it('knows no study on a page without crypto.subtle, so such a page cannot connect', async () => {
  const facts = encodeStudyDocument(document);
  expect(await idOfFacts(facts, web)).toBe(await idOfFacts(facts, node));
  withoutSubtle();
  await expect(idOfFacts(facts, web)).rejects.toMatchObject({
    code: 'unsupported', message: expect.stringContaining('no crypto.subtle') as string,
  });
});

describe.each([
  ['with WebCrypto', () => undefined], ['without the curves', withoutCurves],
  ['without crypto.subtle', withoutSubtle],
])('the signing of pages %s', (_, prepare) => {
  it('makes the same keys, signatures and digests as node:crypto', async () => {
    prepare();
    const [signer, expected] = [await web.createSigner(seed), node.createSigner(seed)];
    expect(toHex(signer.publicKey)).toBe(toHex(expected.publicKey));
    expect(toHex(await signer.sign(message))).toBe(toHex(expected.sign(message)));
    expect(toHex(await web.sha512(message))).toBe(toHex(node.sha512(message)));
  });

  it('takes good signatures alone', async () => {
    prepare();
    const signer = node.createSigner(seed);
    const verifier = web.createVerifier(signer.publicKey);
    const good = signer.sign(message);
    expect(await verifier.verify(message, good)).toBe(true);
    expect(await verifier.verify(message, good)).toBe(true);
    for (let at = 0; at < 64; at += 9) {
      expect(await verifier.verify(message, good.with(at, good[at]! ^ 4))).toBe(false);
    }
    expect(await verifier.verify(utf8('another'), good)).toBe(false);
    for (const length of [0, 63]) {
      expect(await verifier.verify(message, good.subarray(0, length))).toBe(false);
    }
    expect(await verifier.verify(message, new Uint8Array(64).fill(255))).toBe(false);
  });

  it('agrees with node:crypto on a key, and on none with a point of small order', async () => {
    prepare();
    const [own, other] = [await web.keyAgreement(), node.keyAgreement()];
    const agreed = await own.agree(other.share);
    expect(agreed).toHaveLength(32);
    expect(agreed).toEqual(await other.agree(own.share));
    for (const point of ['00'.repeat(32), `01${'00'.repeat(31)}`, `ec${'ff'.repeat(30)}7f`,
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800']) {
      expect(await (await web.keyAgreement()).agree(fromHex(point)), point).toBeNull();
    }
  });

  it('follows a chain of server keys as node:crypto does', async () => {
    prepare();
    const keys = [1, 2, 3].map((fill) => node.createSigner(new Uint8Array(32).fill(fill)));
    const chain = [0, 1].map((i) => signRotation(keys[i]!, keys[i + 1]!, node));
    const serverKey = keys[2]!.publicKey;
    const found = await keyChainSoon(chain, serverKey, web);
    expect(found.map(({ publicKey }) => publicKey))
      .toEqual(keyChain(chain, serverKey, node).map(({ publicKey }) => publicKey));
    for (const at of [0, 40, 70, 130]) {
      const changed = [chain[0]!, chain[1]!.with(at, chain[1]![at]! ^ 1)];
      await expect(keyChainSoon(changed, serverKey, web), `byte ${at}`).rejects
        .toBeInstanceOf(WireError);
    }
  });
});

it('refuses a seed and a key of another length at once', () => {
  expect(() => web.createSigner(new Uint8Array(31))).toThrow(InvalidParameterError);
  expect(() => web.createVerifier(new Uint8Array(31))).toThrow(WireError);
});
