import { psql } from '../../../cli/demo/cluster/private-postgres.js';
import { sign } from './step-watch.js';

/** What servers did with the slices of epochs. */
export interface SliceFigures {
  readonly claimed: number;
  readonly summarised: number;
  /** Summarised by another server than the one that charged the epoch. */
  readonly byOthers: number;
  /** Summarised under a later claim than the first one. */
  readonly takenOver: number;
}

/**
 * Lets the database note which server claims and summarises a slice, and say in the answer to a
 * claim that it is one. Servers are told apart by `application_name` in their addresses.
 * @param study whose claims are said.
 */
export async function watchSlices(url: string, study: string): Promise<void> {
  const ofStudy = `(SELECT study_key FROM keelson.studies WHERE name = '${study}')`;
  const note = (kind: string, slice: string, token: string): string =>
    `INSERT INTO watched.slices (kind, epoch_key, slice, token, server)
      VALUES ('${kind}', NEW.epoch_key, ${slice}, ${token}, current_setting('application_name'));`;
  await psql(url, `
    CREATE SCHEMA watched;
    CREATE TABLE watched.slices (id bigint GENERATED ALWAYS AS IDENTITY, kind text,
      epoch_key bigint, slice bigint, token bigint, server text);
    CREATE FUNCTION watched.note_slice() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.token != OLD.token THEN
        ${note('claimed', 'NEW.slice', 'NEW.token')}
        IF ${ofStudy} = (SELECT study_key FROM keelson.epochs WHERE epoch_key = NEW.epoch_key) THEN
          RAISE WARNING '${sign('slice')}';
        END IF;
      ELSIF OLD.summary IS NULL AND NEW.summary IS NOT NULL THEN
        ${note('summarised', 'NEW.slice', 'NEW.token')}
      END IF;
      RETURN NEW;
    END $$;
    CREATE FUNCTION watched.note_charge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      ${note('charged', 'NULL', 'NULL')}
      RETURN NEW;
    END $$;
    CREATE TRIGGER note_slice AFTER UPDATE ON keelson.epoch_slices FOR EACH ROW
      EXECUTE FUNCTION watched.note_slice();
    CREATE TRIGGER note_charge AFTER UPDATE OF state ON keelson.epochs FOR EACH ROW
      WHEN (NEW.state = 'charged' AND OLD.state != 'charged')
      EXECUTE FUNCTION watched.note_charge();`);
}

export async function sliceFigures(url: string): Promise<SliceFigures> {
  const text = await psql(url, `SELECT count(*) FILTER (WHERE s.kind = 'claimed'),
      count(*) FILTER (WHERE s.kind = 'summarised'),
      count(*) FILTER (WHERE s.kind = 'summarised' AND s.server != c.server),
      count(*) FILTER (WHERE s.kind = 'summarised' AND s.token > 1)
    FROM watched.slices AS s JOIN watched.slices AS c USING (epoch_key)
    WHERE c.kind = 'charged'`);
  const [claimed, summarised, byOthers, takenOver] =
    text.split('|').map(Number) as [number, number, number, number];
  return { claimed, summarised, byOthers, takenOver };
}

export interface Claim {
  /** Grows with every claim of the cluster. */
  readonly id: number;
  readonly epochKey: number;
  readonly slice: number;
}

/** @returns null when the server has claimed none yet. */
export async function newestClaim(url: string, server: string): Promise<Claim | null> {
  const text = await psql(url, `SELECT id, epoch_key, slice FROM watched.slices
    WHERE kind = 'claimed' AND server = '${server}' ORDER BY id DESC LIMIT 1`);
  if (text === '') return null;
  const [id, epochKey, slice] = text.split('|').map(Number) as [number, number, number];
  return { id, epochKey, slice };
}

/** Lets all claims end as if their 30 seconds were over. */
export async function endClaims(url: string): Promise<void> {
  await psql(url, `UPDATE keelson.epoch_slices SET expires_at = '-infinity'
    WHERE summary IS NULL`);
}

/** True if a slice has a summary, or its epoch needs none any more. */
export async function isSettled(url: string, { epochKey, slice }: Claim): Promise<boolean> {
  return await psql(url, `SELECT count(*) FROM keelson.epoch_slices JOIN keelson.epochs
    USING (epoch_key) WHERE epoch_key = ${epochKey} AND slice = ${slice} AND summary IS NULL
      AND state = 'charged'`) === '0';
}
