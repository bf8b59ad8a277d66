import { signing } from '#signing';
import { describedOutcome, describedQuestions } from '../../../src/answers/describe.js';
import { fromHex, toHex } from '../../../src/base/bytes.js';
import { canonicalJson } from '../../../src/base/canonical-json.js';
import type { Outcome } from '../../../src/base/outcome.js';
import { amountToNumber, zeroAmount, type Amount } from '../../../src/privacy/accounting/amount.js';
import type { Charge } from '../../../src/privacy/accounting/budget.js';
import { epsilonOfApproximateZcdp } from '../../../src/privacy/accounting/conversion.js';
import { epsilonOfSpent } from '../../../src/privacy/accounting/spent.js';
import { signStatement, type Signer } from '../../../src/signing/index.js';
import { encodeHeadBody, encodeReleaseBody } from '../../../src/wire/index.js';
import type {
  Answer, LedgerPosition, ReleaseCost, WireStudyState,
} from '../../../src/wire/messages.js';
import type { StudyDocument } from '../../../src/wire/study-document.js';
import type { LedgerBalance, ReleaseRecord } from '../../store/contract.js';
import type { StudyDefinition } from '../definition.js';
import { guaranteeOf } from './guarantee.js';

export { epsilonOfSpent as epsilonOf } from '../../../src/privacy/accounting/spent.js';

/** The contents of a release besides the facts of its study. All of it is public. */
export interface ReleaseFacts {
  readonly studyId: string;
  readonly index: number;
  readonly epoch: bigint;
  /** One for each question, in their order. */
  readonly outcomes: readonly Outcome[];
  /** The charge, in the unit of the budget's rule. */
  readonly rho: Amount;
  readonly delta: Amount;
  /** The balance after the charge. */
  readonly balance: LedgerBalance;
  /** SHA-512 of the previous body, hex; zeros for the first. */
  readonly previousDigest: string;
  /** Canonical JSON of the events that were charged. */
  readonly mechanisms: string;
  /** The key that the body names. Default: that of the signer. */
  readonly serverKey?: Uint8Array;
  /** The scheduled close, so that it reveals nothing about who contributed. */
  readonly closedAtMs: number;
}

/** Encodes, signs and chains a release. @throws WireError when a number does not fit the wire. */
export function signRelease(
  definition: StudyDefinition, signer: Signer, facts: ReleaseFacts,
): ReleaseRecord {
  const { document } = definition;
  const paid = bySumThatPays(definition, facts);
  const studyId = fromHex(facts.studyId);
  const body = encodeReleaseBody({
    serverKey: facts.serverKey ?? signer.publicKey,
    studyId,
    index: BigInt(facts.index),
    epoch: facts.epoch,
    study: document.study,
    participation: document.participation,
    answers: answersPart(
      paid.definition, { ...paid.facts, outcomes: describedOutcomes(document, facts) }),
    ...(document.wireForm !== undefined && { wireForm: document.wireForm }),
    cost: costOf(paid.definition, paid.facts),
    ledger: positionOf(paid.facts.balance),
    previousDigest: fromHex(facts.previousDigest),
    mechanisms: facts.mechanisms,
    closedAtMs: BigInt(Math.round(facts.closedAtMs)),
    columns: document.columns,
    cohort: BigInt(document.cohort),
    guarantee: guaranteeOf(definition),
  });
  const digest = signing.sha512(body);
  const signature = signStatement('release', signer, studyId, digest);
  return {
    studyId: facts.studyId, index: facts.index, epoch: facts.epoch, body, signature,
    digest: toHex(digest),
  };
}

/**
 * A release states its cost, and what the budget has spent, in the unit of the sum that pays: as
 * under the rule pure, while a study draws Laplace noise and its budget has paid for no other.
 */
function bySumThatPays(
  definition: StudyDefinition, facts: ReleaseFacts,
): { readonly definition: StudyDefinition; readonly facts: ReleaseFacts } {
  const { document, charge, charges, budget } = definition;
  const { balance } = facts;
  const isPlanned = facts.rho === charge.rho && facts.delta === charge.delta;
  if (document.noise !== 'laplace' || !isPlanned || charge.pure === null
    || balance.pureSpent === null) return { definition, facts };
  const inPure = ({ pure }: Charge): Charge => ({ rho: pure!, delta: zeroAmount, pure });
  const rule = { rule: 'pure' } as const;
  return {
    definition: {
      ...definition, charge: inPure(charge), charges: charges.map(inPure),
      budget: { ...budget, rule },
    },
    facts: {
      ...facts, rho: charge.pure, delta: zeroAmount,
      balance: {
        ...balance, rule, rhoSpent: balance.pureSpent, rhoCap: balance.pureCap,
        deltaSpent: zeroAmount, deltaCap: zeroAmount,
      },
    },
  };
}

/** Signs the head of a log: the number of releases, and the digest of the last one. */
export function signHead(
  signer: Signer,
  log: {
    readonly studyId: string; readonly count: number; readonly digest: string;
    readonly state: WireStudyState;
  },
): { readonly body: Uint8Array; readonly signature: Uint8Array } {
  const studyId = fromHex(log.studyId);
  const body = encodeHeadBody({
    serverKey: signer.publicKey, studyId, count: BigInt(log.count), digest: fromHex(log.digest),
    state: log.state,
  });
  return { body, signature: signStatement('head', signer, studyId, signing.sha512(body)) };
}

/** The signed bytes state the meaning of each number, so that nobody on the way can change it. */
function describedOutcomes(
  document: StudyDocument, { outcomes }: ReleaseFacts,
): readonly Outcome[] {
  return describedQuestions(document).map((asked, i) => describedOutcome(asked, outcomes[i]!));
}

function answersPart(
  { questions, charges }: StudyDefinition, { outcomes, rho, delta }: ReleaseFacts,
): readonly Answer[] {
  const rhoAmounts = partsOfCharge(rho, charges.map((charge) => charge.rho));
  const deltaAmounts = partsOfCharge(delta, charges.map((charge) => charge.delta));
  return questions.map(({ question: { name, estimator, parameters } }, i) => ({
    question: name, estimator, parameters: canonicalJson(parameters), outcome: outcomes[i]!,
    rhoAmount: rhoAmounts[i]!, deltaAmount: deltaAmounts[i]!,
  }));
}

/**
 * Each question's part of a charge. The parts add up to it. Where an older program made the charge
 * from other plans, it is divided in proportion to today's.
 */
export function partsOfCharge(total: bigint, planned: readonly bigint[]): readonly bigint[] {
  const sum = planned.reduce((left, right) => left + right, 0n);
  if (sum === total) return planned;
  const parts = planned.map((own) => (sum === 0n ? 0n : (total * own) / sum));
  const rest = parts.reduce((left, part) => left - part, total);
  return parts.with(-1, parts.at(-1)! + rest);
}

function costOf(definition: StudyDefinition, facts: ReleaseFacts): ReleaseCost {
  const { privacy } = definition.document;
  const { rule } = definition.budget;
  return {
    epsilon: ownEpsilon(definition, facts),
    delta: rule.rule === 'pure' ? 0 : privacy.delta,
    rhoAmount: facts.rho,
    deltaAmount: facts.delta,
  };
}

/**
 * The epsilon of this release alone. A Renyi budget's order suits the whole budget, not one
 * release, for which the zCDP cost gives a smaller epsilon. The zCDP cost is used when the charged
 * costs are the plan's. Both bounds hold for every data set, so the smaller one does too.
 */
function ownEpsilon(definition: StudyDefinition, { rho, delta }: ReleaseFacts): number {
  const { cost, charge, budget, document } = definition;
  const isPlanned = rho === charge.rho && delta === charge.delta;
  const planned = isPlanned && cost.renyi === undefined;
  const atOrder = epsilonOfSpent(
    budget.rule, rho, delta, document.privacy.delta, isPlanned ? charge.pure : null);
  if (budget.rule.rule !== 'renyi' || !planned) return atOrder;
  const direct = epsilonOfApproximateZcdp(
    amountToNumber(cost.rho), amountToNumber(delta), document.privacy.delta,
  );
  return Math.min(atOrder, direct);
}

function positionOf(balance: LedgerBalance): LedgerPosition {
  return {
    scope: balance.scope,
    rule: balance.rule.rule,
    rhoSpent: balance.rhoSpent,
    rhoCap: balance.rhoCap,
    deltaSpent: balance.deltaSpent,
    deltaCap: balance.deltaCap,
    epsilonSpent: epsilonOfSpent(
      balance.rule, balance.rhoSpent, balance.deltaSpent, balance.delta, balance.pureSpent),
    epsilonCap: balance.epsilon,
    ...(balance.windowMs !== undefined && { windowMs: BigInt(balance.windowMs) }),
  };
}
