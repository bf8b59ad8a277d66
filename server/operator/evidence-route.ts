import { fromHex } from '../../src/base/bytes.js';
import type { ContributorEvidence, QuarantineOutcome } from '../studies/evidence-contract.js';
import type { StudyView } from '../studies/contract.js';
import { findStudy, type Exchange } from './exchange.js';
import { HttpError } from './http-error.js';

/**
 * The distance of one contributor's own rows from the study's published answers. It is computed on
 * request and not stored.
 */
export async function evidence(exchange: Exchange): Promise<ContributorEvidence> {
  const { hub } = exchange;
  const { study: { studyId, document }, key } = asked(exchange);
  if (document.sealed !== undefined) {
    throw new HttpError(404, 'not-found', 'the study is sealed: no server sees rows to compare');
  }
  if (hub.evidence === undefined) {
    throw new HttpError(404, 'not-found', 'this server keeps no rows to compare');
  }
  return hub.evidence(studyId, key);
}

/** Excludes a key from the next epoch on, if its own rows are too far by the study's rule. */
export async function quarantine(exchange: Exchange): Promise<
  Extract<QuarantineOutcome, { kind: 'excluded' }>
> {
  const { hub } = exchange;
  const { study: { studyId }, key } = asked(exchange);
  const outcome = (await hub.quarantine?.(studyId, key)) ?? { kind: 'off' };
  switch (outcome.kind) {
    case 'excluded':
      return outcome;
    case 'off':
      throw new HttpError(403, 'quarantine-off', 'the study excludes nobody: its file has no '
        + 'quarantine: { beyond: ... }');
    case 'unknown':
      throw new HttpError(403, 'nothing-to-measure', 'the server holds no rows of this key, or no '
        + 'answer to compare them with');
    case 'near':
      throw new HttpError(403, 'near-enough',
        `the rows of this key are ${outcome.distance} from the answer, and the study excludes `
          + `beyond ${outcome.beyond} only`);
  }
}

function asked({ hub, query }: Exchange): { readonly study: StudyView; readonly key: Uint8Array } {
  const study = findStudy(hub, query.get('study'));
  const key = (query.get('contributor') ?? '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(key)) {
    throw new HttpError(
      400, 'bad-request', 'say whose rows: ?contributor= and a public key of 64 hexadecimal digits',
    );
  }
  return { study, key: fromHex(key) };
}
