import { budgetRuleNames } from '../base/budget-rules.js';
import { questionLimits } from '../base/questions.js';
import { digestBytes, keyBytes, oneOf, ownSized, present, sized, studyIdBytes } from './fields.js';
import { toBigint, toLong } from './long-bits.js';
import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/other-writer.js';
import {
  ofShortAnswer, type Answer, type LedgerPosition, type ReleaseBody, type ReleaseCost,
} from './messages.js';
import { Places } from './numbers-body.js';
import { outcomeFromWire, outcomeToWire } from './outcome-body.js';
import { malformed, readStrictly } from './reader.js';
import { written } from './writer.js';

/** Most bytes of a release with a list of answers: 4 MiB of answers, and its facts. */
const bytesMax = 5 * 1024 * 1024;

/**
 * The bytes that the server signs as a release.
 * @throws WireError('malformed') for a body that no reader would accept.
 */
export function encodeReleaseBody(body: ReleaseBody): Uint8Array {
  const texts = new Places(body.columns);
  const bytes = written(sent.v1.ReleaseBody.encode({
    serverKey: sized(body.serverKey, keyBytes, 'server key'),
    studyId: sized(body.studyId, studyIdBytes, 'study id'),
    index: toLong(body.index, 'index'),
    epoch: toLong(body.epoch, 'epoch'),
    study: body.study,
    ...answersToWire(body, texts),
    participation: body.participation,
    cost: {
      epsilon: body.cost.epsilon,
      delta: body.cost.delta,
      rhoAmount: amountToWire(body.cost.rhoAmount),
      deltaAmount: amountToWire(body.cost.deltaAmount),
    },
    ledger: ledgerToWire(body.ledger),
    previousDigest: sized(body.previousDigest, digestBytes, 'previous digest'),
    mechanisms: body.mechanisms,
    closedAtMs: toLong(body.closedAtMs, 'closed at'),
    columns: [...body.columns],
    cohort: toLong(checkedCohort(body.cohort), 'cohort'),
    guarantee: body.guarantee ?? '',
    texts: texts.all.slice(body.columns.length),
  }));
  if (body.wireForm === undefined) checkSize(bytes);
  return bytes;
}

/** @throws WireError('malformed') for any other bytes; never anything else. */
export function decodeReleaseBody(bytes: Uint8Array): ReleaseBody {
  return readStrictly(bytes, 'release body', (reader) => {
    const body = read.v1.ReleaseBody.decode(reader);
    if (body.answers.length > 0) checkSize(bytes);
    const facts = {
      serverKey: ownSized(body.serverKey, keyBytes, 'server key'),
      studyId: ownSized(body.studyId, studyIdBytes, 'study id'),
      index: toBigint(body.index),
      epoch: toBigint(body.epoch),
      study: body.study,
      participation: oneOf(body.participation, ['secret', 'public'], 'participation'),
      cost: costFromWire(present(body.cost, 'cost') as read.v1.Cost),
      ledger: ledgerFromWire(present(body.ledger, 'ledger') as read.v1.LedgerPosition),
      previousDigest: ownSized(body.previousDigest, digestBytes, 'previous digest'),
      mechanisms: body.mechanisms,
      closedAtMs: toBigint(body.closedAtMs),
      columns: body.columns,
      cohort: checkedCohort(toBigint(body.cohort)),
      ...(body.guarantee !== '' && { guarantee: body.guarantee }),
    };
    const { estimator, parameters, columns } = body;
    const texts = [...columns, ...body.texts];
    if (body.answers.length > 0) return { ...facts, answers: answersFromWire(body, texts) };
    const outcome = outcomeFromWire(present(body.outcome, 'outcome'), texts, columns.length);
    return ofShortAnswer({ ...facts, estimator, parameters, outcome });
  });
}

function checkSize(bytes: Uint8Array): void {
  if (bytes.length > bytesMax) {
    throw malformed(`the release has ${bytes.length} bytes, more than ${bytesMax}`);
  }
}

type WireOutcome = read.v1.Outcome & read.v1.Outcome.$Shape;
type WireAnswers = Pick<
  sent.v1.ReleaseBody.$Properties, 'estimator' | 'parameters' | 'outcome' | 'answers'
>;

function answersToWire(body: ReleaseBody, texts: Places<string>): WireAnswers {
  if (body.wireForm === 'short') {
    const { estimator, parameters, outcome } = body.answers[0]!;
    return { estimator, parameters, outcome: outcomeToWire(outcome, texts, body.columns.length) };
  }
  checkAnswers(body.answers);
  return {
    answers: body.answers.map((answer) => ({
      question: answer.question,
      estimator: answer.estimator,
      parameters: answer.parameters,
      outcome: outcomeToWire(answer.outcome, texts),
      rhoAmount: amountToWire(answer.rhoAmount),
      deltaAmount: amountToWire(answer.deltaAmount),
    })),
  };
}

/** A list of answers, beside which the release states no other. */
function answersFromWire(
  body: read.v1.ReleaseBody & read.v1.ReleaseBody.$Shape, texts: readonly string[],
): readonly Answer[] {
  const { estimator, parameters, outcome } = body;
  if (estimator !== '' || parameters !== '' || (outcome ?? null) !== null) {
    throw malformed('a release with a list of answers has another answer beside it');
  }
  const answers = body.answers.map((answer): Answer => ({
    question: answer.question ?? '',
    estimator: answer.estimator ?? '',
    parameters: answer.parameters ?? '',
    outcome: outcomeFromWire(present(answer.outcome, 'outcome') as WireOutcome, texts),
    rhoAmount: amountFromWire(answer.rhoAmount ?? ''),
    deltaAmount: amountFromWire(answer.deltaAmount ?? ''),
  }));
  checkAnswers(answers);
  return answers;
}

/** The bounds that the answers of a release share. `src/log` compares them with the facts. */
function checkAnswers(answers: readonly Answer[]): void {
  if (answers.length < 1 || answers.length > questionLimits.questions) {
    throw malformed(
      `a release has ${answers.length} answers, not 1 to ${questionLimits.questions}`,
    );
  }
  const keys = answers.reduce((sum, { outcome }) =>
    sum + (outcome.kind === 'value' ? outcome.groups?.length ?? 0 : 0), 0);
  if (keys > questionLimits.keys) {
    throw malformed(`a release has ${keys} groups, more than ${questionLimits.keys}`);
  }
}

/** A study has contributors. In a body that ends early, the number would be 0. */
function checkedCohort(cohort: bigint): bigint {
  if (cohort === 0n) throw malformed('the cohort is missing');
  return cohort;
}

function costFromWire(cost: read.v1.Cost): ReleaseCost {
  return {
    epsilon: cost.epsilon,
    delta: cost.delta,
    rhoAmount: amountFromWire(cost.rhoAmount),
    deltaAmount: amountFromWire(cost.deltaAmount),
  };
}

function ledgerToWire(ledger: LedgerPosition): sent.v1.LedgerPosition.$Properties {
  return {
    scope: ledger.scope,
    rule: ledger.rule,
    rhoSpent: amountToWire(ledger.rhoSpent),
    rhoCap: amountToWire(ledger.rhoCap),
    deltaSpent: amountToWire(ledger.deltaSpent),
    deltaCap: amountToWire(ledger.deltaCap),
    epsilonSpent: ledger.epsilonSpent,
    epsilonCap: ledger.epsilonCap,
    windowMs: toLong(ledger.windowMs ?? 0n, 'window'),
  };
}

function ledgerFromWire(ledger: read.v1.LedgerPosition): LedgerPosition {
  const windowMs = toBigint(ledger.windowMs);
  return {
    scope: oneOf(ledger.scope, ['study', 'contributor', 'population'], 'budget scope'),
    rule: oneOf(ledger.rule, budgetRuleNames, 'budget rule'),
    rhoSpent: amountFromWire(ledger.rhoSpent),
    rhoCap: amountFromWire(ledger.rhoCap),
    deltaSpent: amountFromWire(ledger.deltaSpent),
    deltaCap: amountFromWire(ledger.deltaCap),
    epsilonSpent: ledger.epsilonSpent,
    epsilonCap: ledger.epsilonCap,
    ...(windowMs > 0n && { windowMs }),
  };
}

/**
 * 2^128 units of 2^-64 are 2^64, far above any budget. The pattern also bounds the work of parsing.
 */
const amountPattern = /^(0|[1-9][0-9]{0,38})$/;

function amountToWire(amount: bigint): string {
  const text = amount.toString();
  if (!amountPattern.test(text)) {
    throw malformed('an amount is negative or has more than 39 digits');
  }
  return text;
}

function amountFromWire(text: string): bigint {
  if (!amountPattern.test(text)) {
    throw malformed('an amount is not a decimal integer of at most 39 digits');
  }
  return BigInt(text);
}
