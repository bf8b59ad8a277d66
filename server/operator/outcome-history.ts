import { decodeReleaseBody, type ReleaseBody } from '../../src/wire/index.js';
import { releasesThatFit } from '../../src/privacy/accounting/budget.js';
import type { RefusalReason } from '../../src/base/outcome.js';
import type { LedgerBalance } from '../store/contract.js';
import type { StudyHub, StudyView } from '../studies/contract.js';
import { refusalRemedies } from '../studies/release/refusal-remedies.js';

/** The outcome of one epoch. All of it is public. */
export interface EpochOutcome {
  readonly epoch: string;
  readonly closedAtMs: number;
  /** Questions of the epoch: how many were answered, and why the others were refused. */
  readonly answered: number;
  readonly refused: readonly { readonly question: string; readonly reason: RefusalReason }[];
}

/** A reason of refused answers, and its remedy. */
export interface ReasonCount {
  readonly reason: RefusalReason;
  readonly count: number;
  /** The text of the newest of these refusals, with its question and epoch. */
  readonly text: string;
  readonly question: string;
  readonly epoch: string;
  readonly remedy: string;
}

/** The outcomes of a study's releases, and how long its budget lasts. */
export interface StudyOutcomes {
  readonly id: string;
  /** The newest ones, oldest first. */
  readonly outcomes: readonly EpochOutcome[];
  /** Reasons for refusals among these outcomes, most frequent first. */
  readonly reasons: readonly ReasonCount[];
  /**
   * Epochs that the budget still pays for after the open one; null if each contributor has a budget
   * of its own, or an epoch costs nothing.
   */
  readonly epochsLeft: number | null;
  /** How long these last; null if that is not known. */
  readonly leftMs: number | null;
  /** The budget renews in this time; null if it does not. */
  readonly renewsMs: number | null;
}

/** Most epochs that are reported. */
const outcomesMost = 60;

interface Kept {
  count: number;
  outcomes: EpochOutcome[];
  texts: Map<RefusalReason, Pick<ReasonCount, 'text' | 'question' | 'epoch'>>;
}

/** The newest outcomes of all studies. Each release is read and decoded once. */
export class OutcomeHistory {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly hub: StudyHub) {}

  async read(): Promise<readonly StudyOutcomes[]> {
    const balances = new Map((await this.hub.balances()).map((each) => [each.key, each]));
    const studies = this.hub.studies();
    const ids = new Set(studies.map(({ studyId }) => studyId));
    for (const id of this.#kept.keys()) if (!ids.has(id)) this.#kept.delete(id);
    return Promise.all(studies.map(async (view) => {
      const { outcomes, texts } = await this.#upTo(view);
      return {
        id: view.studyId, outcomes, reasons: reasonsOf(outcomes, texts),
        ...budgetLeft(view, balances.get(view.budget)),
      };
    }));
  }

  async #upTo({ studyId, releaseCount }: StudyView): Promise<Kept> {
    const kept = this.#kept.get(studyId) ?? { count: 0, outcomes: [], texts: new Map() };
    this.#kept.set(studyId, kept);
    const from = Math.max(kept.count, releaseCount - outcomesMost);
    const records = from >= releaseCount ? []
      : await this.hub.releases(studyId, from, releaseCount - from);
    for (const record of records) {
      // Another request may have read it meanwhile.
      if (record.index < kept.count) continue;
      take(kept, decodeReleaseBody(record.body));
      kept.count = record.index + 1;
    }
    kept.outcomes.splice(0, kept.outcomes.length - outcomesMost);
    return kept;
  }
}

function take(kept: Kept, body: ReleaseBody): void {
  const epoch = String(body.epoch);
  const refused: { question: string; reason: RefusalReason }[] = [];
  let answered = 0;
  for (const { question, outcome } of body.answers) {
    if (outcome.kind === 'value') answered++;
    else {
      refused.push({ question, reason: outcome.reason });
      kept.texts.set(outcome.reason, { text: outcome.text, question, epoch });
    }
  }
  kept.outcomes.push({ epoch, closedAtMs: Number(body.closedAtMs), answered, refused });
}

function reasonsOf(outcomes: readonly EpochOutcome[], texts: Kept['texts']): ReasonCount[] {
  const counts = new Map<RefusalReason, number>();
  for (const { reason } of outcomes.flatMap(({ refused }) => refused)) {
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, two]) => two - one).map(([reason, count]) =>
    ({ reason, count, ...texts.get(reason)!, remedy: refusalRemedies[reason] }));
}

function budgetLeft(
  { document, charge }: StudyView, balance: LedgerBalance | undefined,
): Pick<StudyOutcomes, 'epochsLeft' | 'leftMs' | 'renewsMs'> {
  const renewsMs = document.budget.perMs ?? null;
  const isShared = balance !== undefined && balance.scope !== 'contributor';
  const count = isShared ? releasesThatFit(balance, charge).count : Infinity;
  if (!Number.isFinite(count)) return { epochsLeft: null, leftMs: null, renewsMs };
  const { epoch } = document;
  return {
    epochsLeft: count, leftMs: 'everyMs' in epoch ? count * epoch.everyMs : null, renewsMs,
  };
}
