import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/base/bytes.js';
import * as onNode from '../../src/wire/index.js';
import { dataSource } from '../support/data.js';
import { scratchFolder } from '../support/scratch.js';
import { root } from '../support/sources.js';
import * as samples from '../support/wire-samples.js';

type Wire = typeof onNode;

/** The codec as pages have it. */
let inPages: Wire;

beforeAll(async () => {
  const outfile = join(scratchFolder('protobuf-browser'), 'wire.mjs');
  await build({
    entryPoints: [`${root}src/wire/index.ts`], outfile, bundle: true, format: 'esm',
    alias: { '#protobuf': `${root}src/wire/protobuf-browser.ts` },
  });
  inPages = await import(outfile) as Wire;
});

/** How bytes become a message and bytes again: how each of them ends. */
const kinds: readonly ((wire: Wire, bytes: Uint8Array) => unknown)[] = [
  (wire, bytes) => both(() => wire.decodeClientFrame(bytes), wire.encodeClientFrame),
  (wire, bytes) => both(() => wire.decodeServerFrame(bytes), wire.encodeServerFrame),
  (wire, bytes) => both(() => wire.decodeAck(bytes), wire.encodeAck),
  (wire, bytes) => both(() => wire.decodeUnsignedReady(bytes), wire.encodeUnsignedReady),
  (wire, bytes) => both(() => wire.decodeBatchBody(bytes), wire.encodeBatchBody),
  (wire, bytes) => both(() => wire.decodeReleaseBody(bytes), wire.encodeReleaseBody),
  (wire, bytes) => both(() => wire.decodeHeadBody(bytes), wire.encodeHeadBody),
];

function both<T>(decode: () => T, encode: (message: T) => Uint8Array): unknown {
  try {
    const message = decode();
    return [message, toHex(encode(message))];
  } catch (error) {
    return (error as Error).message;
  }
}

/** Everything in a file of hexadecimal texts that may be a message. */
const hexIn = (name: string): Uint8Array[] =>
  [...readFileSync(`${root}test/${name}`, 'utf8').matchAll(/"((?:[0-9a-f]{2}){4,})"/g)]
    .map(([, digits]) => fromHex(digits!));

const messages: readonly Uint8Array[] = [
  ...hexIn('fuzz/corpus/frames.json'), ...hexIn('vectors/frames.json'),
  ...Object.values({ ...samples.clientFrames, ...samples.encryptedClientFrames })
    .map(onNode.encodeClientFrame),
  ...Object.values({ ...samples.serverFrames, ...samples.encryptedServerFrames })
    .map(onNode.encodeServerFrame),
  samples.batchBytes, samples.releaseBytes, samples.headBytes,
].filter(({ length }) => length < 20_000);

/** Messages for which the two codecs disagree. */
function differing(list: readonly Uint8Array[]): string[] {
  return list.filter((bytes) => kinds.some((kind) =>
    !isDeepStrictEqual(kind(inPages, bytes), kind(onNode, bytes)))).map(toHex);
}

describe('messages in pages', () => {
  it('are read and written as on Node: samples, vectors, and what fuzzers found', () => {
    expect(messages.length).toBeGreaterThan(200);
    expect(differing(messages)).toEqual([]);
    const read = messages.filter((bytes) =>
      kinds.some((kind) => typeof kind(inPages, bytes) !== 'string'));
    expect(read.length).toBeGreaterThan(100);
  });

  it('are refused as on Node when bits, lengths or bytes change', () => {
    const data = dataSource('messages in pages');
    const below = (limit: number): number => data.below(limit);
    const changes: readonly ((bytes: Uint8Array, at: number) => Uint8Array)[] = [
      (bytes, at) => bytes.with(at, bytes[at]! ^ (1 << below(8))),
      (bytes, at) => bytes.with(at, [0, 127, 128, 255][below(4)]!),
      (bytes, at) => bytes.slice(0, at),
      (bytes, at) => Uint8Array.of(...bytes.subarray(0, at), 255, 255, ...bytes.subarray(at)),
      (bytes, at) => Uint8Array.of(...bytes, ...bytes.subarray(at)),
    ];
    const changed = messages.flatMap((bytes) => Array.from({ length: 40 }, () =>
      changes[below(changes.length)]!(bytes, below(Math.min(bytes.length, 200)))));
    expect(differing(changed)).toEqual([]);
  });
});
