import { describe, expect, it } from 'vitest';
import { toHex } from '../../src/base/bytes.js';
import { protocolLimits } from '../../src/base/limits.js';
import { encodeLogLine, verifyReleaseLog } from '../../src/log/index.js';
import { signing as browser } from '../../src/signing/browser.js';
import { keyChain, signRotation, type Signer } from '../../src/signing/index.js';
import { signing } from '../../src/signing/node.js';
import { sampleLog } from '../support/log-samples.js';

const [first, second, third, stranger] = [1, 2, 3, 4].map((fill) =>
  signing.createSigner(new Uint8Array(32).fill(fill))) as [Signer, Signer, Signer, Signer];
const toSecond = signRotation(first, second, signing);
const toThird = signRotation(second, third, signing);
const rotations = [toSecond, toThird];
/** Two releases of each key. */
const signers = [first, first, second, second, third, third];
const inTurn = { signer: third, rotations, signerOf: (index: number): Signer => signers[index]! };
const log = await sampleLog(6, inTurn);

const fault = async (
  lines: readonly string[], serverKey: Uint8Array = first.publicKey,
): Promise<string> => {
  const { firstFault } = await verifyReleaseLog(lines, { signing, serverKey });
  return firstFault === null ? 'none' : `${firstFault.line} ${firstFault.code}`;
};
const withSignature = (record: Uint8Array, at: 64 | 128): Uint8Array => {
  const changed = record.slice();
  changed.set(stranger.sign(new Uint8Array(180)), at);
  return changed;
};

describe('a log over changes of the server\'s key', () => {
  it.each([
    ['first', first], ['second', second], ['newest', third],
  ])('is authentic to a reader that trusts the %s key', async (_, { publicKey }) => {
    for (const implementation of [signing, browser]) {
      const report =
        await verifyReleaseLog(log.lines, { signing: implementation, serverKey: publicKey });
      expect(report).toMatchObject({
        authentic: true, count: 6, serverKey: toHex(third.publicKey),
        earlierKeys: [toHex(first.publicKey), toHex(second.publicKey)],
      });
    }
  });

  it('is not authentic to a reader that trusts another key', async () => {
    expect(await fault(log.lines, stranger.publicKey)).toBe('1 server-key-mismatch');
  });

  it('may begin with any of the keys, and end before the newest has signed a release', async () => {
    const late = await sampleLog(2, { ...inTurn, signerOf: () => second });
    expect(await fault(late.lines)).toBe('none');
    const none = await sampleLog(0, inTurn);
    expect(await fault(none.lines)).toBe('none');
  });

  it.each<[string, readonly Uint8Array[], string]>([
    [
      'that the key before did not sign', [withSignature(toSecond, 64), toThird],
      '2 rotation-invalid',
    ],
    [
      'that the next key did not sign', [withSignature(toSecond, 128), toThird],
      '2 rotation-invalid',
    ],
    [
      'signed by a key that was given up', [toSecond, signRotation(first, third, signing)],
      '3 rotation-invalid',
    ],
    ['of a stranger', [toSecond, signRotation(stranger, third, signing)], '3 rotation-invalid'],
    ['in the wrong order', [toThird, toSecond], '3 rotation-invalid'],
    ['left out', [toThird], '1 server-key-mismatch'],
    ['missing at the end', [toSecond], '3 rotation-invalid'],
    ['too short', [toSecond.subarray(0, 191)], '2 rotation-invalid'],
    ['without its keys', [toSecond, toThird.subarray(0, 20)], '3 rotation-invalid'],
    ['too long', [new Uint8Array(193)], '2 rotation-invalid'],
  ])('refuses a change %s', async (_, changes, expected) => {
    const { lines } = await sampleLog(6, { ...inTurn, rotations: changes });
    expect(await fault(lines)).toBe(expected);
  });

  it('refuses releases of a key that was given up before', async () => {
    const back = await sampleLog(6, {
      ...inTurn, signerOf: (index) => [first, second, first, second, third, third][index]!,
    });
    // Line 1 the study, 2 and 3 the changes, 4 and 5 the first two releases.
    expect(await fault(back.lines)).toBe('6 signature-invalid');
  });

  it('refuses a body that names another of the keys than the one that signed', async () => {
    const { lines } = await sampleLog(6, {
      ...inTurn,
      change: (body) => (body.index === 1n ? { ...body, serverKey: second.publicKey } : body),
    });
    expect(await fault(lines)).toBe('5 other-server');
  });

  it('refuses a head of a key that was given up', async () => {
    const old = await sampleLog(2, { signer: first });
    const lines = [...log.lines.slice(0, 5), old.lines.at(-1)!];
    expect(await fault(lines)).toBe('6 signature-invalid');
  });

  it('refuses changes after releases, and more of them than a server makes', async () => {
    const [study, one, two, ...rest] = log.lines;
    expect(await fault([study!, one!, ...rest, two!])).toBe('3 rotation-invalid');
    expect(await fault([study!, one!, two!, rest[0]!, two!])).toBe('5 rotation-invalid');
    const there = encodeLogLine({ type: 'rotation', record: signRotation(first, second, signing) });
    const back = encodeLogLine({ type: 'rotation', record: signRotation(second, first, signing) });
    const many = Array.from({ length: protocolLimits.keyRotations + 1 }, (_, i) =>
      (i % 2 === 0 ? there : back));
    expect(await fault([study!, ...many]))
      .toBe(`${protocolLimits.keyRotations + 2} rotation-invalid`);
  });

  it('finds every changed byte of a change', async () => {
    for (let at = 0; at < toSecond.length; at++) {
      const changed = toSecond.map((byte, i) => (i === at ? byte ^ (1 << at % 8) : byte));
      expect(() => keyChain([changed, toThird], third.publicKey, signing), `byte ${at}`).toThrow();
    }
  });
});
