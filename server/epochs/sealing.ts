import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Sealing } from '../../src/questions/series.js';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Seals what the running totals of one epoch leave to the next: AES-256-GCM with a fresh random
 * nonce. The text is bound to the study, the question and the epoch. So what an epoch left opens
 * for the epoch just after it and for no other: where an epoch has no release, the series ends.
 * @param key 32 secret bytes. It is kept outside the database, so that a copy of the database alone
 *   reveals no exact value.
 */
export function sealingOf(key: Uint8Array, studyId: string, epoch: bigint): Sealing {
  const nameOf = (question: string, at: bigint): Buffer =>
    Buffer.from(`keelson running ${studyId} ${question} ${at}`);
  return {
    seal: (question, plain) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, key, nonce);
      cipher.setAAD(nameOf(question, epoch));
      const text = Buffer.concat([cipher.update(plain), cipher.final()]);
      return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), text]));
    },
    open: (question, text) => {
      if (text.length < nonceBytes + tagBytes) return null;
      const decipher = createDecipheriv(algorithm, key, text.subarray(0, nonceBytes));
      decipher.setAAD(nameOf(question, epoch - 1n));
      decipher.setAuthTag(text.subarray(nonceBytes, nonceBytes + tagBytes));
      try {
        const body = text.subarray(nonceBytes + tagBytes);
        return new Uint8Array(Buffer.concat([decipher.update(body), decipher.final()]));
      } catch {
        return null;
      }
    },
  };
}
