import { decodeReleaseBody } from '../../src/wire/index.js';
import type { Store } from '../store/contract.js';

/**
 * The public key that a folder's releases name, for folders whose key never changed: all of them name the same one then.
 * @returns null while there are none. Reads one release.
 */
export async function keyOfReleases(store: Pick<Store, 'studies' | 'releases'>): Promise<Uint8Array | null> {
  for (const { studyId, releaseCount } of await store.studies()) {
    if (releaseCount === 0) continue;
    const [newest] = await store.releases(studyId, releaseCount - 1, 1);
    if (newest !== undefined) return decodeReleaseBody(newest.body).serverKey;
  }
  return null;
}
