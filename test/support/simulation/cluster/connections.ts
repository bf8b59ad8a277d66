import type { StudyId } from '../../../../server/store/contract.js';
import type { Connections } from '../../../../server/store/postgres/connection.js';
import { PostgresFailure } from '../../../../server/store/postgres/failures.js';
import type { Session } from '../../../../server/store/postgres/session.js';
import type { Steps } from '../../../../server/store/rules/steps.js';
import type { Chance } from '../chance.js';
import type { ProcessTimers, Scheduler } from '../scheduler.js';
import { isTyped, type SharedDatabase } from './database.js';
import type { ClusterCounts, ClusterRates } from './faults.js';
import { claimMs, type SimulatedSlices } from './slices.js';

/** The database server, as connections find it. */
export interface DatabaseServer {
  readonly database: SharedDatabase;
  isUp: boolean;
  /** Grows with every restart: answers that were on their way are lost. */
  generation: number;
  readonly hearers: Set<Hearer>;
}

/** A connection that listens to news. */
interface Hearer {
  tell(): void;
  lose(): void;
}

export interface ConnectionsOptions {
  readonly scheduler: Scheduler;
  readonly timers: ProcessTimers;
  readonly server: DatabaseServer;
  readonly chance: Chance;
  readonly rates: () => ClusterRates;
  readonly counts: ClusterCounts;
  /** Gets what no transaction may throw. */
  readonly onBroken: (error: unknown) => void;
}

const lost = (): PostgresFailure => new PostgresFailure('the connection is lost', 'lost');

/** A call that the process that made it does not live to see answered. */
const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

/**
 * One node's way to the database. A request travels, is executed in one step, and its answer
 * travels back. Either may be lost. The request of a process that dies may still be executed; that
 * of a frozen one is executed before or after it wakes.
 */
export class SimulatedConnections {
  constructor(readonly options: ConnectionsOptions) {}

  /** For the product's classes, which use these methods only. */
  get asProduct(): Connections {
    return this as unknown as Connections;
  }

  async use<T>(action: (session: Session) => Promise<T>): Promise<T> {
    const { timers, server, chance, rates, counts, scheduler } = this.options;
    await new Promise<void>((resolve) => {
      scheduler.after(this.#delayMs(), `${timers.name} asks`, resolve);
    });
    if (!timers.alive && chance.happens(0.5)) return never();
    if (timers.frozenUntilMs > scheduler.nowMs && chance.happens(0.5)) await this.#travel(0);
    if (!server.isUp || chance.happens(rates().requestLost)) {
      counts['request-lost'] += 1;
      await this.#travel();
      throw lost();
    }
    const { generation } = server;
    const answer = await this.#execute(action);
    await this.#travel();
    if (server.generation !== generation || chance.happens(rates().answerLost)) {
      counts['answer-lost'] += 1;
      throw lost();
    }
    return answer();
  }

  async hear(onNews: () => void, onLost: () => void): Promise<() => void> {
    const { timers, server, chance, rates, counts } = this.options;
    await this.#travel();
    if (!server.isUp) throw lost();
    const hearer: Hearer = {
      tell: () => {
        if (chance.happens(rates().newsLost)) counts['news-lost'] += 1;
        else timers.after(this.#delayMs(), onNews);
      },
      lose: () => void timers.after(this.#delayMs(), onLost),
    };
    server.hearers.add(hearer);
    return () => server.hearers.delete(hearer);
  }

  async #execute<T>(action: (session: Session) => Promise<T>): Promise<() => T> {
    const { server: { database }, onBroken } = this.options;
    const session = new SimulatedSession(this.options);
    try {
      const result = await action(session as unknown as Session);
      session.finish();
      database.watcher.onCommit();
      return () => result;
    } catch (error) {
      if (!isTyped(error) && (error as { code?: unknown }).code !== 'KE002') onBroken(error);
      return () => { throw error; };
    }
  }

  #delayMs(): number {
    const { chance, rates, counts } = this.options;
    if (!chance.happens(rates().slowDatabase)) return chance.between(0.1, 3);
    counts['slow-database'] += 1;
    return chance.between(5, 400);
  }

  #travel(delayMs = this.#delayMs()): Promise<void> {
    return new Promise((resolve) => { this.options.timers.after(delayMs, resolve); });
  }
}

type Answer = readonly object[];

/** One action at the database. What the product says in SQL beside the rules is done here. */
class SimulatedSession {
  /** What the transaction leaves beside the tables; nothing is left when it fails. */
  readonly #effects: (() => void)[] = [];
  #studies: readonly StudyId[] = [];

  constructor(private readonly options: ConnectionsOptions) {}

  async transaction<T>(_mode: string, action: () => Promise<T>): Promise<T> {
    return action();
  }

  async perform<T>(steps: Steps<T>): Promise<T> {
    return this.options.server.database.change(this.#studies, steps);
  }

  async text(text: string, values: readonly unknown[] = []): Promise<Answer> {
    const found = answers.find(([start]) => text.startsWith(start));
    if (found === undefined) throw new Error(`the simulated database does not know: ${text}`);
    return found[1]({
      database: this.options.server.database, values, options: this.options,
      later: (effect) => { this.#effects.push(effect); },
      lock: (studies) => { this.#studies = studies; },
    });
  }

  /** The transaction is committed. */
  finish(): void {
    for (const effect of this.#effects) effect();
  }
}

interface Asked {
  readonly database: SharedDatabase;
  readonly values: readonly unknown[];
  readonly options: ConnectionsOptions;
  readonly later: (effect: () => void) => void;
  readonly lock: (studies: readonly StudyId[]) => void;
}

/** Tells every node that hears that something changed. */
export function news({ server }: ConnectionsOptions): void {
  for (const hearer of server.hearers) hearer.tell();
}

/** What the product's texts do, by their beginnings. */
const answers: readonly (readonly [string, (asked: Asked) => Answer])[] = [
  ['SELECT begin_write', ({ database, values, later }) => {
    const [node, number] = values as [bigint, bigint];
    database.begin(node, number);
    later(() => database.nodes.set(node, number));
    return [];
  }],
  ['SELECT lead_write', ({ database, values, later, options }) => {
    const [studyId, token] = values as [StudyId, bigint];
    database.lead(studyId, token);
    later(() => news(options));
    return [];
  }],
  ['SELECT lock_studies', ({ values, lock }) => {
    lock(values[0] as readonly StudyId[]);
    return [];
  }],
  ['SELECT * FROM take_lease', ({ database, values, later, options }) => {
    const [studyId, node, ttlMs, freeMs] = values as [StudyId, bigint, number, number];
    const rows = database.takeLease(studyId, node, ttlMs, freeMs);
    if (rows.length > 0) later(() => news(options));
    return rows;
  }],
  ['SELECT renew_leases', ({ database, values }) =>
    database.renew(int8sOf(values[1]), int8sOf(values[2]), values[3] as number)],
  ['WITH led AS', ({ database, values }) => {
    database.ask(values[0] as bigint, values[1] as readonly StudyId[]);
    return [];
  }],
  ['UPDATE leases SET expires_at', ({ database, values }) => {
    database.giveBack(({ nodeId }) => nodeId === values[0]);
    return [];
  }],
  ['WITH given AS (UPDATE leases', ({ database, values, options }) => {
    const [which, token] = values as [bigint, bigint];
    const isGiven = database.giveBack((lease, budget) =>
      budget === which && lease.token === token);
    if (isGiven) news(options);
    return [];
  }],
  ['WITH charged AS', ({ database, values, options }) => {
    if (database.slices.split(...values as Parameters<SimulatedSlices['split']>)) news(options);
    return [];
  }],
  ['UPDATE epoch_slices AS s SET token', claimed],
  ['SELECT expires_at <', ({ database, values }) => {
    const old = database.slices.held(...values as Parameters<SimulatedSlices['held']>);
    return old === null ? [] : [{ old }];
  }],
  ['UPDATE epoch_slices SET expires_at', ({ database, values }) => {
    database.slices.renew(...values as Parameters<SimulatedSlices['renew']>);
    return [];
  }],
  ['WITH done AS (UPDATE epoch_slices', ({ database, values, options }) => {
    if (!database.slices.finish(...values as Parameters<SimulatedSlices['finish']>)) return [];
    news(options);
    return [{}];
  }],
  ['WITH given AS (UPDATE epoch_slices', ({ database, values, options }) => {
    const given = database.slices.giveBack(...values as Parameters<SimulatedSlices['giveBack']>);
    if (given) news(options);
    return [];
  }],
  ['SELECT count(*) AS count', ({ database, values }) =>
    [database.slices.left(...values as Parameters<SimulatedSlices['left']>)]],
  ['SELECT summary, slices', ({ database, values }) => {
    const row = database.slices.row(...values as Parameters<SimulatedSlices['row']>);
    return row === undefined ? [] : [{ summary: row.summary, slices: BigInt(row.slices) }];
  }],
  ['INSERT INTO nodes', ({ database }) => {
    const id = BigInt(database.nodes.size + 1);
    database.nodes.set(id, 0n);
    return [{ node_id: id }];
  }],
  // A node that has left has no number: its transactions fail.
  ['DELETE FROM nodes', ({ database, values }) => {
    if (values.length > 0) database.nodes.set(values[0] as bigint, -1n);
    return [];
  }],
  ['UPDATE nodes SET last', ({ database, values }) => {
    const [node, skipped, before] = values as [bigint, bigint, bigint];
    if (database.nodes.get(node) === before) database.nodes.set(node, skipped);
    return [];
  }],
  ['SELECT last FROM nodes', ({ database, values }) =>
    [{ last: database.nodes.get(values[0] as bigint) }]],
];

/** A node that has just got a slice often freezes while it works on it, until the claim is over. */
function claimed({ database, values, options }: Asked): Answer {
  const row = database.slices.claim(values[0] as readonly StudyId[], values[1] as string[]);
  if (row === null) return [];
  const { chance, rates, counts, scheduler, timers } = options;
  if (chance.happens(rates().sliceFrozen)) {
    scheduler.after(chance.between(0, 12), `${timers.name} freezes in a slice`, () => {
      counts['slice-frozen'] += 1;
      timers.frozenUntilMs = Math.max(timers.frozenUntilMs,
        scheduler.nowMs + chance.between(claimMs, 3 * claimMs));
    });
  }
  return [{
    slice: BigInt(row.slice), slices: BigInt(row.slices), token: row.token,
    study_id: row.studyId, epoch: row.epoch,
  }];
}

/** Numbers of an array in PostgreSQL's binary form, as arrays.ts writes it. */
function int8sOf(value: unknown): bigint[] {
  const bytes = value as Buffer;
  return Array.from({ length: bytes.readInt32BE(12) }, (_, i) =>
    bytes.readBigInt64BE(20 + 12 * i + 4));
}
