import { signing } from '../../src/signing/node.js';
import { signBatch, type Signer } from '../../src/signing/index.js';
import { BodyMemory } from '../../server/checks/body-memory.js';
import type { BatchChecks, BatchSigner } from '../../server/checks/contract.js';
import { inlineChecks } from '../../server/checks/inline.js';
import type { SignedBatch } from '../../src/wire/index.js';
import { server } from './wire-samples.js';

const studyId = new Uint8Array(32).fill(5);

/** Somebody who signs batches for the server of the samples. */
export class Sender {
  readonly #signer: Signer = signing.createSigner(signing.generateSeed());
  readonly signer: BatchSigner = {
    verifier: signing.createVerifier(this.#signer.publicKey),
    signatures: { serverKey: server.publicKey, studyId }, earlier: [],
  };

  /** @param serverKey that the signature is for. */
  batch(text: string, serverKey = server.publicKey): SignedBatch {
    const body = Buffer.from(text);
    return {
      kind: 'batch', channel: 1, body,
      signature: signBatch(this.#signer, { serverKey, studyId }, signing.sha512(body)),
    };
  }

  /** A batch with a signature that is not valid. */
  forged(text: string): SignedBatch {
    return { ...this.batch(text), signature: this.batch(`not ${text}`).signature };
  }
}

/** Checks that wait until a test lets them go on, as those of busy threads do. */
export function heldChecks(): BatchChecks & { go(): void; readonly held: number } {
  const checks = inlineChecks(new BodyMemory());
  let waiting: (() => void)[] = [];
  return {
    threads: 1,
    get held() {
      return waiting.length;
    },
    check(signer, frame, onChecked) {
      const own = { ...frame, body: Uint8Array.from(frame.body) };
      waiting.push(() => checks.check(signer, own, onChecked));
    },
    go() {
      const now = waiting;
      waiting = [];
      for (const action of now) action();
    },
    opened: (plain) => checks.opened(plain),
    close: () => Promise.resolve(),
  };
}
