import { decodeReleaseBody } from '../../src/wire/index.js';
import type { Store } from '../store/contract.js';

/**
 * The public key that a folder's releases name. For folders whose key never changed: all their
 * releases name the same key.
 * @returns null while there are no releases. Reads one release.
 */
export async function keyOfReleases(
  store: Pick<Store, 'studies' | 'releases'>,
): Promise<Uint8Array | null> {
  for (const { studyId, releaseCount } of await store.studies()) {
    if (releaseCount === 0) continue;
    const [newest] = await store.releases(studyId, releaseCount - 1, 1);
    if (newest !== undefined) return decodeReleaseBody(newest.body).serverKey;
  }
  return null;
}
