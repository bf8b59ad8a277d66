import { signing } from '#signing';
import { InvalidInputError } from '../../src/base/errors.js';
import type { Store } from '../store/contract.js';
import { isShared, type SharedKey } from '../store/shared.js';
import { openSeriesKey } from './series-key.js';

/**
 * Checks that all servers of a shared store have the same keys. The first one to start decides.
 * Otherwise two keys would sign one log, and one server could not open the series that another
 * sealed.
 * @param hasSeries whether a study has running totals, which need DIR/series.key.
 * @throws InvalidInputError when a key of this server is another one.
 */
export async function checkSharedKeys(
  store: Store, directory: string, serverSeed: Uint8Array, hasSeries: boolean,
): Promise<void> {
  if (!isShared(store)) return;
  const check = async (name: SharedKey['name'], secret: Uint8Array): Promise<void> => {
    if (await store.shareKey({ name, fingerprint: fingerprintOf(name, secret) })) return;
    throw new InvalidInputError(
      `the ${name}.key in ${directory} is not the one of the other servers of this store: copy `
      + 'server.key, operator.token and series.key from the machine that served it first',
      { path: directory },
    );
  };
  await check('server', signing.createSigner(serverSeed).publicKey);
  if (hasSeries) await check('series', openSeriesKey(directory));
}

/** A hash of 32 random bytes, which reveals nothing about them. */
function fingerprintOf(name: string, key: Uint8Array): Uint8Array {
  return signing.sha512(Buffer.concat([Buffer.from(`keelson ${name} key\0`), key])).slice(0, 32);
}
