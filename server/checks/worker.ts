import { parentPort, workerData } from 'node:worker_threads';
import { signing } from '#signing';
import { assert } from '../../src/base/assert.js';
import { verifyBatch, type Verifier } from '../../src/signing/index.js';
import { digestBytes, layout, type CheckCall, type CheckReply, type CheckSetup } from './layout.js';

/** Entry of a thread that checks signatures. The batches stay where they are. */
assert(parentPort !== null, 'this module is the entry of a worker thread');
const port = parentPort;
const { serverKeys } = workerData as CheckSetup;

/** Parsed keys in each of the two halves of the cache. Parsing costs a tenth of a check. */
const groupsMax = 4_096;
let recent = new Map<string, Verifier>();
let older = new Map<string, Verifier>();

/** The older half is dropped when the recent one is full. So keys that are used stay. */
function verifierOf(key: Uint8Array): Verifier {
  const name = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
  const known = recent.get(name);
  if (known !== undefined) return known;
  const verifier = older.get(name) ?? signing.createVerifier(key);
  if (recent.size >= groupsMax) [older, recent] = [recent, new Map<string, Verifier>()];
  recent.set(name, verifier);
  return verifier;
}

/** @returns whether the signature of the batch at `start` is valid for the digest. */
function isValid(memory: SharedArrayBuffer, start: number, digest: Uint8Array): boolean {
  const part = (from: number, to: number): Uint8Array =>
    new Uint8Array(memory, start + from, to - from);
  const verifier = verifierOf(part(layout.key, layout.study));
  const studyId = part(layout.study, layout.signature);
  const signature = part(layout.signature, layout.body);
  return serverKeys.some((serverKey) =>
    verifyBatch(verifier, { serverKey, studyId }, digest, signature));
}

port.on('message', ({ id, memories, places }: CheckCall) => {
  const count = places.length / 3;
  const valid = new Uint8Array(count);
  const digests = new Uint8Array(digestBytes * count);
  for (let i = 0; i < count; i++) {
    const memory = memories[places[3 * i]!]!;
    const start = places[3 * i + 1]!;
    const digest = signing.sha512(new Uint8Array(memory, start + layout.body, places[3 * i + 2]));
    digests.set(digest, digestBytes * i);
    valid[i] = Number(isValid(memory, start, digest));
  }
  const reply: CheckReply = { id, valid, digests };
  port.postMessage(reply, [valid.buffer, digests.buffer]);
});
