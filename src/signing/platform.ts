import { KeelsonError } from '../base/errors.js';

export type Subtle = typeof globalThis.crypto.subtle;

/** Most bytes that one call of getRandomValues fills. */
const randomChunkBytes = 65_536;

/** Missing on pages without a secure origin. */
export const subtleOf = (): Subtle | undefined => globalThis.crypto.subtle;

/** A copy in plain memory, which the platform's types require. */
export const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(bytes);

/** @throws KeelsonError('unsupported') on pages without a secure origin. */
export async function sha256(bytes: Uint8Array): Promise<Uint8Array> {
  const subtle = subtleOf();
  if (subtle === undefined) {
    throw new KeelsonError(
      'unsupported', 'this page has no crypto.subtle: serve it over https or from localhost',
    );
  }
  return new Uint8Array(await subtle.digest('SHA-256', own(bytes)));
}

export function randomBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i += randomChunkBytes) {
    globalThis.crypto.getRandomValues(bytes.subarray(i, i + randomChunkBytes));
  }
  return bytes;
}
