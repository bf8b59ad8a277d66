import { fromHex } from '../../src/base/bytes.js';
import type { ContributorEvidence } from '../studies/evidence-contract.js';
import { findStudy, type Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/**
 * How far one contributor's own rows are from what the study has published. Worked out when it is asked for and kept
 * nowhere. It decides nothing: no code reads it but the operator's page.
 */
export async function evidence(exchange: Exchange): Promise<ContributorEvidence> {
  const { hub, query } = exchange;
  const study = findStudy(hub, query.get('study'));
  const key = (query.get('contributor') ?? '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new HttpError(400, 'bad-request', 'say whose rows: ?contributor= and a public key of 64 hexadecimal digits');
  }
  if (hub.evidence === undefined) throw new HttpError(404, 'not-found', 'this server keeps no rows to compare');
  return hub.evidence(study.studyId, fromHex(key));
}
