import type { KeyObject } from 'node:crypto';
import { InvariantError } from '../../../src/base/errors.js';
import type { JournalEntry, StudyId } from '../contract.js';
import type { ClaimedSlice, EpochSlices, Slice, SlicesLeft } from '../shared.js';
import { plainBytes } from '../rules/steps.js';
import { existingStudy } from '../rules/studies.js';
import { encryptionKeyOf } from './epoch-tables.js';
import { leaseLost, sliceClaimed } from './failures.js';
import { readJournal } from './journal.js';
import type { EncryptionKeys } from './encryption-keys.js';
import { openSecret, sealSecret, type SecretName } from './row-seal.js';
import type { Session } from './session.js';

/** The time for which a claim holds after its last page. */
const claimSeconds = 30;
/** A claim is renewed when less than this is left. */
const renewedBelowSeconds = 20;
/** Claims of a slice, at most. */
const claimsMost = 3;

const ofEpoch = `epoch_key = (SELECT epoch_key FROM epochs JOIN studies USING (study_key)
  WHERE study_id = $1 AND epoch = $2)`;
const later = `clock_timestamp() + interval '${claimSeconds} s'`;
const tellAll = "SELECT pg_notify(news_channel(), '')";

type EpochSlice = Omit<ClaimedSlice, 'token'>;

/** A part of the journal; see `Store.journal`. */
export interface SlicePage {
  readonly after: bigint;
  readonly limit: number;
  readonly bytesMost: number | undefined;
}

/** The places of the rows and the summaries of slices. */
export interface SlicePlace {
  journal(session: Session, of: EpochSlice, page: SlicePage): Promise<JournalEntry[]>;
  /** @returns the stored form of a summary. */
  seal(session: Session, of: EpochSlice, summary: Uint8Array): Promise<Uint8Array>;
  open(session: Session, of: EpochSlice, sealed: Uint8Array): Promise<Uint8Array>;
}

/** In the journal of PostgreSQL. Summaries are sealed as its rows are. */
export const sealedSlices = (keys: EncryptionKeys): SlicePlace => ({
  journal: (session, { studyId, epoch, ...slice }, { after, limit, bytesMost }) =>
    readJournal(session, keys, studyId, epoch, after, limit, bytesMost, slice),
  async seal(session, of, summary) {
    const key = await keyOf(session, keys, of);
    return sealSecret(key, of.studyId, of.epoch, secretName(of), summary);
  },
  async open(session, of, sealed) {
    const key = await keyOf(session, keys, of);
    return openSecret(key, of.studyId, of.epoch, secretName(of), sealed);
  },
});

/*
 * The row of a charged epoch is locked, so none of it is cut after its release. A second cutting
 * changes nothing.
 */
const splitText = `WITH charged AS (
    SELECT epoch_key FROM epochs WHERE ${ofEpoch} AND state = 'charged' FOR SHARE),
  made AS (
    INSERT INTO epoch_slices (epoch_key, slice, slices, plan)
    SELECT epoch_key, slice, $3, $4 FROM charged, generate_series(0, $3::bigint - 1) AS slice
    ON CONFLICT DO NOTHING RETURNING slice)
  ${tellAll} FROM made LIMIT 1`;

const claimText = `UPDATE epoch_slices AS s SET token = token + 1, expires_at = ${later}
  FROM (SELECT w.epoch_key, w.slice, study_id, epoch
    FROM epoch_slices AS w JOIN epochs USING (epoch_key) JOIN studies USING (study_key)
      JOIN unnest($1::text[], $2::text[]) AS own (study_id, plan) USING (study_id, plan)
    WHERE summary IS NULL AND epochs.state = 'charged' AND token < ${claimsMost}
      AND expires_at < clock_timestamp()
    ORDER BY w.epoch_key, w.slice LIMIT 1 FOR NO KEY UPDATE OF w SKIP LOCKED) AS free
  WHERE s.epoch_key = free.epoch_key AND s.slice = free.slice
  RETURNING s.slice, slices, token, study_id, epoch`;

interface ClaimRow {
  readonly slice: bigint;
  readonly slices: bigint;
  readonly token: bigint;
  readonly study_id: StudyId;
  readonly epoch: bigint;
}

const heldText = `SELECT expires_at < clock_timestamp() + interval '${renewedBelowSeconds} s' AS old
  FROM epoch_slices WHERE ${ofEpoch} AND slice = $3 AND token = $4`;
const renewText = `UPDATE epoch_slices SET expires_at = ${later}
  WHERE ${ofEpoch} AND slice = $3 AND token = $4`;
const finishText = `WITH done AS (UPDATE epoch_slices SET summary = $5
  WHERE ${ofEpoch} AND slice = $3 AND token = $4 RETURNING slice) ${tellAll} FROM done`;
const giveBackText = `WITH given AS (UPDATE epoch_slices SET expires_at = '-infinity'
  WHERE ${ofEpoch} AND slice = $3 AND token = $4 RETURNING slice) ${tellAll} FROM given`;
const leftText = `SELECT count(*) AS count, coalesce(bool_or(token >= ${claimsMost}
    AND expires_at < clock_timestamp()), false) AS failed
  FROM epoch_slices WHERE ${ofEpoch} AND summary IS NULL`;
const summaryText = `SELECT summary, slices FROM epoch_slices WHERE ${ofEpoch} AND slice = $3`;

/**
 * The slices of charged epochs, each a row that is claimed, renewed and filled under a token.
 *
 * Claim: a slice gets one summary, from a node that had read all its rows. Each claim raises the
 * token, and a summary is written in one statement that asks for the token. So it is written under
 * the newest claim. Once it is there nobody claims the slice.
 * Claim: no summary of an epoch stays after its rows. It is deleted by the transaction that drops
 * the journal, and `split` makes none for an epoch that is not charged. Until then it is sealed
 * under the encryption key of the epoch, as the rows are.
 * @param place where the rows and the summaries are.
 */
export function slicesOf(
  use: <T>(action: (session: Session) => Promise<T>) => Promise<T>, place: SlicePlace,
): EpochSlices {
  const ask = <Row>(text: string, values: readonly unknown[]): Promise<Row[]> =>
    use((session) => session.text<Row>(text, values));
  const nameOf = ({ studyId, epoch, slice, token }: ClaimedSlice): unknown[] =>
    [studyId, epoch, slice, token];
  return {
    async split(studyId, epoch, slices, plan) {
      await ask(splitText, [studyId, epoch, slices, plan]);
    },
    async claim(plans) {
      const [row] = await ask<ClaimRow>(claimText, [[...plans.keys()], [...plans.values()]]);
      return row === undefined ? null : {
        studyId: row.study_id, epoch: row.epoch, token: row.token, slice: Number(row.slice),
        slices: Number(row.slices),
      };
    },
    journal: (claimed, after, limit, bytesMost) => use(async (session) => {
      const name = nameOf(claimed);
      if (await checkHeld(session, name)) await session.text(renewText, name);
      return place.journal(session, claimed, { after, limit, bytesMost });
    }),
    finish: (claimed, summary) => use(async (session) => {
      await checkHeld(session, nameOf(claimed));
      const sealed = await place.seal(session, claimed, summary);
      const done = await session.text(finishText, [...nameOf(claimed), Buffer.from(sealed)]);
      if (done.length === 0) throw sliceClaimed();
    }),
    async giveBack(claimed) {
      await ask(giveBackText, nameOf(claimed));
    },
    async left(studyId, epoch): Promise<SlicesLeft> {
      const [row] = await ask<{ count: bigint; failed: boolean }>(leftText, [studyId, epoch]);
      return { count: Number(row!.count), hasFailed: row!.failed };
    },
    summary: (studyId, epoch, slice) => use(async (session) => {
      const [row] = await session.text<SummaryRow>(summaryText, [studyId, epoch, slice]);
      // Only a newer leader has released the epoch, so that its slices were deleted.
      if (row === undefined) throw leaseLost();
      if (row.summary === null) {
        throw new InvariantError('a summary is read when all slices have one');
      }
      const which = { studyId, epoch, slice, slices: Number(row.slices) };
      return place.open(session, which, plainBytes(row.summary));
    }),
  };
}

interface SummaryRow {
  readonly summary: Uint8Array | null;
  readonly slices: bigint;
}

const secretName = ({ slice, slices }: Slice): SecretName => `summary-${slice}-of-${slices}`;

/** The key under which the rows of the epoch are sealed. */
async function keyOf(
  session: Session, keys: EncryptionKeys, { studyId, epoch }: EpochSlice,
): Promise<KeyObject> {
  const study = await session.perform(existingStudy(studyId));
  return keys.read(await session.perform(encryptionKeyOf(study.study_key, epoch)));
}

/** @returns whether the claim ends soon. @throws when it has ended. */
async function checkHeld(session: Session, name: readonly unknown[]): Promise<boolean> {
  const [held] = await session.text<{ old: boolean }>(heldText, name);
  if (held === undefined) throw sliceClaimed();
  return held.old;
}
