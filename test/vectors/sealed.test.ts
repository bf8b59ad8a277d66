import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordLines } from '../../scripts/record-lines.js';
import { fromHex, toHex } from '../../src/base/bytes.js';
import { WireError } from '../../src/base/errors.js';
import { isSealedStatement, verifiedBoxKeys } from '../../src/sealed/shares/statements.js';
import { signing } from '../../src/signing/node.js';
import { decodeServerFrame, encodeServerFrame } from '../../src/wire/index.js';
import { decodePeerFrame, encodePeerFrame } from '../../src/wire/peer-frames.js';
import {
  boxKeys, peerFrames, sealedServerFrames, signed, statements,
} from '../support/sealed-samples.js';
import { factsId, readable, server } from '../support/wire-samples.js';

interface Vector {
  readonly peerFrames: Readonly<Record<string, { readonly bytes: string }>>;
  readonly serverFrames: Readonly<Record<string, { readonly bytes: string }>>;
}
const vectorFile = fileURLToPath(new URL('sealed.json', import.meta.url));
const vector = (): Vector => JSON.parse(readFileSync(vectorFile, 'utf8')) as Vector;

describe('vectors of sealed studies', () => {
  it('fix the bytes of every message and statement', async () => {
    const list = <T>(frames: Readonly<Record<string, T>>, encode: (frame: T) => Uint8Array) =>
      Object.fromEntries(Object.entries(frames).map(([name, frame]) =>
        [name, { message: readable(frame), bytes: toHex(encode(frame)) }]));
    const file = {
      studyId: toHex(factsId), serverKey: toHex(server.publicKey),
      statements: readable(signed),
      peerFrames: list(peerFrames, encodePeerFrame),
      serverFrames: list(sealedServerFrames, encodeServerFrame),
    };
    await expect(recordLines(file)).toMatchFileSnapshot('sealed.json');
  });

  it('are read back to the messages', () => {
    const file = vector();
    for (const [name, frame] of Object.entries(peerFrames)) {
      expect(decodePeerFrame(fromHex(file.peerFrames[name]!.bytes)), name).toEqual(frame);
    }
    for (const [name, frame] of Object.entries(sealedServerFrames)) {
      expect(decodeServerFrame(fromHex(file.serverFrames[name]!.bytes)), name).toEqual(frame);
    }
  });

  it('are refused when they are cut short or changed', () => {
    for (const frame of Object.values(peerFrames)) {
      const bytes = encodePeerFrame(frame);
      if (frame.kind === 'stop') continue;
      expect(() => decodePeerFrame(bytes.subarray(0, -1)), frame.kind).toThrow(WireError);
    }
    expect(() => decodePeerFrame(new Uint8Array(0))).toThrow(WireError);
    const code = encodePeerFrame({ kind: 'stop', code: 'a row: 12' });
    expect(() => decodePeerFrame(code)).toThrow('no code');
  });

  it('take no statement for another one', () => {
    const verifier = signing.createVerifier(server.publicKey);
    for (const [name, statement] of Object.entries(statements)) {
      for (const [other, { signature }] of Object.entries(signed)) {
        expect(isSealedStatement(signing, verifier, factsId, statement, signature), `${name} ${other}`)
          .toBe(name === other);
      }
    }
  });

  it('accept box keys of this epoch and these servers only', () => {
    const keys = [0, 1, 2].map(() => server.publicKey);
    const other = signing.createSigner(new Uint8Array(32).fill(1)).publicKey;
    expect(verifiedBoxKeys(signing, factsId, 7n, keys, boxKeys)).toHaveLength(3);
    expect(() => verifiedBoxKeys(signing, factsId, 8n, keys, boxKeys)).toThrow(WireError);
    expect(() => verifiedBoxKeys(signing, factsId, 7n, keys.with(1, other), boxKeys))
      .toThrow(WireError);
    expect(() => verifiedBoxKeys(signing, factsId, 7n, keys, boxKeys.slice(1))).toThrow(WireError);
  });
});
