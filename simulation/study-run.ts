import type { ErrorCode } from '../src/base/error-codes.js';
import type { KeelsonError } from '../src/base/errors.js';
import type { WorkRandom } from '../src/random/source.js';
import type { StudyDocument } from '../src/wire/study-document.js';
import type { ClientRuntime } from '../client/base/runtime.js';
import type { Channel } from '../client/session/channel.js';
import type { Contribution } from '../client/session/contribution.js';
import type { AbuseGroup } from './abuser.js';
import type { AttackContext, RowAttack } from './attacks/index.js';
import { fittedRows, inventedTexts, madeUpTexts, namesOf } from './data/synthetic.js';
import type { FleetOptions } from './fleet-options.js';
import { hostilityOf, type Hostility } from './hostility.js';
import { Pacer } from './pacer.js';
import type { Counters } from './statistics.js';
import { reduceRows, TruthSums, type Truth } from './truth.js';
import { encodeUnchecked } from './attacks/unchecked-rows.js';

const truthsKept = 64n;
/** Time over which contributions are spread in epochs that close on a count. */
const countPaceMs = 500;
/** Number of contributors from whose rows attackers learn centre and spread of honest rows. */
const centreSample = 256;

export interface StudyRunOptions {
  readonly study: string;
  readonly fleet: FleetOptions;
  readonly runtime: ClientRuntime;
  readonly random: WorkRandom;
  readonly counters: Counters;
  readonly onSettled: () => void;
}

/**
 * One study's part of a fleet: the times of its contributors' actions, their rows, and the results.
 */
export class StudyRun {
  /** By contributor; undefined for contributors that an abuse group plays. */
  readonly channels: (Channel | undefined)[] = [];
  /** Channels that have not ended. */
  live = 0;
  readonly abusers: { readonly group: AbuseGroup; readonly index: number }[] = [];
  private readonly pacer: Pacer;
  private readonly truths = new Map<bigint, TruthSums>();
  private epoch = 0n;
  private document: StudyDocument | null = null;
  private honest: HonestRows | null = null;
  /** The texts that the numbers of honest contributors are indexes into. */
  private readonly honestTexts: readonly string[];
  /** Those, followed by the texts that attackers invent. */
  private texts: readonly string[];
  private hostility: Hostility | null = null;
  /** Contributors whose own budget is used up. They send nothing any more. */
  private readonly spent = new Set<number>();
  /**
   * By contributor: an epoch to which it may have contributed already. It leaves this epoch out.
   */
  private readonly countedIn = new Map<number, bigint>();
  underWay = 0;
  isEnded = false;

  constructor(private readonly options: StudyRunOptions) {
    this.pacer = new Pacer(options.runtime, (index) => this.contribute(index));
    this.honestTexts = options.fleet.texts?.(options.study) ?? madeUpTexts;
    this.texts = this.honestTexts;
  }

  truth(epoch: bigint): Truth | null {
    return this.truths.get(epoch)?.truth ?? null;
  }

  /** Called when a channel learns of an epoch. @returns true for the first channel that does. */
  hear(document: StudyDocument, epoch: bigint, closesInMs: number | null): boolean {
    if (this.isEnded || epoch <= this.epoch) return false;
    if (this.document === null) {
      const known = new Set(this.honestTexts);
      const invented = inventedTexts(document).filter((text) => !known.has(text));
      this.texts = [...this.honestTexts, ...invented];
    }
    this.document = document;
    this.epoch = epoch;
    const { fleet, counters, random } = this.options;
    this.hostility = hostilityOf(fleet, this.options.study, epoch, this.hostility);
    const windowMs = this.windowMs(document, closesInMs);
    counters.missed +=
      this.pacer.start(fleet.contributors, windowMs, random.fork(`order ${epoch}`));
    for (const old of this.truths.keys()) if (old + truthsKept <= epoch) this.truths.delete(old);
    return true;
  }

  /** Notes that this contributor's key was used before, perhaps in the open epoch. */
  usedBefore(index: number, epoch: bigint): void {
    this.countedIn.set(index, epoch);
  }

  stop(): void {
    this.isEnded = true;
    this.pacer.stop();
  }

  private windowMs(document: StudyDocument, closesInMs: number | null): number {
    const { paceMs, paceShare = 0.8 } = this.options.fleet;
    if (paceMs !== undefined) return paceMs;
    if (!('everyMs' in document.epoch)) return countPaceMs;
    // The elapsed part of this epoch is unknown, so contributions come early.
    return paceShare * (closesInMs ?? document.epoch.everyMs / 4);
  }

  private contribute(index: number): boolean {
    const abuser = this.abusers[index];
    const { rows: source } = this.options.fleet;
    if (abuser !== undefined) {
      const acted =
        abuser.group.act(abuser.index, this.epoch, source(index, this.epoch, this.options.study));
      if (acted) this.options.counters.abuses += 1;
      return acted;
    }
    if (index < this.hostility!.hostile && this.hostility!.attack === 'absent') return true;
    const channel = this.channels[index]!;
    if (channel.isEnded || this.spent.has(index)) return true;
    // A contributor that is not connected, does not know the epoch yet or is still busy tries again
    // later in the epoch.
    if (channel.number === 0 || channel.epoch !== this.epoch || !channel.isIdle) return false;
    if (this.countedIn.get(index) === this.epoch) return true;
    this.submit(channel, index, this.rowsOf(index));
    return true;
  }

  private rowsOf(index: number): Float64Array {
    const { fleet, study } = this.options;
    const rows = fleet.rows(index, this.epoch, study);
    const attack = this.attackOf(index);
    if (attack === null) return rows;
    const attacked = attack.apply(rows, this.attackContext(index, attack));
    // A hostile client sends rows that the server accepts. Other attacks send frames that it must
    // refuse.
    return attack.unchecked === true ? attacked
      : fittedRows(attacked, this.document!, this.texts);
  }

  /** The attack of this contributor on its numbers in this epoch; null for an honest one. */
  private attackOf(index: number): RowAttack | null {
    const { attack, hostile } = this.hostility!;
    return index >= hostile || attack === 'absent' ? null : attack;
  }

  private submit(channel: Channel, index: number, values: Float64Array): void {
    const { counters, runtime, fleet, study } = this.options;
    const { length: columns } = this.document!.columns;
    const { reduce } = this.document!.questions[0]!;
    const isHostile = index < this.hostility!.hostile;
    const reduced = values.length % columns === 0
      ? reduceRows(values, columns, reduce) : new Float64Array(columns);
    const startedMs = runtime.nowMs();
    const done = (): void => {
      this.underWay -= 1;
      this.options.onSettled();
    };
    const refuse = (code: ErrorCode): void => counters.count(counters.refused, code);
    counters.sent += 1;
    this.underWay += 1;
    const contribution: Contribution = {
      id: 0,
      last: true,
      values,
      texts: this.texts,
      batches: [],
      refusal: null,
      ...(this.attackOf(index)?.unchecked === true && { encode: encodeUnchecked }),
      finish: (result) => {
        counters.measure(runtime.nowMs() - startedMs);
        if (result.kind === 'accepted') {
          counters.accepted += 1;
          this.sums(result.epoch, columns).add(reduced, isHostile);
          fleet.onAccepted?.(study, result.epoch, reduced, isHostile, values);
          // Late rows may have counted in the epoch that was open at the answer.
          const isLate = this.document!.late === 'next' && result.openEpoch > result.epoch;
          if (isLate) this.countedIn.set(index, result.openEpoch);
        } else {
          refuse(result.error.code);
          if (result.error.code === 'contributor-budget-exhausted') this.spent.add(index);
        }
        done();
      },
      fail: (error) => {
        refuse(error.code);
        done();
      },
    };
    channel.submit(contribution);
  }

  private sums(epoch: bigint, columns: number): TruthSums {
    const found = this.truths.get(epoch) ?? new TruthSums(columns);
    this.truths.set(epoch, found);
    return found;
  }

  private attackContext(index: number, attack: RowAttack): AttackContext {
    const { random, fleet } = this.options;
    const document = this.document!;
    this.honest ??= this.sampleHonest(document.columns.length);
    const { centre, spread } = this.honest;
    return {
      columns: document.columns.length,
      spread: fleet.spread?.[document.study] ?? statedSpread(document) ?? spread,
      centre,
      ...(document.types !== undefined && {
        names: document.types.map((type) => namesOf(type, this.honestTexts)?.length ?? null),
        invented: document.types.map(({ type }) =>
          (type === 'text' ? this.texts.length - this.honestTexts.length : 0)),
      }),
      rowsMax: document.contribution.rowsMax,
      strength: this.hostility!.strength ?? attack.defaultStrength,
      age: this.hostility!.age,
      shared: random.fork('agreed'),
      own: random.fork(`own ${index} ${this.epoch}`),
    };
  }

  private sampleHonest(columns: number): HonestRows {
    const { fleet, study } = this.options;
    const count = Math.min(centreSample, fleet.contributors);
    const sums = new TruthSums(columns);
    const squares = new TruthSums(columns);
    for (let i = 0; i < count; i++) {
      // Attacks act on rows, so the honest centre is that of rows, also where rows are added up.
      const row = reduceRows(fleet.rows(i, this.epoch, study), columns, 'mean');
      sums.add(row, false);
      squares.add(row.map((value) => value * value), false);
    }
    const centre = [...sums.truth.honestMean];
    const variances = [...squares.truth.honestMean].map((square, j) => square - centre[j]! ** 2);
    // A column without a measurable variance moves in its own units.
    const spread = variances.map((variance) => (variance > 0 ? Math.sqrt(variance) : 1));
    return { centre, spread };
  }
}

/** Location of honest contributors' rows: one number per column. */
interface HonestRows {
  readonly centre: readonly number[];
  /** Standard deviations. */
  readonly spread: readonly number[];
}

/** The study's public `spread`, one per column; null if it states none. */
function statedSpread(document: StudyDocument): readonly number[] | null {
  const { spread } = document.questions[0]!.parameters;
  const { length } = document.columns;
  if (typeof spread === 'number') return Array<number>(length).fill(spread);
  return Array.isArray(spread) && spread.length === length ? (spread as readonly number[]) : null;
}

/** True if an error ends a whole study, not only one contributor. */
export function endsStudy(error: KeelsonError): boolean {
  return error.code === 'study-ended' || error.code === 'budget-exhausted'
    || error.code === 'unknown-study';
}
