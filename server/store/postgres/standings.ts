import type { EpochTally, SharedKey, Standings, StudyStanding } from '../shared.js';
import type { StudyId, StudyStateName } from '../contract.js';
import { journalTable } from './epoch-tables.js';
import type { StoreNode } from './node.js';
import type { Session } from './session.js';
import { talliesOf } from './tallies.js';

interface StandingRow {
  readonly study_id: StudyId;
  readonly state: StudyStateName;
  readonly release_count: bigint;
  readonly last_digest: string;
  readonly ends: boolean;
  readonly epoch: bigint | null;
  readonly closes_at_ms: bigint | null;
  readonly unfinished: boolean;
  /** 0 while nobody has the lease. */
  readonly leader: bigint;
  readonly asked: boolean;
}

const standingsText = `SELECT s.study_id, s.state, s.release_count, s.last_digest, s.ends,
    open.epoch, open.closes_at_ms,
    EXISTS (SELECT 1 FROM epochs AS e WHERE e.study_key = s.study_key
      AND e.state IN ('open', 'closing', 'charged')) AS unfinished,
    CASE WHEN l.expires_at > clock_timestamp() THEN l.node_id ELSE 0 END AS leader,
    coalesce(l.asked_by, 0) != 0 AS asked
  FROM studies AS s
  LEFT JOIN epochs AS open ON open.study_key = s.study_key AND open.state = 'open'
  LEFT JOIN leases AS l ON l.budget_id = s.budget_id
  ORDER BY s.study_key`;

const clockText = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms';

/** See `SharedStore.standings`. @param nowMs the clock here. */
export async function readStandings(
  session: Session, node: StoreNode, nowMs: () => number,
): Promise<Omit<Standings, 'lacksKey' | 'isDeaf' | 'fullBecause'>> {
  const rows = await session.text<StandingRow>(standingsText);
  const before = nowMs();
  const [there] = await session.text<{ readonly ms: number }>(clockText);
  const after = nowMs();
  return {
    studies: rows.map((row) => standingOf(row, node)),
    clockAheadMs: there!.ms - (before + after) / 2,
  };
}

function standingOf(row: StandingRow, { id }: StoreNode): StudyStanding {
  const others = row.leader === 0n ? 'none' : 'other';
  return {
    studyId: row.study_id, state: row.state, releaseCount: Number(row.release_count),
    lastDigest: row.last_digest, ends: row.ends, isUnfinished: row.unfinished,
    open: row.epoch === null
      ? null : { epoch: row.epoch, closesAtMs: Number(row.closes_at_ms) },
    leader: row.leader === id ? 'own' : others, isAsked: row.asked,
  };
}

/** See `SharedStore.tally`. */
export async function readTally(
  session: Session, studyId: StudyId, epoch: bigint,
): Promise<EpochTally> {
  const tallies = await session.perform(talliesOf(studyId, epoch));
  if (tallies === undefined) return { contributors: 0, complete: 0 };
  const { contributors, complete, withdrawn, epochKey } = tallies;
  return {
    contributors,
    complete: complete - (withdrawn === 0 ? 0 : await completeWithdrawn(session, epochKey)),
  };
}

/** Few people withdraw, so the journal is only read where somebody did. */
async function completeWithdrawn(session: Session, epochKey: bigint): Promise<number> {
  const [row] = await session.text<{ readonly count: bigint }>(
    `SELECT count(*) FROM ${journalTable(epochKey)} WHERE complete = 1 AND contributor_id = ANY
      (ARRAY(SELECT contributor_id FROM withdrawals WHERE epoch_key = $1))`, [epochKey]);
  return Number(row!.count);
}

/** See `SharedStore.shareKey`. */
export async function shareKey(
  session: Session, { name, fingerprint }: SharedKey,
): Promise<boolean> {
  const bytes = Buffer.from(fingerprint);
  await session.text(`INSERT INTO shared_keys (name, fingerprint) VALUES ($1, $2)
    ON CONFLICT (name) DO NOTHING`, [name, bytes]);
  const rows = await session.text(
    'SELECT 1 FROM shared_keys WHERE name = $1 AND fingerprint = $2', [name, bytes]);
  return rows.length > 0;
}
