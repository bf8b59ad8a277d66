import { decodeReleaseBody } from '../../src/wire/index.js';
import type { Store } from '../store/contract.js';

/**
 * The public key that a folder's releases name. For folders whose key never changed: all their
 * releases name the same key. Releases of sealed studies name the key of the first of three
 * servers, which may be another one, so they are not read: such a study compares the keys in its
 * facts.
 * @returns null while there are no releases. Reads one release.
 */
export async function keyOfReleases(
  store: Pick<Store, 'studies' | 'releases'>,
): Promise<Uint8Array | null> {
  for (const { studyId, releaseCount, document } of await store.studies()) {
    if (releaseCount === 0 || isSealed(document)) continue;
    const [newest] = await store.releases(studyId, releaseCount - 1, 1);
    if (newest !== undefined) return decodeReleaseBody(newest.body).serverKey;
  }
  return null;
}

/** @param document - canonical JSON of the study's facts, as the store has it. */
export function isSealed(document: string): boolean {
  return (JSON.parse(document) as { readonly sealed?: unknown }).sealed !== undefined;
}
