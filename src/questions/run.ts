import { withColumnNames } from '../base/column-places.js';
import { Sensitive } from '../base/brands.js';
import { InvariantError } from '../base/errors.js';
import type { Outcome } from '../base/outcome.js';
import type { Key, KnownKeys } from '../base/remembered-keys.js';
import type { Compute } from '../estimators/contract/estimator.js';
import { createGroups, decodeGroups, mergeGroups, type Groups } from '../estimators/run.js';
import { StateReader, StateWriter } from '../estimators/summaries/codec.js';
import { createMechanisms, type PreparedMechanisms } from '../privacy/mechanisms/index.js';
import type { NoiseSource, WorkRandom } from '../random/source.js';
import { KeyTable, keyTableBytes } from './key-table.js';
import type { PlannedQuestion } from './plan.js';
import { RunningQuestion, type SeriesBefore } from './series.js';

/** The answer to one question, or what went wrong. */
export type QuestionResult =
  | {
    readonly kind: 'answered'; readonly outcome: Outcome;
    /** For a running total: the state for the next epoch's release, if this one is published. */
    readonly left?: Uint8Array;
  }
  /** `failure` may be about data: it is for the operator's eyes after its code is checked. */
  | { readonly kind: 'failed'; readonly failure: unknown };

/** The outcome of a question whose release failed. */
export const failedOutcome: Outcome = {
  kind: 'refused',
  reason: 'numerical-failure',
  text: 'the release of this question failed; nothing of it is published',
};

/** How far a run is; for the operator only. */
export interface RunProgress {
  readonly groups: number;
  readonly groupsReached: number;
}

/**
 * True if contributors can be summarised in several places: the summaries add up exactly, and no
 * question has a table of keys that it finds. Others need all rows in one place: pools of rows, and
 * groups whose sums depend on the order of their rows.
 */
export function addsUp(questions: readonly PlannedQuestion[]): boolean {
  return questions.every(({ plan, discovered }) => discovered === undefined
    && plan.arms.every(({ name }) => plan.summary(name).exact === true));
}

interface Running {
  readonly planned: PlannedQuestion;
  readonly groups: Groups;
  readonly mechanisms: PreparedMechanisms;
  readonly table: KeyTable | null;
  /** Contributors who had more keys than count for one. */
  cut: number;
  failure: { readonly cause: unknown } | null;
}

/**
 * The summaries of all questions of one epoch, and their releases. The same rows and the same work
 * seed give the same summaries.
 *
 * Each question has mechanisms of its own, built from its plan's events. So a question can draw
 * what was charged for it and nothing else: a draw under the name of another question's event is an
 * InvariantError. The events of all plans together are those that the study was charged for.
 *
 * An error in one question is kept: the others go on, and its release fails.
 */
export class QuestionsRun {
  /** The table of each question's discovered keys; null for other questions. */
  readonly tables: readonly (KeyTable | null)[];
  readonly #running: readonly Running[];

  /**
   * @param noise - of this run alone. Each value is used once.
   * @param work - all questions use the same seed. Their privacy does not rely on it. If it is
   *   secret, nobody can slow down the tables of discovered keys.
   */
  constructor(
    questions: readonly PlannedQuestion[], private readonly work: WorkRandom, noise: NoiseSource,
  ) {
    this.tables = questions.map(({ question, discovered }) =>
      (discovered === undefined ? null : emptyTable(work.fork(`keys of ${question.name}`))));
    this.#running = questions.map((planned, i) => ({
      planned,
      table: this.tables[i]!,
      groups: createGroups(planned.plan, planned.dimension),
      mechanisms: createMechanisms(planned.plan.events, noise),
      cut: 0,
      failure: null,
    }));
  }

  /**
   * Adds one contributor, once.
   * @param assignmentHash - 32 bytes; see `assign` in src/estimators.
   * @param rows - for each question the rows of the contributor: none, one, or one for each key.
   * @param cuts - for each question, whether the contributor had more keys than count for one.
   *   Default: for none.
   */
  add(
    assignmentHash: Uint8Array, rows: readonly (readonly Float64Array[])[],
    cuts: readonly boolean[] = [],
  ): void {
    this.#each((running, i) => {
      running.cut += Number(cuts[i] === true);
      for (const row of rows[i]!) running.groups.add(assignmentHash, row);
    });
  }

  /** Draws at most `limit` of each question's noise values that are not drawn yet. */
  prepareNoise(limit: number): void {
    this.#each(({ mechanisms }) => mechanisms.prepare(limit));
  }

  /**
   * Finishes groups early, of questions that allow it; see Groups.prepare.
   * @param rowsAtLeast - for each question; null: its groups are not finished early.
   * @returns the most that it finished of one question.
   */
  prepareGroups(limit: number, rowsAtLeast: readonly (number | null)[]): number {
    let most = 0;
    this.#each(({ groups }, i) => {
      const least = rowsAtLeast[i]!;
      if (least !== null) most = Math.max(most, groups.prepare(this.work, limit, least));
    });
    return most;
  }

  /**
   * The summaries of all questions, for `merge`: of questions for which `addsUp` holds.
   */
  encode(): Uint8Array {
    const writer = new StateWriter();
    for (const { groups, cut, failure } of this.#running) {
      writer.integer(Number(failure !== null)).integer(cut)
        .block(failure === null ? groups.encode() : new Uint8Array(0));
    }
    return writer.finish();
  }

  /**
   * Adds what another run of the same questions has encoded: its contributors are others.
   *
   * Claim: where `addsUp` holds, the summaries are bit for bit those of one run that all the
   * contributors were added to, in any order. Each sum is one of whole numbers below 2^53, which
   * doubles add exactly, so it does not depend on order or brackets. `cut` is such a sum, too.
   * @throws InvalidParameterError for bytes that `encode` did not write for the same plans.
   */
  merge(encoded: Uint8Array): void {
    const reader = new StateReader(encoded);
    for (const running of this.#running) {
      const { planned: { plan, dimension }, groups } = running;
      const hasFailed = reader.integer() !== 0;
      running.cut += reader.integer();
      const block = reader.block();
      if (hasFailed) {
        running.failure ??= { cause: new InvariantError('a slice of the rows has no summary') };
      } else {
        mergeGroups(plan, dimension, groups, decodeGroups(plan, dimension, block));
      }
    }
    reader.end();
  }

  /** The groups of all questions. */
  progress(): RunProgress {
    const all = this.#running.map(({ groups }) => groups.progress());
    const sum = (of: 'groups' | 'groupsStarted'): number =>
      all.reduce((total, own) => total + own[of], 0);
    return { groups: sum('groups'), groupsReached: sum('groupsStarted') };
  }

  /**
   * Releases all questions, one after the other. Call it once, after the charge of all their events
   * is durable. Noise that is not drawn yet is drawn before the data are read.
   * @param before - of running totals, what the release of the epoch just before left. Absent:
   *   their series begin.
   * @param known - the keys of questions that remember them: what earlier releases showed.
   * @returns one result for each question, in their order.
   */
  async release(
    compute: Compute, before?: SeriesBefore, known: readonly KnownKeys[] = [],
  ): Promise<readonly QuestionResult[]> {
    this.prepareNoise(Infinity);
    const results: QuestionResult[] = [];
    for (const running of this.#running) {
      const { name } = running.planned.question;
      const own = known.find(({ question }) => question === name)?.keys;
      results.push(await this.#release(running, compute, before, own));
    }
    return results;
  }

  async #release(
    { planned: { question, plan, keys, groupsCut }, groups, mechanisms, table, cut, failure }:
    Running,
    compute: Compute, before: SeriesBefore | undefined, known: readonly Key[] | undefined,
  ): Promise<QuestionResult> {
    if (failure !== null) return { kind: 'failed', failure: failure.cause };
    try {
      const found = table === null ? undefined : Sensitive.of(table);
      const totals = plan.running === undefined ? null
        : new RunningQuestion(plan.running, leftBefore(question.name, before));
      const { value } = await plan.release(
        groups.finish(this.work), totals?.mechanisms(mechanisms) ?? mechanisms, compute, found,
        known,
      );
      const people = groupsCut?.draw(mechanisms, cut);
      const answer = totals?.answered(value, people) ?? value;
      const outcome = people === undefined ? answer
        : groupsCut!.withCut(answer, totals?.cutPeople ?? people, plan.reach);
      return {
        kind: 'answered',
        outcome: namedOutcome(outcome, { question, ...(keys !== undefined && { keys }) }),
        ...(totals !== null && before !== undefined && {
          left: totals.sealed((plain) => before.sealing.seal(question.name, plain)),
        }),
      };
    } catch (cause) {
      return { kind: 'failed', failure: cause };
    }
  }

  #each(visit: (running: Running, place: number) => void): void {
    this.#running.forEach((running, i) => {
      if (running.failure !== null) return;
      try {
        visit(running, i);
      } catch (cause) {
        running.failure = { cause };
      }
    });
  }
}

/** The outcome with the names of the question's columns in its text, or of its public keys. */
export function namedOutcome(
  outcome: Outcome, { question, keys }: Pick<PlannedQuestion, 'question' | 'keys'>,
): Outcome {
  if (outcome.kind === 'refused') {
    return { ...outcome, text: withColumnNames(outcome.text, question.columns) };
  }
  return keys === undefined ? outcome : { ...outcome, groups: keys };
}

function leftBefore(question: string, before: SeriesBefore | undefined): Uint8Array | null {
  const found = before?.series.find((each) => each.question === question);
  return found === undefined ? null : before!.sealing.open(question, found.sealed);
}

function emptyTable(random: WorkRandom): KeyTable {
  const secret = new Uint8Array(16);
  random.fill(secret);
  return new KeyTable({ secret, bytesMax: keyTableBytes });
}
