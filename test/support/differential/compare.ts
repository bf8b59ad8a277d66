import type { AdmissionResult, JournalEntry, Store } from '../../../server/store/contract.js';
import { KeelsonError } from '../../../src/base/errors.js';
import type { HandClock } from '../../listener/hand-clock.js';
import { contributorCount, sequenceOf, type Action, type Sequence } from './actions.js';
import { Arguments, epochNamed } from './stage.js';

/** Two stores by one clock. */
export interface Pair {
  readonly clock: HandClock;
  readonly stores: readonly [Store, Store];
  /** Closes both and opens them again, as a restart does. */
  reopen(): Promise<void>;
}

/** Where two stores first gave different answers to one call. */
export interface Difference {
  readonly seed: number;
  /** The calls up to the one with different answers. */
  readonly actions: readonly Action[];
  readonly answers: readonly [string, string];
}

type Call = (store: Store) => Promise<unknown>;

/** Runs sequences of calls on two stores at once. */
export class Comparison {
  #runs = 0;

  constructor(private readonly pair: Pair) {}

  /** @returns the first difference; null when there is none. */
  compare(seed: number): Promise<Difference | null> {
    return this.#run(sequenceOf(seed));
  }

  /** By fewer calls: leaves out each call and batch that a difference does without. */
  async shortened(found: Difference): Promise<Difference> {
    const sequence = sequenceOf(found.seed);
    let least = found;
    const attempt = async (actions: readonly Action[]): Promise<void> => {
      least = await this.#run({ ...sequence, actions }) ?? least;
    };
    for (let at = found.actions.length - 1; at >= 0; at--) {
      await attempt(least.actions.filter((_, i) => i !== at));
    }
    for (const [at, action] of [...least.actions.entries()]) {
      for (let left = action.kind === 'admit' ? action.batches.length - 1 : -1; left >= 0; left--) {
        const { batches } = least.actions[at] as Action & { kind: 'admit' };
        const fewer = { ...action, batches: batches.filter((_, i) => i !== left) } as Action;
        await attempt(least.actions.map((other, i) => (i === at ? fewer : other)));
      }
    }
    return least;
  }

  async #run(sequence: Sequence): Promise<Difference | null> {
    this.#runs += 1;
    const input = new Arguments(sequence, this.#runs);
    for (const study of input.studies) {
      await this.#answers((store) =>
        store.registerStudy(input.registration(study, this.pair.clock.nowMs())));
    }
    for (const [at, action] of sequence.actions.entries()) {
      for (const call of await this.#callsOf(input, action)) {
        const [one, two] = await this.#answers(call);
        if (one.compared !== two.compared) {
          const answers = [one.shown, two.shown] as const;
          return { seed: sequence.seed, actions: sequence.actions.slice(0, at + 1), answers };
        }
      }
    }
    return null;
  }

  async #answers(call: Call): Promise<[Answer, Answer]> {
    const [one, two] = this.pair.stores;
    return Promise.all([answerOf(call, one), answerOf(call, two)]);
  }

  /** What an action is for both stores. Which epoch it names follows from the first one. */
  async #callsOf(input: Arguments, action: Action): Promise<readonly Call[]> {
    const { clock, stores: [reference] } = this.pair;
    const nowMs = clock.nowMs();
    switch (action.kind) {
      case 'advance':
        clock.advance(action.ms);
        return [];
      case 'reopen':
        await this.pair.reopen();
        return this.#leads(input);
      case 'look':
        return looks(input, await newestOf(reference, input), input.seed % 5 === 0);
      case 'repair':
        return [(store) => store.repairTimes!(nowMs, action.confirmed)];
      case 'admit': {
        const newest = await newestOf(reference, input);
        const batches = action.batches.map((facts) =>
          input.batch(newest.get(facts.study)!, facts));
        return [async (store) => (await store.admit(batches)).map(verdictOf)];
      }
      default:
        return this.#callsOfStudy(input, action, nowMs);
    }
  }

  /**
   * The least that a leader of each study can do: the state stays as it is. SQLite purges lapsed
   * epochs when it opens, and a node on PostgreSQL when it begins to lead their study.
   */
  async #leads(input: Arguments): Promise<readonly Call[]> {
    return Promise.all(input.studies.map(async (study) => {
      const studyId = input.studyId(study);
      const record = await this.pair.stores[0].study(studyId);
      return (store: Store) => store.setStudyState(studyId, record!.state);
    }));
  }

  async #callsOfStudy(
    input: Arguments, action: Extract<Action, { study: number }>, nowMs: number,
  ): Promise<readonly Call[]> {
    const { stores: [reference] } = this.pair;
    const studyId = input.studyId(action.study);
    const record = await reference.study(studyId);
    const newest = record?.lastEpoch ?? 0n;
    const named = 'epoch' in action && action.kind !== 'withdraw'
      ? await epochNamed(reference, studyId, action.kind, action.epoch) : newest;
    switch (action.kind) {
      case 'open':
        return [(store) =>
          store.openEpoch(input.epoch(action.study, newest, nowMs, action.next))];
      case 'turn': {
        const closing = await epochNamed(reference, studyId, action.kind, action.closing);
        const next = input.epoch(action.study, newest, nowMs, action.next);
        return [(store) => store.turnEpoch(studyId, closing, next)];
      }
      case 'close': return [(store) => store.beginClose(studyId, named)];
      case 'charge': return [(store) => store.chargeEpoch(studyId, named, action.events, nowMs)];
      case 'lapse': return [(store) => store.lapseEpoch(studyId, named, nowMs)];
      case 'purge': return [(store) => store.purgeEpoch(studyId, named)];
      case 'recover': return [(store) => store.noteRecovery(studyId, named)];
      case 'recovered': return [(store) => store.noteRecovered!(studyId, named)];
      case 'release': {
        const release = input.release(named, record?.releaseCount ?? 0, nowMs, action);
        return [(store) => store.storeRelease(release)];
      }
      case 'withdraw': {
        const epoch = newest + BigInt(action.epoch);
        const withdrawal = {
          studyId, contributor: input.contributor(action.contributor),
          epoch: epoch < 0n ? 0n : epoch, signature: new Uint8Array(64), nowMs,
        };
        return [(store) => store.withdraw(withdrawal)];
      }
      case 'quarantine':
        return [(store) => store.quarantine!(input.quarantines(newest, nowMs, action))];
      case 'state': return [(store) => store.setStudyState(studyId, action.to)];
      case 'register':
        return [(store) =>
          store.registerStudy(input.registration(action.study, nowMs, action.change))];
    }
  }
}

async function newestOf(store: Store, input: Arguments): Promise<ReadonlyMap<number, bigint>> {
  const newest = new Map<number, bigint>();
  for (const study of input.studies) {
    newest.set(study, (await store.study(input.studyId(study)))?.lastEpoch ?? 0n);
  }
  return newest;
}

/**
 * Everything that the stores tell of the studies of a sequence.
 * @param beyond whether to also make calls that take long or tell little.
 */
function looks(
  input: Arguments, newest: ReadonlyMap<number, bigint>, beyond: boolean,
): readonly Call[] {
  const calls: Call[] = [
    (store) => store.balance(input.budgetKey),
    (store) => store.ledgerEntries(input.budgetKey, 200),
  ];
  if (beyond) {
    calls.push((store) => store.newestTime!(),
      async (store) => (await store.unfinishedEpochs()).filter(({ studyId }) =>
        input.studies.some((study) => input.studyId(study) === studyId)));
  }
  for (const study of input.studies) {
    const studyId = input.studyId(study);
    calls.push(
      (store) => store.study(studyId), (store) => store.unpurgedEpochs(studyId),
      (store) => store.releases(studyId, 0, 100), (store) => store.series!(studyId),
      (store) => store.quarantines!(studyId, 100),
    );
    for (let contributor = 0; contributor < contributorCount; contributor++) {
      const key = input.contributor(contributor);
      calls.push((store) => store.contributorState(studyId, key));
      if (beyond) calls.push((store) => store.quarantineOf!(studyId, key));
    }
    const last = newest.get(study)!;
    for (let epoch = beyond || last < 2n ? 0n : last - 2n; epoch <= last + 1n; epoch++) {
      calls.push(
        (store) => store.epoch(studyId, epoch),
        (store) => store.contributorCount(studyId, epoch),
        (store) => store.leftOutCount(studyId, epoch),
        (store) => store.peopleCount(studyId, epoch),
        async (store) => journalOf(await store.journal(studyId, epoch, 0n, 10_000)),
      );
    }
  }
  return calls;
}

/** Positions are the store's own. They only must be there, and in the order of each contributor. */
const verdictOf = ({ position, ...verdict }: AdmissionResult) =>
  ({ ...verdict, hasPosition: position > 0n });

function journalOf(entries: readonly JournalEntry[]): unknown {
  const positions = new Set(entries.map(({ position }) => position));
  const byContributor = new Map<string, unknown[]>();
  for (const entry of entries) {
    const others = byContributor.get(entry.contributor) ?? [];
    byContributor.set(entry.contributor, [...others, { ...entry, position: 0n }]);
  }
  const rows = [...byContributor].sort(([left], [right]) => (left < right ? -1 : 1));
  return { rows, haveOwnPositions: positions.size === entries.length };
}

interface Answer {
  readonly compared: string;
  readonly shown: string;
}

/** Errors are compared by their code: a store may say more than the other. */
async function answerOf(call: Call, store: Store): Promise<Answer> {
  try {
    const text = JSON.stringify(await call(store), plain) ?? 'undefined';
    return { compared: text, shown: text };
  } catch (error) {
    const code = error instanceof KeelsonError ? error.code : 'none: a defect';
    return { compared: `error ${code}`, shown: `error ${code}: ${String(error)}` };
  }
}

function plain(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
}

/** A difference in words, with what is needed to see it again. */
export function differenceText({ seed, actions, answers }: Difference): string {
  const calls = actions.map((action) => `  ${JSON.stringify(action, plain)}`).join('\n');
  return `sequence ${seed} has different answers after\n${calls}\n`
    + `first store:  ${answers[0]}\nsecond store: ${answers[1]}`;
}
