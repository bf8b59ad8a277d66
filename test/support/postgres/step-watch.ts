import { psql } from '../../../cli/demo/cluster/private-postgres.js';

/** What a leader does from the taking of its lease to the release of an epoch, in order. */
export const steps = ['lead', 'close', 'charge', 'release'] as const;
/** `slice`: any server claims a slice of a charged epoch. See `watchSlices`. */
export type Step = (typeof steps)[number] | 'slice';

/**
 * A moment of a step. `in`: the transaction has written and is not committed. `after`: it is
 * committed, and the leader has not read the answer, so it has not begun the next step.
 */
export interface StepPoint {
  readonly step: Step;
  readonly when: 'in' | 'after';
}

/** All of them, so also those between every two steps. */
export const stepPoints: readonly StepPoint[] = steps.flatMap((step) =>
  [{ step, when: 'after' }, { step, when: 'in' }] as const);

/** What the database says in the answer. */
export const sign = (step: Step): string => `keelson step ${step};`;

const stateOf: Readonly<Record<Exclude<Step, 'lead' | 'slice'>, string>> =
  { close: 'closing', charge: 'charged', release: 'released' };

/**
 * Lets the database say in the answers of a leader of this study which step it has written, so that
 * what passes the answers on knows it. Call it when the study is registered.
 */
export async function announceSteps(url: string, study: string): Promise<void> {
  const ofStudy = `(SELECT study_key FROM keelson.studies WHERE name = '${study}')`;
  const ofBudget = `(SELECT budget_id FROM keelson.studies WHERE name = '${study}')`;
  const cases = Object.entries(stateOf).map(([step, state]) =>
    `IF NEW.state = '${state}' THEN RAISE WARNING '${sign(step as Step)}'; END IF;`).join(' ');
  await psql(url, `
    CREATE FUNCTION keelson.tell_step() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.study_key = ${ofStudy} THEN ${cases} END IF;
      RETURN NEW;
    END $$;
    CREATE FUNCTION keelson.tell_lead() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.budget_id = ${ofBudget} THEN RAISE WARNING '${sign('lead')}'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER tell_step AFTER UPDATE OF state ON keelson.epochs FOR EACH ROW
      WHEN (NEW.state IS DISTINCT FROM OLD.state) EXECUTE FUNCTION keelson.tell_step();
    CREATE TRIGGER tell_lead AFTER UPDATE OF token ON keelson.leases FOR EACH ROW
      WHEN (NEW.token IS DISTINCT FROM OLD.token) EXECUTE FUNCTION keelson.tell_lead();`);
}

/** The message that ends a COMMIT, in the protocol of PostgreSQL. */
const committed = Buffer.from('C\0\0\0\x0bCOMMIT\0', 'latin1');

/** The answers on one connection, until the point is reached. */
export class StepWatch {
  #isWritten = false;

  constructor(private readonly point: StepPoint) {}

  /** @returns whether the point is reached with this piece of an answer. */
  reached(answer: Buffer): boolean {
    const at = this.#isWritten ? 0 : answer.indexOf(sign(this.point.step));
    if (at < 0) return false;
    this.#isWritten = true;
    if (this.point.when === 'in') return true;
    if (answer.indexOf(committed, at) >= 0) return true;
    // A transaction that was rolled back counts as none.
    this.#isWritten = !answer.subarray(at).includes('ROLLBACK\0');
    return false;
  }
}
