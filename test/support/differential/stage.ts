import { createHash } from 'node:crypto';
import type {
  AdmissionRequest, BudgetSpec, EpochState, OpenEpoch, Store, StoreRelease, StudyRegistration,
} from '../../../server/store/contract.js';
import type { NewQuarantine } from '../../../server/store/records.js';
import type { BudgetRule } from '../../../src/privacy/accounting/cost.js';
import { amount, batch, idOf } from '../store-fixtures.js';
import type {
  Action, BatchFacts, EpochFacts, NamedEpoch, Sequence, StudySetup,
} from './actions.js';

const rules: Readonly<Record<StudySetup['rule'], BudgetRule>> = {
  zcdp: { rule: 'zcdp' }, pure: { rule: 'pure' }, renyi: { rule: 'renyi', order: 8 },
};

/** Which states an action is for. */
const fitting: Readonly<Record<string, readonly EpochState[]>> = {
  close: ['open'], turn: ['open'], charge: ['closing'], release: ['charged'],
  lapse: ['open', 'closing'], purge: ['released', 'lapsed'],
  recover: ['open', 'closing', 'charged'], recovered: ['open', 'closing', 'charged'],
};

/** What both stores are called with. */
export class Arguments {
  readonly name: string;

  /** @param run tells runs of one sequence on the same stores apart. */
  constructor(private readonly sequence: Sequence, run: number) {
    this.name = `sequence ${sequence.seed} run ${run}`;
  }

  get seed(): number {
    return this.sequence.seed;
  }

  get studies(): readonly number[] {
    return this.sequence.studies.map((_, study) => study);
  }

  studyId(study: number): string {
    return idOf(`${this.name} ${study}`);
  }

  contributor(contributor: number): string {
    return idOf(`${this.name} c${contributor}`);
  }

  get budgetKey(): string {
    return `${this.sequence.studies[0]!.scope === 'population' ? 'population' : 'study'}:`
      + this.name;
  }

  registration(
    study: number, nowMs: number, change: (Action & { kind: 'register' })['change'] = 'same',
  ): StudyRegistration {
    const { scope, rule, cap, windowMs, rate, separation } = this.sequence.studies[study]!;
    const factor = change === 'smaller' ? 0.6 : change === 'larger' ? 1.5 : 1;
    const otherScope = scope === 'contributor' ? 'study' : 'contributor';
    const otherWindow = windowMs === null ? 9_000 : undefined;
    const keptWindow = windowMs ?? undefined;
    const length = change === 'window' ? otherWindow : keptWindow;
    const budget: BudgetSpec = {
      key: this.budgetKey, scope: change === 'scope' ? otherScope : scope, rule: rules[rule],
      rhoCap: amount(Math.floor(cap * factor)), deltaCap: amount(Math.floor(cap * factor)),
      // Often the pure sum pays for more than rho does.
      epsilon: Math.floor(2 * cap * factor) / 2 ** 64, delta: 1e-6,
      ...(length !== undefined && { windowMs: length }),
    };
    const document = JSON.stringify({
      study: this.name, version: study, participation: rate === null ? 'secret' : 'public',
      ...(rate !== null && { admission: { kind: 'rate', ...rate } }),
      ...(separation !== null && { running: { separation } }),
    });
    return { studyId: this.studyId(study), name: this.name, document, budget, nowMs };
  }

  batch(newest: bigint, facts: BatchFacts & { study: number }): AdmissionRequest {
    const { sequence, rows, last, isEncrypted, rejectAs } = facts;
    const { peopleMax } = this.sequence.studies[facts.study]!;
    const contributor = this.contributor(facts.contributor);
    return batch('', sequence, atLeastZero(newest + BigInt(facts.epoch)), {
      studyId: this.studyId(facts.study), contributor, rows, last,
      content: `${contributor} ${sequence} ${facts.content}`, peopleMax,
      ...(isEncrypted && { signature: new Uint8Array(0) }),
      ...(rejectAs !== null && { rejectAs }),
    });
  }

  epoch(study: number, newest: bigint, nowMs: number, facts: EpochFacts): OpenEpoch {
    const key = createHash('sha256').update(`${this.name} ${newest}`).digest();
    return {
      studyId: this.studyId(study), epoch: atLeastZero(newest + BigInt(facts.epoch)),
      opensAtMs: nowMs, closesAtMs: facts.openMs === 0 ? 0 : nowMs + facts.openMs,
      rho: amount(facts.rho), delta: amount(facts.delta),
      pure: facts.pure === null ? null : amount(facts.pure), assignmentKey: new Uint8Array(key),
      workSeed: new Uint8Array(key).reverse(), rowsMax: facts.rowsMax, late: facts.late,
    };
  }

  release(
    epoch: bigint, index: number, nowMs: number, action: Action & { kind: 'release' },
  ): StoreRelease {
    const body = Buffer.from(`release ${epoch} ${action.content}`);
    return {
      studyId: this.studyId(action.study), index: index + action.offset, epoch,
      body: new Uint8Array(body), signature: new Uint8Array(64).fill(1 + action.content),
      digest: createHash('sha512').update(body).digest('hex'), nowMs,
      ...(action.series && { series: [
        { question: 'one', sealed: new Uint8Array(body) },
        { question: 'two', sealed: new Uint8Array([7]) },
      ] }),
    };
  }

  quarantines(
    newest: bigint, nowMs: number, action: Action & { kind: 'quarantine' },
  ): NewQuarantine[] {
    return action.contributors.map((contributor) => ({
      studyId: this.studyId(action.study), contributor: this.contributor(contributor),
      distance: 9.5 + contributor, beyond: 3, releaseIndex: 0, atMs: nowMs,
      ...(action.from !== null && { fromEpoch: newest + BigInt(action.from) }),
    }));
  }
}

const atLeastZero = (epoch: bigint): bigint => (epoch < 0n ? 0n : epoch);

/** The epoch that an action names, by what `store` has. */
export async function epochNamed(
  store: Store, studyId: string, kind: Action['kind'], named: NamedEpoch,
): Promise<bigint> {
  const newest = (await store.study(studyId))?.lastEpoch ?? 0n;
  if (named !== 'fitting') return atLeastZero(newest + BigInt(named));
  for (let epoch = atLeastZero(newest - 6n); epoch <= newest; epoch++) {
    const record = await store.epoch(studyId, epoch);
    if (record !== null && fitting[kind]!.includes(record.state)) return epoch;
  }
  return newest;
}
