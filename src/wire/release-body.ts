import { valueFault } from '../base/findings.js';
import {
  refusalReasons, type Interval95, type Outcome, type Uncertainty, type ValueOutcome,
} from '../base/outcome.js';
import { entriesOf, partsFault } from '../base/parts.js';
import {
  digestBytes, keyBytes, oneOf, ownSized, present, sized, studyIdBytes, toBigint, toLong, uint32,
} from './fields.js';
import { keelson as read } from './generated/other-reader.js';
import { keelson as sent } from './generated/other-writer.js';
import {
  onlyAnswer, type LedgerPosition, type ReleaseBody, type ReleaseCost,
} from './messages.js';
import { malformed, readStrictly } from './reader.js';
import { written } from './writer.js';

/**
 * The bytes that the server signs as a release.
 * @throws WireError('malformed') for a body that no reader would accept.
 */
export function encodeReleaseBody(body: ReleaseBody): Uint8Array {
  const { estimator, parameters, outcome } = onlyAnswer(body);
  return written(sent.v1.ReleaseBody.encode({
    serverKey: sized(body.serverKey, keyBytes, 'server key'),
    studyId: sized(body.studyId, studyIdBytes, 'study id'),
    index: toLong(body.index, 'index'),
    epoch: toLong(body.epoch, 'epoch'),
    study: body.study,
    estimator,
    parameters,
    participation: body.participation,
    outcome: outcomeToWire(outcome, body.columns.length),
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
  }));
}

/** @throws WireError('malformed') for any other bytes; never anything else. */
export function decodeReleaseBody(bytes: Uint8Array): ReleaseBody {
  return readStrictly(bytes, 'release body', (reader) => {
    const body = read.v1.ReleaseBody.decode(reader);
    return {
      serverKey: ownSized(body.serverKey, keyBytes, 'server key'),
      studyId: ownSized(body.studyId, studyIdBytes, 'study id'),
      index: toBigint(body.index),
      epoch: toBigint(body.epoch),
      study: body.study,
      estimator: body.estimator,
      parameters: body.parameters,
      participation: oneOf(body.participation, ['secret', 'public'], 'participation'),
      outcome: outcomeFromWire(present(body.outcome, 'outcome'), body.columns.length),
      cost: costFromWire(present(body.cost, 'cost') as read.v1.Cost),
      ledger: ledgerFromWire(present(body.ledger, 'ledger') as read.v1.LedgerPosition),
      previousDigest: ownSized(body.previousDigest, digestBytes, 'previous digest'),
      mechanisms: body.mechanisms,
      closedAtMs: toBigint(body.closedAtMs),
      columns: body.columns,
      cohort: checkedCohort(toBigint(body.cohort)),
      ...(body.guarantee !== '' && { guarantee: body.guarantee }),
    };
  });
}

/** A study has contributors. In a body that ends early, the number would be 0. */
function checkedCohort(cohort: bigint): bigint {
  if (cohort === 0n) throw malformed('the cohort is missing');
  return cohort;
}

function outcomeToWire(outcome: Outcome, columns: number): sent.v1.Outcome.$Properties {
  if (outcome.kind === 'refused') {
    return { refused: { reason: outcome.reason, text: outcome.text } };
  }
  checkValue(outcome, columns);
  return {
    value: {
      estimate: [...outcome.estimate],
      shape: outcome.shape.map((length) => uint32(length, 'shape')),
      uncertainty: uncertaintyToWire(outcome.uncertainty),
      intervalLow: [...(outcome.interval95?.low ?? [])],
      intervalHigh: [...(outcome.interval95?.high ?? [])],
      parts: (outcome.parts ?? []).map(({ name, shape }) => ({
        name, shape: shape.map((length) => uint32(length, 'shape of a part')),
      })),
      intervalIfHostileLow: [...(outcome.intervalIfHostile95?.low ?? [])],
      intervalIfHostileHigh: [...(outcome.intervalIfHostile95?.high ?? [])],
      radiusIfHostile: outcome.radiusIfHostile95 ?? 0,
      scale: [...(outcome.scale ?? [])],
      findings: (outcome.findings ?? []).map((finding) => ({
        reason: finding.reason, columns: [...finding.columns], amounts: [...finding.amounts],
      })),
    },
  };
}

function outcomeFromWire(outcome: read.v1.Outcome.$Shape, columns: number): Outcome {
  if (present(outcome.kind, 'the kind of outcome') === 'refused') {
    const refused = outcome.refused as read.v1.Refused;
    return {
      kind: 'refused', reason: oneOf(refused.reason, refusalReasons, 'refusal reason'),
      text: refused.text,
    };
  }
  const value = outcome.value as read.v1.Value;
  const interval95 = intervalFromWire(value.intervalLow, value.intervalHigh);
  const intervalIfHostile95 =
    intervalFromWire(value.intervalIfHostileLow, value.intervalIfHostileHigh);
  const decoded: ValueOutcome = {
    kind: 'value',
    estimate: value.estimate,
    shape: value.shape,
    ...(value.parts.length > 0 && {
      parts: value.parts.map(({ name, shape }) => ({ name: name ?? '', shape: shape ?? [] })),
    }),
    uncertainty: uncertaintyFromWire(value.uncertainty as read.v1.Uncertainty | null),
    ...(interval95 !== null && { interval95 }),
    ...(intervalIfHostile95 !== null && { intervalIfHostile95 }),
    // Not 0: NaN is looked at below.
    ...(value.radiusIfHostile !== 0 && { radiusIfHostile95: value.radiusIfHostile }),
    ...(value.scale.length > 0 && { scale: value.scale }),
    ...(value.findings.length > 0 && {
      findings: value.findings.map((finding) => ({
        reason: finding.reason ?? '', columns: finding.columns ?? [],
        amounts: finding.amounts ?? [],
      })),
    }),
  };
  checkValue(decoded, columns);
  return decoded;
}

/** Null when both lists are empty: the release states no such interval. */
function intervalFromWire(low: readonly number[], high: readonly number[]): Interval95 | null {
  return low.length + high.length > 0 ? { low, high } : null;
}

function checkValue(value: ValueOutcome, columns: number): void {
  const entries = entriesOf(value.shape);
  if (entries !== value.estimate.length || entries === 0) {
    throw malformed(`an estimate of shape ${value.shape.join(' x ')} does not have `
      + `${value.estimate.length} entries`);
  }
  const fault = valueFault(value, columns);
  if (fault !== null) throw malformed(`the value cannot be read: ${fault}`);
  const partFault = value.parts === undefined ? null : partsFault(value.parts, value.shape);
  if (partFault !== null) throw malformed(`the estimate is not made of its parts: ${partFault}`);
}

function uncertaintyToWire(uncertainty: Uncertainty): sent.v1.Uncertainty.$Properties | null {
  switch (uncertainty.kind) {
    case 'gaussian':
      return { gaussian: { standardDeviation: [...uncertainty.standardDeviation] } };
    case 'relative':
      return { relativeOperator: uncertainty.operator };
    case 'grid':
      return { gridSpacing: uncertainty.spacing };
    case 'none':
      return null;
  }
}

function uncertaintyFromWire(uncertainty: read.v1.Uncertainty | null): Uncertainty {
  if (uncertainty === null) return { kind: 'none' };
  switch (present(uncertainty.kind, 'the kind of uncertainty')) {
    case 'gaussian': {
      const gaussian = uncertainty.gaussian as read.v1.GaussianUncertainty;
      return { kind: 'gaussian', standardDeviation: gaussian.standardDeviation };
    }
    case 'relativeOperator':
      return {
        kind: 'relative', operator: present(uncertainty.relativeOperator, 'relative operator'),
      };
    case 'gridSpacing':
      return { kind: 'grid', spacing: present(uncertainty.gridSpacing, 'grid spacing') };
  }
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
    rule: oneOf(ledger.rule, ['zcdp', 'pure', 'renyi'], 'budget rule'),
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
