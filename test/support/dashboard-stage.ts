import { systemClock } from '../../server/base/clock.js';
import {
  createListener, type Listener, type NetworkOptions,
} from '../../server/listener/index.js';
import { createServerMetrics } from '../../server/metrics/server-metrics.js';
import { canonicalJson } from '../../src/base/canonical-json.js';
import type { Outcome } from '../../src/base/outcome.js';
import {
  ofShortFacts, type Answer, type ReleaseFacts, type ShortFacts, type StudyDocument,
} from '../../src/wire/index.js';
import { createFakeHub, type FakeHub } from './fake-hub.js';
import { shortFacts } from './wire-samples.js';
import { without } from './without.js';

const unit = 2n ** 64n;
const sampleFacts: ShortFacts = {
  ...shortFacts, estimator: 'prime', parameters: { spread: [20, 300], corruption: 0.05 },
  budget: { epsilon: 8, delta: 1e-5, rule: 'zcdp', scope: 'study' },
};

/** A study out of the sample, in the short form or with a list of questions. */
export type StageStudy = Partial<ShortFacts>
  | (Partial<StudyDocument> & Pick<StudyDocument, 'questions'>);

function documentOf(change: StageStudy): StudyDocument {
  if (!('questions' in change)) return ofShortFacts({ ...sampleFacts, ...change });
  const sample = without(ofShortFacts(sampleFacts), 'wireForm');
  return { ...sample, version: 2, contribution: { rowsMax: 8 }, ...change };
}

/**
 * A server whose studies and releases a test scripts; its log outlives its listener, as a store
 * does.
 */
export class Stage {
  #listener: Listener | null = null;
  #port = 0;
  #network: NetworkOptions = {};
  readonly #ids = new Map<string, string>();
  /** Releases that the budget pays for. */
  affords = 40;

  private constructor(readonly hub: FakeHub) {
    for (const { name, studyId } of hub.studies()) {
      // Versions of one name are told apart by their ids.
      this.#ids.set(name, studyId).set(studyId, studyId);
    }
  }

  /** Each change makes a study of its own out of a sample; none makes a server without studies. */
  static async start(...changes: readonly StageStudy[]): Promise<Stage> {
    const stage = new Stage(await createFakeHub(changes.map(documentOf)));
    running.push(stage);
    await stage.up();
    return stage;
  }

  get address(): string {
    return this.#listener!.address;
  }

  id(name: string): string {
    return this.#ids.get(name)!;
  }

  page(name: string): string {
    return `${this.address}/#/study/${this.id(name)}`;
  }

  /** Comes (back) up on the same port. @param network from now on. */
  async up(network?: NetworkOptions): Promise<void> {
    this.#network = network ?? this.#network;
    const nothing = (): void => undefined;
    this.#listener = await createListener({
      hub: this.hub, clock: systemClock,
      logger: { debug: nothing, info: nothing, warn: nothing, error: nothing }, host: '127.0.0.1',
      port: this.#port, operatorToken: 'a-token-for-tests', metrics: createServerMetrics(),
      ...this.#network,
    });
    this.#port = this.#listener.port;
  }

  async down(): Promise<void> {
    await this.#listener?.close(false);
    this.#listener = null;
  }

  /**
   * A release of the study; its cost is a fortieth of the budget, and the next epoch opens.
   * @param outcome a list for a study with a list of questions: one for each.
   */
  publish(
    name: string, outcome: Outcome | readonly Outcome[],
    change: Partial<ReleaseFacts> = {},
  ): void {
    const view = this.hub.study(this.id(name))!;
    const number = BigInt(view.releaseCount + 1);
    const share = unit / BigInt(this.affords);
    const facts = view.document;
    this.hub.publish(view.studyId, '', {
      answers: answersTo(facts, [outcome].flat(), share), columns: facts.columns,
      cohort: BigInt(facts.cohort),
      participation: facts.participation,
      cost: { epsilon: 1, delta: 1e-6, rhoAmount: share, deltaAmount: 1n },
      ledger: {
        scope: facts.budget.scope, rule: 'zcdp', rhoSpent: number * share, rhoCap: unit,
        deltaSpent: number, deltaCap: unit,
        epsilonSpent: 8 * Math.sqrt(Number(number) / this.affords), epsilonCap: 8,
      },
      closedAtMs: 1_767_225_600_000n + number * 10_000n,
      guarantee: 'all releases of this study together lose a contributor at most epsilon 8 at '
        + 'delta 0.00001, for two data sets that differ in everything that one contributor sent, '
        + 'in any epochs, replaced by anything, including nothing',
      ...change,
    });
    const [epoch, closesAtMs] = [7n + number, Date.now() + 10_000];
    this.hub.change(view.studyId, { epoch, closesAtMs });
    this.hub.emit({ kind: 'epoch-opened', studyId: view.studyId, epoch, closesAtMs });
  }

  /** No further epoch opens. */
  stop(name: string, state: 'exhausted' | 'ended'): void {
    this.hub.change(this.id(name), { state, epoch: 0n, closesAtMs: 0 });
    this.hub.emit({ kind: 'study-stopped', studyId: this.id(name), state });
  }
}

function answersTo(
  { questions }: StudyDocument, outcomes: readonly Outcome[], rho: bigint,
): readonly Answer[] {
  return questions.map((question, i) => ({
    question: question.name, estimator: question.estimator,
    parameters: canonicalJson(question.parameters), outcome: outcomes[i]!,
    rhoAmount: i === 0 ? rho : 0n, deltaAmount: i === 0 ? 1n : 0n,
  }));
}

/** A value with its interval. */
export function valueOf(
  estimate: readonly number[], half: readonly number[], change: object = {},
): Outcome {
  return {
    kind: 'value', estimate, shape: [estimate.length],
    uncertainty: { kind: 'gaussian', standardDeviation: half.map((each) => each / 2) },
    interval95: {
      low: estimate.map((each, i) => each - half[i]!),
      high: estimate.map((each, i) => each + half[i]!),
    },
    ...change,
  };
}

/** A refusal in the words of an estimator. */
export const refusal: Outcome = {
  kind: 'refused', reason: 'participation-below-plan',
  text: 'the noisy count is below a quarter of the 3000 contributors planned for: plan for a '
    + 'smaller cohort or wait longer',
};

const running: Stage[] = [];

/** Takes down every stage that was started. */
export async function closeStages(): Promise<void> {
  for (const stage of running.splice(0)) await stage.down();
}
