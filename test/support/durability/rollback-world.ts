import { createHash } from 'node:crypto';
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { connect } from '../../../server/store/sqlite/driver.js';
import { KeelsonError } from '../../../src/base/errors.js';
import { signing } from '../../../src/signing/node.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { Logger } from '../../../server/base/logger.js';
import type { Store } from '../../../server/store/contract.js';
import { openInlineSqliteStore } from '../../../server/store/sqlite/open-inline.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import { createStudyHub, type RunningHub } from '../../../server/studies/hub/hub.js';
import {
  batchOf, define, everyMs, hexKey, Record as Happened, watchedRunner, watchedStore,
} from '../hub-bench.js';
import { Chance } from '../simulation/chance.js';
import { VirtualClock } from '../virtual-clock.js';
import { memoryFolder } from '../memory-folder.js';

/** What is done to the database between two runs of a server. `none`: the server is only killed. */
export const rollbackFaults = ['none', 'older-copy', 'emptied', 'removed', 'log-cut'] as const;
export type RollbackFault = (typeof rollbackFaults)[number];

/**
 * Defects that the world must find. `mark-set-back`: the mark is made from the database that is
 * there. `nothing-charged`: the mark has forgotten the charges. `same-epochs`: it has forgotten
 * which epochs there were.
 */
export const rollbackPlants = ['mark-set-back', 'nothing-charged', 'same-epochs'] as const;
export type RollbackPlant = (typeof rollbackPlants)[number];

export interface RollbackReport {
  /** Null when every promise held. */
  readonly failure: string | null;
  /** Starts that were refused, and then accepted. */
  readonly refused: readonly RollbackFault[];
  /** Releases that were published. */
  readonly releases: number;
}

const files = ['keelson.db', 'keelson.db-wal'] as const;
const people = 6;
const runs = 7;

class BrokenPromise extends Error {}

/**
 * A server whose database is set back between its runs: real hub, ledger, store and mark, on a
 * virtual clock, with every choice from one seed. The world keeps its own account of what was drawn
 * and published. By that account: a start is refused when the database lacks something of it, and
 * never when the server was only killed; after the operator's acceptance no budget is spent beyond
 * its cap; no epoch has two releases or two draws of noise.
 */
export async function liveThroughRollbacks(
  seed: number, plant: RollbackPlant | null = null,
): Promise<RollbackReport> {
  const world = new RollbackWorld(Chance.of(seed), plant);
  let failure: string | null = null;
  try {
    await world.live();
  } catch (error) {
    if (!(error instanceof BrokenPromise)) throw error;
    failure = error.message;
  } finally {
    world.remove();
  }
  return { failure, refused: world.refused, releases: world.published.size };
}

class RollbackWorld {
  readonly refused: RollbackFault[] = [];
  /** Digest of every published release, by study and epoch. */
  readonly published = new Map<string, string>();
  readonly #root = mkdtempSync(join(memoryFolder, 'keelson-rollbacks-'));
  readonly #clock = new VirtualClock();
  readonly #happened = new Happened();
  readonly #signer = signing.createSigner(new Uint8Array(32).fill(9));
  readonly #studies: readonly StudyDefinition[];
  /** Contributors whose rows an epoch holds, by study and epoch. */
  readonly #members = new Map<string, Set<string>>();
  /** Releases that an acceptance gave up. */
  readonly #givenUp = new Set<string>();
  readonly #copies: string[] = [];
  #sequence = 0n;
  #generation = 0;
  #twice: string | null = null;

  constructor(private readonly chance: Chance, private readonly plant: RollbackPlant | null) {
    const scope = chance.pick(['study', 'population', 'contributor'] as const);
    const budget: StudyDocument['budget'] = {
      epsilon: 5, delta: 1e-5, rule: 'zcdp', scope,
      ...(scope === 'population' && { population: 'travellers' }),
    };
    const names = scope === 'population' ? ['first', 'second'] : ['first'];
    this.#studies = names.map((study) => define({ study, budget }));
    mkdirSync(this.#folder, { mode: 0o700 });
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  async live(): Promise<void> {
    let store = await this.#open(false);
    for (let run = 1; run <= runs; run++) {
      await this.#run(store);
      this.#leaveKilled();
      await store.close();
      const fault = this.chance.pick(rollbackFaults);
      this.#spoil(fault);
      store = await this.#start(fault);
      await this.#readMembers(store);
    }
    await this.#run(store);
    await store.close();
  }

  get #folder(): string {
    return join(this.#root, String(this.#generation));
  }

  #open(acceptRollback: boolean): Promise<Store> {
    return openInlineSqliteStore({ directory: this.#folder, clock: this.#clock, acceptRollback });
  }

  /**
   * Some epochs, each with some people, the last one perhaps cut short. Copies of the database are
   * taken meanwhile.
   */
  async #run(store: Store): Promise<void> {
    const hub = await this.#hub(store);
    for (let turns = this.chance.below(4); turns >= 0; turns--) {
      for (const { studyId, epoch } of hub.studies()) {
        if (epoch !== 0n) await this.#contribute(hub, studyId, epoch);
      }
      if (this.chance.happens(0.4)) this.#copy();
      await this.#clock.advance(turns === 0 ? everyMs * this.chance.uniform() : everyMs);
    }
    await hub.settled();
    await hub.close();
    await this.#check(store);
  }

  async #hub(store: Store): Promise<RunningHub> {
    const hub = await createStudyHub({
      store: watchedStore(store, this.#happened),
      runnerFactory: () => watchedRunner(this.#happened), clock: this.#clock, signer: this.#signer,
      studies: this.#studies, logger: silent,
      onFatal: (error) => { this.#twice ??= `the server stopped: ${String(error)}`; },
    });
    hub.onEvent((event) => {
      if (event.kind === 'release') {
        this.#publish(`${event.studyId}/${event.release.epoch}`, event.release.digest);
      }
    });
    // What the start itself released was published before anybody could listen.
    for (const { studyId, releaseCount } of hub.studies()) {
      for (const { epoch, digest } of await hub.releases(studyId, 0, releaseCount)) {
        this.#publish(`${studyId}/${epoch}`, digest);
      }
    }
    return hub;
  }

  #publish(epoch: string, digest: string): void {
    const before = this.published.get(epoch);
    if (before !== undefined && before !== digest) {
      this.#twice ??= `${epoch} has two different releases`;
    }
    this.published.set(epoch, digest);
  }

  async #contribute(hub: RunningHub, studyId: string, epoch: bigint): Promise<void> {
    for (let contributor = 0; contributor < people; contributor++) {
      if (this.chance.happens(0.3)) continue;
      this.#sequence += 1n;
      const batch = batchOf(studyId, contributor, epoch, { sequence: this.#sequence });
      const { verdict } = await hub.submit(batch);
      if (verdict === 'accepted') this.#membersOf(`${studyId}/${epoch}`).add(hexKey(contributor));
    }
  }

  #membersOf(epoch: string): Set<string> {
    const members = this.#members.get(epoch) ?? new Set();
    this.#members.set(epoch, members);
    return members;
  }

  /**
   * Rows may be lost with an older database; those of epochs that were drawn have counted all the
   * same.
   */
  async #readMembers(store: Store): Promise<void> {
    for (const epoch of this.#members.keys()) {
      if (!this.#happened.draws.has(epoch)) this.#members.delete(epoch);
    }
    for (const { studyId, epoch } of await store.unfinishedEpochs()) {
      for (const { contributor } of await store.journal(studyId, epoch, 0n, 1_000)) {
        this.#membersOf(`${studyId}/${epoch}`).add(contributor);
      }
    }
  }

  async #check(store: Store): Promise<void> {
    if (this.#twice !== null) throw new BrokenPromise(this.#twice);
    for (const [epoch, draws] of this.#happened.draws) {
      if (draws !== 1) throw new BrokenPromise(`noise of ${epoch} was drawn ${draws} times`);
    }
    const cost = this.#studies[0]!.charge.rho;
    const drawn = BigInt(this.#happened.draws.size) * cost;
    for (const { scope, rhoCap, rhoSpent, rhoReserved } of await store.balances()) {
      if (scope === 'contributor') {
        this.#checkMembers(cost, rhoCap);
      } else if (drawn > rhoCap) {
        throw new BrokenPromise(`${drawn} was spent of a budget of ${rhoCap}`);
      } else if (rhoSpent < drawn || rhoSpent + rhoReserved > rhoCap) {
        throw new BrokenPromise(
          `the ledger says that ${rhoSpent} of ${rhoCap} was spent, it was ${drawn}`,
        );
      }
    }
  }

  #checkMembers(cost: bigint, cap: bigint): void {
    for (let contributor = 0; contributor < people; contributor++) {
      const key = hexKey(contributor);
      const epochs = [...this.#happened.draws.keys()].filter((epoch) =>
        this.#members.get(epoch)?.has(key));
      const spent = BigInt(epochs.length) * cost;
      if (spent > cap) {
        throw new BrokenPromise(`a contributor has spent ${spent} of a budget of ${cap}`);
      }
    }
  }

  #copy(): void {
    const copy = join(this.#root, `copy-${this.#copies.length}`);
    mkdirSync(copy);
    for (const file of files) {
      if (existsSync(join(this.#folder, file))) cpSync(join(this.#folder, file), join(copy, file));
    }
    this.#copies.push(copy);
  }

  /**
   * The files as a kill leaves them. What the process still does goes into a folder that nobody
   * reads any more.
   */
  #leaveKilled(): void {
    const left = this.#folder;
    this.#generation += 1;
    cpSync(left, this.#folder, { recursive: true });
    rmSync(join(this.#folder, 'keelson.db-shm'), { force: true });
  }

  #spoil(fault: RollbackFault): void {
    const path = (name: string): string => join(this.#folder, name);
    if (fault === 'log-cut' && existsSync(path('keelson.db-wal'))) {
      truncateSync(path('keelson.db-wal'), 4_096 * this.chance.below(8));
    }
    const isReplaced = fault === 'older-copy' && this.#copies.length > 0;
    if (isReplaced || fault === 'emptied' || fault === 'removed') {
      for (const file of files) rmSync(path(file), { force: true });
    }
    if (isReplaced) cpSync(this.chance.pick(this.#copies), this.#folder, { recursive: true });
    if (fault === 'emptied') writeFileSync(path('keelson.db'), '', { mode: 0o600 });
  }

  async #start(fault: RollbackFault): Promise<Store> {
    if (this.plant === 'mark-set-back') this.#setMarkBack();
    const missing = this.#missing();
    try {
      const store = await this.#open(false);
      if (missing === null) return store;
      await store.close();
      throw new BrokenPromise(`after ${fault} a start was not refused, though ${missing}`);
    } catch (error) {
      if (!(error instanceof KeelsonError) || error.code !== 'data-folder-rolled-back') throw error;
      if (fault === 'none') {
        throw new BrokenPromise(`a server that was only killed is refused: ${error.message}`);
      }
    }
    this.refused.push(fault);
    for (const epoch of this.published.keys()) this.#givenUp.add(epoch);
    if (this.plant !== null) this.#spoilAcceptance(this.plant);
    const store = await this.#open(true);
    await store.acceptRollback!(this.#clock.nowMs());
    return store;
  }

  /** A folder with an older database and its own mark, as a snapshot of the whole leaves it. */
  #setMarkBack(): void {
    rmSync(join(this.#folder, 'keelson.mark'));
    const database = connect(join(this.#folder, 'keelson.db'));
    const isMade = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'")
      .get() !== undefined;
    if (isMade) database.exec("DELETE FROM meta WHERE name = 'marked'");
    database.close();
  }

  /** Makes the mark forget what an acceptance needs. */
  #spoilAcceptance(plant: RollbackPlant): void {
    const path = join(this.#folder, 'keelson.mark');
    if (!existsSync(path)) return;
    const [format, , body] = readFileSync(path, 'utf8').split('\n') as [string, string, string];
    const forgetful = plant === 'nothing-charged'
      ? body.replaceAll(/"charged":{[^}]*}/g, '"charged":{"rho":"0","delta":"0","pure":"0"}')
      : body.replaceAll(/"epoch":"\d+"/g, '"epoch":"1"');
    writeFileSync(
      path, `${format}\n${createHash('sha256').update(forgetful).digest('hex')}\n${forgetful}\n`,
    );
  }

  /**
   * In words, something drawn or published that the database does not know; null when it knows
   * everything.
   */
  #missing(): string | null {
    if (this.#happened.draws.size === 0) return null;
    const path = join(this.#folder, 'keelson.db');
    if (!existsSync(path)) return 'there is no database';
    const database = connect(path);
    try {
      if (database.prepare('SELECT 1 FROM sqlite_schema WHERE name = '
        + "'ledger'").get() === undefined) return 'it is empty';
      const total = database
        .prepare<[], { rho: string }>("SELECT rho FROM ledger WHERE kind = 'charged'").all()
        .reduce((sum, { rho }) => sum + BigInt(rho), 0n);
      const drawn = BigInt(this.#happened.draws.size) * this.#studies[0]!.charge.rho;
      if (total < drawn) return `${drawn} was spent and the ledger knows ${total}`;
      const digests = new Set(database
        .prepare<[], { digest: string }>('SELECT digest FROM releases').all()
        .map(({ digest }) => digest));
      for (const [epoch, digest] of this.published) {
        if (!this.#givenUp.has(epoch) && !digests.has(digest)) {
          return `the release of ${epoch} is gone`;
        }
      }
      return null;
    } finally {
      database.close();
    }
  }
}

const silent: Logger = {
  debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined,
};
