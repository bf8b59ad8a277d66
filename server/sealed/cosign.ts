import { signing } from '#signing';
import { concatBytes, fromHex } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { servers, type ServerIndex } from '../../src/sealed/shares/body.js';
import { signatureBytes } from '../../src/wire/index.js';
import { verifyStatement } from '../../src/signing/index.js';
import type { ReleaseRecord } from '../store/contract.js';
import type { PeerLinks } from './peer-link.js';

/**
 * Exchanges signatures over the body that each server made for itself.
 * @param own - the body with the own signature.
 * @returns the release with the signatures of all three, in their order.
 * @throws KeelsonError('bad-signature') when another server signed another body: its answer, ledger
 *   or log differs.
 */
export async function cosigned(
  own: ReleaseRecord, server: ServerIndex, serverKeys: readonly Uint8Array[], links: PeerLinks,
  timeoutMs: number,
): Promise<ReleaseRecord> {
  for (const link of links.values()) link.send({ kind: 'sign', signature: own.signature });
  const signatures = new Map<ServerIndex, Uint8Array>([[server, own.signature]]);
  for (const link of links.values()) {
    const { signature } = await link.receive('sign', timeoutMs);
    if (!isSignedBy(own, serverKeys[link.server]!, signature)) {
      throw new KeelsonError(
        'bad-signature', `server ${link.server} signed another release of epoch ${own.epoch}: `
          + 'compare the ledgers and logs of the three servers',
      );
    }
    signatures.set(link.server, signature);
  }
  return { ...own, signature: concatBytes(...servers.map((each) => signatures.get(each)!)) };
}

/** True if all three servers signed a release. @param signature - 192 bytes. */
export function isSignedByAll(
  release: Pick<ReleaseRecord, 'studyId' | 'digest'>, serverKeys: readonly Uint8Array[],
  signature: Uint8Array,
): boolean {
  return signature.length === servers.length * signatureBytes && servers.every((server) =>
    isSignedBy(release, serverKeys[server]!,
      signature.subarray(server * signatureBytes, (server + 1) * signatureBytes)));
}

function isSignedBy(
  { studyId, digest }: Pick<ReleaseRecord, 'studyId' | 'digest'>, key: Uint8Array,
  signature: Uint8Array,
): boolean {
  const verifier = signing.createVerifier(key);
  return verifyStatement('release', verifier, fromHex(studyId), fromHex(digest), signature);
}
