import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { verifyWelcome } from '../../client/session/handshake.js';
import { signing } from '../../src/signing/node.js';
import { signStatement } from '../../src/signing/index.js';
import { encodeStudyDocument, studyId, type SignedStudy, type Welcome } from '../../src/wire/index.js';
import { fromHex } from '../../src/base/bytes.js';
import { document } from '../support/wire-samples.js';

/** Signatures that were checked, whoever asked. */
let checked = 0;
beforeEach(() => {
  checked = 0;
  const createVerifier = signing.createVerifier.bind(signing);
  vi.spyOn(signing, 'createVerifier').mockImplementation((key) => {
    const verifier = createVerifier(key);
    return { ...verifier, verify: (message, signature) => (checked++, verifier.verify(message, signature)) };
  });
});
afterEach(() => vi.restoreAllMocks());

const signer = signing.createSigner(signing.generateSeed());
const welcome = (studies: readonly SignedStudy[], serverKey = signer.publicKey): Welcome => ({
  kind: 'welcome', serverKey, serverNonce: new Uint8Array(32), studies, rotations: [],
  limits: { frameBytes: 1e6, rowsPerBatch: 4096, creditBatches: 16, channelsPerSocket: 1024, sequenceWindow: 256 },
});

async function study(name: string): Promise<SignedStudy> {
  const facts = encodeStudyDocument({ ...document, study: name });
  const id = fromHex(await studyId(facts, signing));
  return { facts, signature: signStatement('study', signer, id, signing.sha512(facts)), state: 'open', epoch: 7n };
}

it('checks the facts of a study once for all sockets that show them', async () => {
  const studies = [await study('first'), await study('second')];
  for (let socket = 0; socket < 3; socket++) {
    expect((await verifyWelcome(welcome(studies), [])).studies.map(({ document: { study: name } }) => name))
      .toEqual(['first', 'second']);
  }
  expect(checked).toBe(2);
});

it('takes nothing for signed that only resembles what was', async () => {
  const [known, other] = [await study('third'), await study('fourth')];
  await verifyWelcome(welcome([known]), []);
  const signature = known.signature.slice();
  signature[0]! ^= 1;
  await expect(verifyWelcome(welcome([{ ...known, signature }]), [])).rejects.toThrow('not signed by the server');
  await expect(verifyWelcome(welcome([{ ...known, facts: other.facts }]), [])).rejects.toThrow('not signed');
  const stranger = signing.createSigner(signing.generateSeed()).publicKey;
  await expect(verifyWelcome(welcome([known], stranger), [])).rejects.toThrow('not signed');
  // What failed is not remembered as signed either.
  await expect(verifyWelcome(welcome([{ ...known, signature }]), [])).rejects.toThrow('not signed');
});
