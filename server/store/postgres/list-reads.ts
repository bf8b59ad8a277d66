import type { ContributionState } from '../rules/admission-rules.js';
import { noContribution } from '../rules/admission-list.js';
import type { PostgresFacts } from './admission-facts.js';
import { byteaArray, int8Array } from './arrays.js';
import type { Session } from './session.js';

/** The stored window of one contributor in one study. */
export interface Window {
  readonly studyKey: bigint;
  /** 0 for a key that is not stored. */
  readonly contributorId: bigint;
  /** 0 when the contributor has no window in the study yet. */
  readonly version: bigint;
  readonly state: ContributionState;
  /** The key of the study's open epoch; 0 where none is open. */
  readonly openKey: bigint;
  /** The people of the open epoch. */
  readonly people: number;
}

/** The name of a pair: a study or budget, and a contributor, by its number or its key. */
export const pairName = (whose: bigint | string, contributor: bigint | string): string =>
  `${whose}/${contributor}`;

interface WindowRow {
  readonly at: bigint;
  readonly contributor_id: bigint | null;
  readonly version: bigint | null;
  readonly contiguous: bigint;
  readonly high: bigint;
  readonly epoch_key: bigint;
  readonly row_count: bigint;
  readonly complete: bigint;
  readonly window: Uint8Array;
  readonly people: bigint | null;
}

const windowsText = `SELECT pair.at, c.contributor_id, r.version, r.contiguous, r.high,
    r.epoch_key, r.row_count, r.complete, r."window", p.people
  FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) WITH ORDINALITY
    AS pair (public_key, study_key, open_key, at)
  LEFT JOIN contributors AS c USING (public_key)
  LEFT JOIN replay AS r
    ON r.study_key = pair.study_key AND r.contributor_id = c.contributor_id
  LEFT JOIN epoch_people AS p ON p.epoch_key = pair.open_key`;

/** By `pairName` of study and key. */
export async function readWindows(
  session: Session, pairs: readonly { readonly study: PostgresFacts; readonly key: string }[],
): Promise<Map<string, Window>> {
  if (pairs.length === 0) return new Map();
  const rows = await session.text<WindowRow>(windowsText, [
    byteaArray(pairs.map(({ key }) => Buffer.from(key, 'hex'))),
    int8Array(pairs.map(({ study }) => study.studyKey)),
    int8Array(pairs.map(({ study }) => study.open?.epochKey ?? 0n)),
  ]);
  return new Map(rows.map((row): [string, Window] => {
    const { study, key } = pairs[Number(row.at) - 1]!;
    return [pairName(study.studyKey, key), {
      studyKey: study.studyKey, contributorId: row.contributor_id ?? 0n,
      version: row.version ?? 0n, openKey: study.open?.epochKey ?? 0n,
      people: Number(row.people ?? 0n),
      state: row.version === null ? noContribution : stateOf(row),
    }];
  }));
}

function stateOf(row: WindowRow): ContributionState {
  return {
    window: { contiguous: Number(row.contiguous), high: Number(row.high), entries: row.window },
    epochKey: row.epoch_key, rows: Number(row.row_count), complete: row.complete === 1n,
    excludedFrom: null,
  };
}
