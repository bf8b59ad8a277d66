import { createHash } from 'node:crypto';
import { signing } from '../../../src/signing/node.js';
import {
  keyChain, keysOfRotation, type KeyRotation, type Verifier,
} from '../../../src/signing/index.js';
import { ReleaseChain, chainStart, verifyReleaseLog } from '../../../src/log/index.js';
import {
  batchCells, batchRows, decodeBatchBody, decodeReleaseBody,
} from '../../../src/wire/index.js';
import type { ReleaseBody } from '../../../src/wire/messages.js';
import { capOf, zeroAmount } from '../../../src/privacy/accounting/amount.js';
import {
  admits, plusCharge, type Caps, type Charge,
} from '../../../src/privacy/accounting/budget.js';
import { equalBytes, fromHex, toHex } from '../../../src/base/bytes.js';
import type { Key, KnownKeys } from '../../../src/base/remembered-keys.js';
import type { EpochResult } from '../../../server/epochs/contract.js';
import type { StoreReads } from './stored.js';
import type {
  AdmissionRequest, AdmissionResult, LedgerBalance, ReleaseRecord, WithdrawalRequest,
  WithdrawalResult,
} from '../../../server/store/contract.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import {
  columnCount, keysAlone, keysRemembered, remembered, separation, summed, type SeenBy, type SeenRow,
} from './study.js';

const noCharge: Charge = { rho: zeroAmount, delta: zeroAmount, pure: zeroAmount };

const capsOfBalance = ({ rhoCap, deltaCap, pureCap }: LedgerBalance): Caps =>
  ({ rho: rhoCap, delta: deltaCap, pure: pureCap });

/** A promise of the product that a simulated world saw broken. */
export class BrokenPromise extends Error {}

/** Rows of one contributor in one epoch's journal, as sequences. */
type EpochJournal = Map<string, Map<bigint, Float64Array>>;

interface StudyModel {
  readonly definition: StudyDefinition;
  readonly chain: ReleaseChain;
  readonly bytes: Uint8Array[];
  readonly releasedEpochs: Set<bigint>;
  /** What the journal of each epoch holds; final once the epoch has left it. */
  readonly journals: Map<bigint, EpochJournal>;
  readonly draws: Map<bigint, number>;
  /** Contributor and tag, both ways, by epoch. */
  readonly groups: Map<string, string>;
  /** The newest release with a running total. */
  series: { readonly epoch: bigint; readonly position: number } | null;
}

/**
 * What must be true, beside what is. It is told each fact where it becomes one (a transaction
 * executed, a sync ended, rows drawn from, an acknowledgement received) and throws at the first
 * that contradicts another.
 */
export class Model {
  readonly trace = createHash('sha256');
  readonly #studies = new Map<string, StudyModel>();
  /** Every contributor's settled rows: by key, sequence. */
  readonly #acked = new Map<string, Set<bigint>>();
  /** Which epoch holds a row: by key and first two entries; honest rows are all different. */
  readonly #rowHomes = new Map<string, string>();
  /**
   * Rows that were taken back, by study, key, sequence; and whose withdrawal from which epoch was
   * acknowledged.
   */
  readonly #withdrawn = new Set<string>();
  readonly #withdrawals = new Map<string, boolean>();
  /** Of the server, oldest first, and the records that lead from one to the next. */
  #keys: readonly Verifier[];
  #rotations: readonly KeyRotation[] = [];
  /**
   * The operator has confirmed the clock after it was ahead: what had left a window early counts
   * again.
   */
  clockConfirmed = false;
  readonly checks = {
    follows: 0, withdrawals: 0, acks: 0, draws: 0, releases: 0, balances: 0, recoveries: 0,
    totals: 0, remembered: 0, alone: 0, leads: 0, merged: 0,
  };

  /**
   * @param onNote gets every fact.
   * @param hasSeveralServers one may draw while another has already refused the epoch: nobody sees
   *   what it draws.
   */
  constructor(
    server: Verifier, private readonly onNote: (text: string) => void,
    private readonly hasSeveralServers = false,
  ) {
    this.#keys = [server];
  }

  addStudy(studyId: string, definition: StudyDefinition): void {
    this.#studies.set(studyId, {
      definition, bytes: [], releasedEpochs: new Set(), journals: new Map(), draws: new Map(),
      groups: new Map(), series: null,
      chain: new ReleaseChain({
        server: this.#keys[0]!, signing, studyId: fromHex(studyId), document: definition.document,
        from: chainStart,
      }),
    });
  }

  note(text: string): void {
    this.trace.update(text).update('\n');
    this.onNote(text);
  }

  /** Executed by the store; not yet durable. */
  admitted(requests: readonly AdmissionRequest[], results: readonly AdmissionResult[]): void {
    results.forEach((result, i) => {
      const { studyId, contributor, sequence, body } = requests[i]!;
      this.note(`${result.verdict} ${contributor.slice(0, 8)} ${sequence} in ${result.epoch} `
        + `${result.code ?? ''}`);
      if (result.verdict === 'accepted') {
        this.#journal(studyId, result.epoch, contributor, sequence, body);
      }
    });
  }

  #journal(
    studyId: string, epoch: bigint, contributor: string, sequence: bigint, body: Uint8Array,
  ): void {
    const study = this.#study(studyId);
    if (study.releasedEpochs.has(epoch)) {
      throw new BrokenPromise(`epoch ${epoch} takes rows after its release`);
    }
    const decoded = decodeBatchBody(body);
    const { rows, columns } = decoded;
    const { types, running } = study.definition.document;
    const values = types === undefined
      ? batchRows(decoded) : batchCells(decoded, types, 'accepted').values;
    if (running !== undefined) this.#mustBeApart(study, epoch, contributor);
    for (let row = 0; row < rows; row++) {
      const name =
        `${studyId} ${contributor} ${values[row * columns]} ${values[row * columns + 1]}`;
      const home = this.#rowHomes.get(name);
      if (home !== undefined) {
        throw new BrokenPromise(
          `counted twice: row ${name} is in epoch ${home} and again in ${epoch}`,
        );
      }
      this.#rowHomes.set(name, String(epoch));
    }
    const journal =
      getOrSet(study.journals, epoch, () => new Map<string, Map<bigint, Float64Array>>());
    getOrSet(journal, contributor, () => new Map<bigint, Float64Array>()).set(sequence, values);
    // A withdrawal that a crash took with it.
    this.#withdrawn.delete(`${studyId} ${contributor} ${sequence}`);
    this.#mustBeWithdrawn(studyId, contributor, epoch);
  }

  /**
   * A process starts over a disk: epochs that are not over hold what the disk says; acknowledged
   * rows must be there.
   */
  recovered(engine: StoreReads): void {
    this.checks.recoveries += 1;
    this.#followKeys(engine.rotations());
    for (const [studyId, study] of this.#studies) {
      if (engine.study(studyId) === null) {
        study.journals.clear();
        this.#rowHomes.clear();
        continue;
      }
      for (const epoch of [...study.journals.keys()]) {
        const record = engine.epoch(studyId, epoch);
        if (record?.state === 'released' || record?.state === 'lapsed') continue;
        this.#forget(studyId, study, epoch);
      }
      for (const { studyId: of, epoch } of engine.unfinishedEpochs()) {
        if (of !== studyId) continue;
        for (const entry of engine.journal(studyId, epoch, 0n, 100_000)) {
          this.#journal(studyId, epoch, entry.contributor, entry.sequence, entry.body);
        }
      }
      for (const [key, sequences] of this.#acked) {
        if (!key.startsWith(studyId)) continue;
        for (const sequence of sequences) {
          this.#mustBeJournalled(studyId, key.slice(65), sequence, 'after a restart');
        }
      }
      this.#compareLog(studyId, study, engine);
    }
  }

  /** A change of the server's key came to its end: it is there from now on. */
  keyChanged(record: KeyRotation): void {
    this.#followKeys([...this.#rotations, record]);
  }

  /**
   * What was shown once stays, and at most one change is new: those that both keys signed, in their
   * order.
   */
  #followKeys(rotations: readonly KeyRotation[]): void {
    const isKept = this.#rotations.every((record, i) =>
      rotations[i] !== undefined && equalBytes(record, rotations[i]));
    if (!isKept) throw new BrokenPromise('a change of the server\'s key is not there any more');
    if (rotations.length > this.#rotations.length + 1) {
      throw new BrokenPromise('the server\'s key changed twice at once');
    }
    if (rotations.length === this.#rotations.length) return;
    this.#rotations = rotations.map((record) => Uint8Array.from(record));
    this.#keys =
      keyChain(this.#rotations, keysOfRotation(this.#rotations.at(-1)!).nextKey, signing);
    for (const { chain } of this.#studies.values()) chain.follow(this.#keys);
    this.note(`key ${rotations.length}`);
  }

  /**
   * What a server runs after its start: every study that it can, and nothing that the store
   * refuses.
   */
  runs(studyIds: readonly string[], refused: number, broken: number): void {
    const missing = [...this.#studies.keys()].filter((studyId) => !studyIds.includes(studyId));
    if (missing.length > 0) {
      throw new BrokenPromise(`${missing.length} studies that could run are left out`);
    }
    if (refused !== broken) {
      throw new BrokenPromise(`${refused} studies are refused, and ${broken} contradict the store`);
    }
  }

  /** The key that a server shows and signs with. */
  serves(serverKey: Uint8Array): void {
    if (!equalBytes(serverKey, this.#keys.at(-1)!.publicKey)) {
      throw new BrokenPromise('a key is used that is not in force');
    }
  }

  /** A contributor's outbox insists on a key from now on. */
  pinned(serverKey: Uint8Array): void {
    const place = this.#keys.findIndex(({ publicKey }) => equalBytes(publicKey, serverKey));
    if (place < 0) throw new BrokenPromise('a contributor trusts a key that the server never had');
    if (place > 0) this.checks.follows += 1;
  }

  /** Releases as a reader of the whole log gets them, who knows the first key only. */
  async mustVerify(studyId: string, lines: readonly string[]): Promise<void> {
    const report = await verifyReleaseLog(lines, { signing, serverKey: this.#keys[0]!.publicKey });
    if (report.authentic) return;
    throw new BrokenPromise(`the log of ${studyId} does not verify: `
      + `${report.firstFault?.text ?? 'no reason'}`);
  }

  #forget(studyId: string, study: StudyModel, epoch: bigint): void {
    for (const [contributor, batches] of study.journals.get(epoch) ?? []) {
      for (const values of batches.values()) this.#forgetRows(studyId, contributor, values);
    }
    study.journals.delete(epoch);
  }

  /** Executed by the store; not yet durable. From here on the journal has none of the rows. */
  withdrawn({ studyId, contributor, epoch }: WithdrawalRequest, result: WithdrawalResult): void {
    this.note(`withdrawal ${contributor.slice(0, 8)} ${epoch} ${result.kind}`);
    if (result.kind !== 'withdrawn' || !result.undone) return;
    const study = this.#study(studyId);
    if (study.releasedEpochs.has(epoch)) {
      throw new BrokenPromise(`epoch ${epoch} gave rows back after its release`);
    }
    const journal = study.journals.get(epoch)!;
    for (const [sequence, values] of journal.get(contributor) ?? []) {
      this.#forgetRows(studyId, contributor, values);
      this.#withdrawn.add(`${studyId} ${contributor} ${sequence}`);
    }
    journal.delete(contributor);
    this.#withdrawals.set(`${studyId} ${contributor} ${epoch}`, false);
  }

  /** A contributor was told that nothing of it counts in the epoch. */
  withdrawalAcked(studyId: string, contributor: string, epoch: bigint): void {
    const name = `${studyId} ${contributor} ${epoch}`;
    // It had nothing there.
    if (!this.#withdrawals.has(name)) return;
    this.checks.withdrawals += 1;
    this.note(`withdrawn ${contributor.slice(0, 8)} ${epoch}`);
    this.#withdrawals.set(name, true);
    this.#mustBeWithdrawn(studyId, contributor, epoch);
  }

  #mustBeWithdrawn(studyId: string, contributor: string, epoch: bigint): void {
    if (this.#withdrawals.get(`${studyId} ${contributor} ${epoch}`) !== true) return;
    const count = this.#study(studyId).journals.get(epoch)?.get(contributor)?.size ?? 0;
    if (count > 0) throw new BrokenPromise(`withdrawn and counted: ${count} batches of `
      + `${contributor.slice(0, 8)} in ${epoch}`);
  }

  #forgetRows(studyId: string, contributor: string, values: Float64Array): void {
    for (let at = 0; at < values.length; at += columnCount) {
      this.#rowHomes.delete(`${studyId} ${contributor} ${values[at]} ${values[at + 1]}`);
    }
  }

  /** A contributor was told that its batch counts. */
  acked(studyId: string, contributor: string, sequence: bigint): void {
    this.checks.acks += 1;
    this.note(`ack ${contributor.slice(0, 8)} ${sequence}`);
    this.#mustBeJournalled(studyId, contributor, sequence, 'when it was acknowledged');
    getOrSet(this.#acked, `${studyId} ${contributor}`, () => new Set<bigint>()).add(sequence);
  }

  /** A contributor was told that its batch will never count. */
  refused(studyId: string, contributor: string, sequence: bigint): void {
    this.note(`refused ${contributor.slice(0, 8)} ${sequence}`);
    const homes = this.#homesOf(studyId, contributor, sequence);
    if (homes > 0) throw new BrokenPromise(`refused and counted: sequence ${sequence} of `
      + `${contributor.slice(0, 8)}`);
  }

  #mustBeJournalled(studyId: string, contributor: string, sequence: bigint, when: string): void {
    const homes = this.#homesOf(studyId, contributor, sequence);
    if (homes === 1
        || (homes === 0 && this.#withdrawn.has(`${studyId} ${contributor} ${sequence}`))) return;
    const what = homes === 0 ? 'lost' : 'counted twice';
    throw new BrokenPromise(`${what}: sequence ${sequence} of ${contributor.slice(0, 8)} is in `
      + `${homes} epochs ${when}`);
  }

  #homesOf(studyId: string, contributor: string, sequence: bigint): number {
    let homes = 0;
    for (const journal of this.#study(studyId).journals.values()) {
      if (journal.get(contributor)?.has(sequence) === true) homes += 1;
    }
    return homes;
  }

  /**
   * Noise is about to be added to these rows. The charge must be durable, and this the first time.
   */
  drawn(studyId: string, epoch: bigint, rows: readonly SeenRow[], engine: StoreReads): void {
    this.checks.draws += 1;
    const study = this.#study(studyId);
    const draws = (study.draws.get(epoch) ?? 0) + 1;
    study.draws.set(epoch, draws);
    if (draws > 1) throw new BrokenPromise(`noise of epoch ${epoch} was drawn again`);
    if (this.#isInVain(studyId, epoch, engine)) return;
    const state = engine.epoch(studyId, epoch)?.state;
    if (state !== 'charged') throw new BrokenPromise(`noise of epoch ${epoch} was drawn while it `
      + `is ${state}, not charged`);
    this.#compareRows(study, epoch, rows);
  }

  /** The leader of the epoch was replaced after its charge, and does not know it yet. */
  #isInVain(studyId: string, epoch: bigint, engine: StoreReads): boolean {
    return this.hasSeveralServers && engine.epoch(studyId, epoch)?.state === 'released';
  }

  /**
   * One row per contributor, the mean of what the journal holds, under one tag that nobody else
   * has.
   */
  #compareRows(study: StudyModel, epoch: bigint, rows: readonly SeenRow[]): void {
    const journal = study.journals.get(epoch) ?? new Map<string, Map<bigint, Float64Array>>();
    const expected = new Map<string, string>();
    for (const [contributor, batches] of journal) {
      expected.set(textOf(meanOf([...batches.keys()].sort(ascending)
        .map((sequence) => batches.get(sequence)!))), contributor);
    }
    const tags = new Set<bigint>();
    for (const { values, tag } of rows) {
      if (tags.has(tag)) {
        throw new BrokenPromise(`epoch ${epoch}: two rows of one contributor reached the groups`);
      }
      tags.add(tag);
      const contributor = expected.get(textOf(values));
      if (contributor === undefined) {
        const doubled = values.subarray(2).some((cell) => cell > 1);
        throw new BrokenPromise(`epoch ${epoch}: a row of contributor ${values[0]} is not the mean `
          + `of its journalled rows${doubled ? ', a cell is above 1' : ''}: it is in several `
          + 'groups, lost a batch, or has one twice');
      }
      expected.delete(textOf(values));
      this.#oneGroup(study, epoch, contributor, tag);
    }
    if (expected.size > 0) throw new BrokenPromise(`epoch ${epoch}: ${expected.size} contributors `
      + 'did not reach their group');
  }

  #oneGroup({ groups }: StudyModel, epoch: bigint, contributor: string, tag: bigint): void {
    const before = getOrSet(groups, `${epoch} ${contributor}`, () => String(tag));
    if (before !== String(tag)) {
      throw new BrokenPromise(`epoch ${epoch}: ${contributor.slice(0, 8)} is in two groups`);
    }
  }

  /** Two epochs of one contributor are as far apart as a running total was planned for. */
  #mustBeApart({ journals }: StudyModel, epoch: bigint, contributor: string): void {
    for (const [other, journal] of journals) {
      const apart = other < epoch ? epoch - other : other - epoch;
      if (apart > 0n && apart < BigInt(separation) && journal.has(contributor)) {
        throw new BrokenPromise(`${contributor.slice(0, 8)} is in epochs ${other} and ${epoch} of a `
          + 'running total');
      }
    }
  }

  /**
   * A question by key is released from these rows: under each key as many contributors as the
   * journal says, and for discovered keys their sum. The places of discovered keys follow from the
   * order of arrival.
   */
  drawnByKey(
    studyId: string, epoch: bigint, rows: readonly SeenRow[], by: SeenBy, engine: StoreReads,
  ): void {
    if (this.#isInVain(studyId, epoch, engine)) return;
    const { journals } = this.#study(studyId);
    if (by === 'keys alone') return this.#drawnAlone(journals.get(epoch), epoch, rows);
    const column = by === 'public keys' ? 2 : by === 'remembered keys' ? remembered : 1;
    const expected = new ByKey();
    for (const batches of (journals.get(epoch) ?? new Map<string, never>()).values()) {
      const own = new Map<number, number>();
      for (const values of batches.values() as Iterable<Float64Array>) {
        for (let at = 0; at < values.length; at += columnCount) {
          const key = values[at + column]!;
          const added = by === 'discovered keys' ? values[at + summed]! : 0;
          own.set(key, (own.get(key) ?? 0) + added);
        }
      }
      for (const [key, sum] of own) expected.add(key, sum);
    }
    const seen = new ByKey();
    for (const { values: [place, sum = 0] } of rows) seen.add(place!, sum);
    if (seen.text(by) !== expected.text(by)) {
      throw new BrokenPromise(`epoch ${epoch}: contributors under ${by} are not those of the journal`);
    }
    this.checks.draws += 1;
  }

  /**
   * Keys alone come from rows that state how many keys their contributor has: as many as the
   * journal says, and at most `keysAlone`. Which of them count is the server's secret.
   */
  #drawnAlone(
    journal: EpochJournal = new Map(), epoch: bigint,
    rows: readonly SeenRow[],
  ): void {
    const numbers = [...journal.values()].map((batches) => {
      const keys = [...batches.values()].flatMap((values) =>
        [...values].filter((_, at) => at % columnCount === 1));
      return Math.min(keysAlone, new Set(keys).size);
    });
    const expected = numbers.flatMap((own) => new Array<number>(own).fill(own));
    const stated = rows.map(({ values }) => values[1]!);
    // The rows of one contributor follow each other, each under another key.
    let isWhole = true;
    for (let at = 0, own = 0; at < rows.length; at += own) {
      own = Math.max(1, stated[at]!);
      const next = rows.slice(at, at + own);
      isWhole &&= next.every(({ values }) => values[1] === own)
        && new Set(next.map(({ values }) => values[0])).size === own;
    }
    if (!isWhole || stated.sort().join() !== expected.sort().join()) {
      throw new BrokenPromise(`epoch ${epoch}: rows of keys alone do not state the keys that their `
        + 'contributors have in the journal');
    }
    this.checks.draws += 1;
    this.checks.alone += Number(numbers.includes(keysAlone));
  }

  /**
   * A release shows these keys without a threshold: those of the newest answer in the log, and so
   * public. `known` is undefined in a study that remembers none.
   */
  knows(
    studyId: string, epoch: bigint, known: readonly KnownKeys[] | undefined, engine: StoreReads,
  ): void {
    if (this.#isInVain(studyId, epoch, engine)) return;
    const { questions = [] } = this.#study(studyId).definition.document;
    const place = questions.findIndex(({ by }) => by?.discover?.remember !== undefined);
    const answers = place < 0 ? [] : engine.releases(studyId, 0, 10_000)
      .map(({ body }) => decodeReleaseBody(body).answers[place]!.outcome)
      .filter((outcome) => outcome.kind === 'value');
    const expected = (answers.at(-1)?.groups ?? []).slice(0, keysRemembered);
    const given = known?.flatMap(({ keys }) => keys) ?? [];
    if (textOfKeys(given) !== textOfKeys(expected)) {
      throw new BrokenPromise(`a release is told to remember ${given.length} keys, and the newest `
        + `answer has ${expected.length} to remember`);
    }
    this.checks.remembered += expected.length;
  }

  /** The series of a running total goes on from one answered epoch to the next, and ends else. */
  #followSeries(study: StudyModel, { answers, epoch }: ReleaseBody): void {
    for (const { outcome } of answers ?? []) {
      if (outcome.kind !== 'value' || outcome.running === undefined) continue;
      const { position } = outcome.running;
      const before = study.series;
      const expected = before !== null && before.epoch === epoch - 1n ? before.position + 1 : 0;
      if (position !== expected) {
        throw new BrokenPromise(`epoch ${epoch} is number ${position} of its running total, and `
          + `${expected} is due`);
      }
      study.series = { epoch, position };
      this.checks.totals += Number(position > 0);
    }
  }

  /** A release was told to subscribers. */
  published(studyId: string, release: ReleaseRecord): void {
    const study = this.#study(studyId);
    const { index, epoch, body, signature } = release;
    this.note(`release ${index} of ${epoch} ${release.digest}`);
    const before = study.bytes[index];
    if (before !== undefined) {
      if (!same(before, body)) {
        throw new BrokenPromise(`release ${index} changed after it was published`);
      }
      return;
    }
    if (index !== study.bytes.length) {
      throw new BrokenPromise(`release ${index} follows ${study.bytes.length - 1}`);
    }
    if (study.releasedEpochs.has(epoch)) {
      throw new BrokenPromise(`epoch ${epoch} was released twice`);
    }
    study.releasedEpochs.add(epoch);
    study.chain.accept({ body, signature });
    study.bytes.push(body.slice());
    this.#followSeries(study, decodeReleaseBody(body));
    this.checks.releases += 1;
  }

  /** Subscribers that are told that a study has stopped wait no longer for releases. */
  stopped(studyId: string, stored: StoreReads): void {
    const left = stored.unfinishedEpochs().find((epoch) => epoch.studyId === studyId);
    if (left === undefined) return;
    throw new BrokenPromise(`a study is said to have stopped before epoch ${left.epoch} is released`);
  }

  /** What a subscriber verified must be what was published. */
  received(studyId: string, index: number, body: Uint8Array): void {
    this.note(`subscriber ${index}`);
    const before = this.#study(studyId).bytes[index];
    if (before === undefined) {
      throw new BrokenPromise(`a subscriber got release ${index} before it was published`);
    }
    if (!same(before, body)) throw new BrokenPromise(`a subscriber got another release ${index}`);
  }

  /** Releases in the log. */
  count(studyId: string): number {
    return this.#study(studyId).bytes.length;
  }

  /** A leader's transaction was committed. @param token by which it leads. */
  led(studyId: string, token: bigint, newest: bigint): void {
    this.checks.leads += 1;
    if (token !== newest) {
      throw new BrokenPromise(`a leader of ${studyId.slice(0, 8)} that was replaced wrote`);
    }
  }

  /** The summary of a slice was written under a claim, and must be under the newest one. */
  summarised(name: string, token: bigint, newest: bigint): void {
    this.note(`${name} ${token}`);
    if (token !== newest) {
      throw new BrokenPromise(`${name} took a result of claim ${token} after claim ${newest}`);
    }
  }

  /**
   * An epoch was released from the summaries of slices. @param alone what one reader of the whole
   *   journal releases with the same noise.
   */
  merged(epoch: bigint, released: EpochResult, alone: EpochResult): void {
    this.checks.merged += 1;
    if (textOfResult(released) !== textOfResult(alone)) {
      throw new BrokenPromise(`epoch ${epoch}: the release from slices is not that of one reader`);
    }
  }

  /** The state of an epoch when a row was accepted into it. */
  acceptedInto(epoch: bigint, state: string | undefined): void {
    if (state !== 'open') throw new BrokenPromise(`epoch ${epoch} took a row while it is ${state}`);
  }

  /** No scope has spent or promised more than its cap. */
  ledger(engine: StoreReads): void {
    this.checks.balances += 1;
    for (const balance of engine.balances()) {
      const { key, windowMs } = balance;
      if (windowMs !== undefined && this.clockConfirmed) continue;
      const spent = {
        rho: balance.rhoSpent, delta: balance.deltaSpent, pure: balance.pureSpent,
      };
      const reserved = {
        rho: balance.rhoReserved, delta: balance.deltaReserved, pure: balance.pureReserved,
      };
      if (!admits(capsOfBalance(balance), plusCharge(spent, reserved))) {
        throw new BrokenPromise(`the budget ${key} is overspent`);
      }
      if (windowMs !== undefined && balance.scope !== 'contributor') {
        this.#windows(engine, balance, windowMs);
      }
    }
  }

  /**
   * By the times of the charges, no half-open period of the budget's length holds more than one of
   * the sums allows.
   */
  #windows(engine: StoreReads, balance: LedgerBalance, windowMs: number): void {
    const { key } = balance;
    const charges = engine.ledgerEntries(key, 1_000).filter(({ kind }) => kind === 'charged');
    for (const { atMs: from } of charges) {
      const sum = charges.filter(({ atMs }) => atMs >= from && atMs < from + windowMs)
        .reduce<Charge>(plusCharge, noCharge);
      if (!admits(capsOfBalance(balance), sum)) {
        throw new BrokenPromise(`the budget ${key} is overspent within a window`);
      }
    }
  }

  /** The same for one contributor's own budget. */
  ownLedger(engine: StoreReads, studyId: string, contributor: string): void {
    const { budget } = this.#study(studyId).definition;
    if (budget.windowMs !== undefined && this.clockConfirmed) return;
    const { spend } = engine.contributorState(studyId, contributor);
    const caps = { rho: budget.rhoCap, delta: budget.deltaCap, pure: capOf(budget.epsilon) };
    if (spend !== null && !admits(caps, spend)) {
      throw new BrokenPromise(`the budget of contributor ${contributor.slice(0, 8)} is overspent`);
    }
  }

  /** What the disk says was published, against what was, in every study. */
  compareLogs(engine: StoreReads): void {
    for (const [studyId, study] of this.#studies) this.#compareLog(studyId, study, engine);
  }

  /** The disk may know a release that nobody was told of yet. */
  #compareLog(studyId: string, study: StudyModel, engine: StoreReads): void {
    const stored = engine.releases(studyId, 0, 10_000);
    if (stored.length < study.bytes.length) {
      throw new BrokenPromise('a release that was published is not in the log');
    }
    for (const release of stored) this.published(studyId, release);
    if (stored.length !== study.bytes.length) throw new BrokenPromise('the log has a gap');
  }

  #study(studyId: string): StudyModel {
    const study = this.#studies.get(studyId);
    if (study === undefined) throw new BrokenPromise(`there is no study ${studyId}`);
    return study;
  }
}

/** With all bits of each number. */
const textOfResult = ({ outcomes }: EpochResult): string => JSON.stringify(outcomes,
  (_key, value: unknown) => (ArrayBuffer.isView(value) ? toHex(new Uint8Array(
    value.buffer, value.byteOffset, value.byteLength)) : typeof value === 'number'
    ? toHex(new Uint8Array(Float64Array.of(value).buffer)) : value));

const textOfKeys = (keys: readonly Key[]): string =>
  keys.map((key) => JSON.stringify(key)).sort().join(' ');

const ascending = (left: bigint, right: bigint): number =>
  (left < right ? -1 : left > right ? 1 : 0);

function meanOf(batches: readonly Float64Array[]): Float64Array {
  const sum = new Float64Array(columnCount);
  let rows = 0;
  for (const values of batches) {
    for (let at = 0; at < values.length; at++) sum[at % columnCount]! += values[at]!;
    rows += values.length / columnCount;
  }
  return sum.map((total) => total / rows);
}

/** Contributors and sums by key. */
class ByKey {
  readonly #keys = new Map<number, { people: number; sum: number }>();

  add(key: number, sum: number): void {
    const found = getOrSet(this.#keys, key, () => ({ people: 0, sum: 0 }));
    found.people += 1;
    found.sum += sum;
  }

  /** Without the keys where they are discovered: only the server knows their places. */
  text(by: SeenBy): string {
    return [...this.#keys].map(([key, { people, sum }]) =>
      `${by === 'public keys' ? key : ''} ${people} ${sum}`).sort().join(', ');
  }
}

/** Whole numbers add up exactly in any order, so equal rows are equal texts. */
function textOf(values: Float64Array): string {
  return values.join(' ');
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function getOrSet<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let found = map.get(key);
  if (found === undefined) map.set(key, found = make());
  return found;
}
