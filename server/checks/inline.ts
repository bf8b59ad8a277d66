import { signing } from '#signing';
import { verifyBatch } from '../../src/signing/index.js';
import type { SignedBatch } from '../../src/wire/index.js';
import type { BodyMemory } from './body-memory.js';
import type { BatchChecks, BatchSigner, CheckedBatch } from './contract.js';
import { digestBytes } from './layout.js';

/** Checks on the thread of the caller: `onChecked` is called before `check` returns. */
export function inlineChecks(memory: BodyMemory): BatchChecks {
  return {
    threads: 0,
    check(signer, frame, onChecked) {
      const digest = digestIfSigned(signer, frame);
      if (digest === null) return onChecked(null);
      const { bytes: body, release } = memory.hold(frame.body);
      onChecked({ body, digest, release });
    },
    opened: (plain) => openedIn(memory, plain),
    close: () => Promise.resolve(),
  };
}

/** `BatchChecks.opened`. */
export function openedIn(memory: BodyMemory, plain: Uint8Array): CheckedBatch | null {
  if (plain.length < digestBytes) return null;
  const digest = Uint8Array.from(plain.subarray(0, digestBytes));
  const { bytes: body, release } = memory.hold(plain.subarray(digestBytes));
  plain.fill(0);
  return { body, digest, release };
}

/** SHA-512 of the body, if the contributor signed it for this server; otherwise null. */
export function digestIfSigned(
  signer: BatchSigner, frame: Pick<SignedBatch, 'body' | 'signature'>,
): Uint8Array | null {
  const digest = signing.sha512(frame.body);
  const contexts = [signer.signatures, ...signer.earlier];
  return contexts.some((context) => verifyBatch(signer.verifier, context, digest, frame.signature))
    ? digest : null;
}
