import { unansweredFault, valueFault } from '../base/findings.js';
import { oldReasons, storedNow } from '../base/old-names.js';
import {
  refusalReasons, type Interval95, type Outcome, type Uncertainty, type ValueOutcome,
} from '../base/outcome.js';
import { entriesOf, partsFault } from '../base/parts.js';
import { questionLimits } from '../base/questions.js';
import { bitAt, bitsOf, hasUnusedBits } from './bits.js';
import { oneOf, present, uint32 } from './fields.js';
import { describedEntries, numbersFromWire, numbersToWire, type Places } from './numbers-body.js';
import type { keelson as read } from './generated/other-reader.js';
import type { keelson as sent } from './generated/other-writer.js';
import { malformed } from './reader.js';

/**
 * @param texts - of the release. Those that its numbers need are added.
 * @param columns - number of columns that the answer is about. Absent: columns are not counted.
 * @throws WireError('malformed') for an outcome that no reader would accept.
 */
export function outcomeToWire(
  outcome: Outcome, texts: Places<string>, columns?: number,
): sent.v1.Outcome.$Properties {
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
      intervalIfFalseLow: [...(outcome.intervalIfFalse95?.low ?? [])],
      intervalIfFalseHigh: [...(outcome.intervalIfFalse95?.high ?? [])],
      radiusIfFalse: outcome.radiusIfFalse95 ?? 0,
      spread: [...(outcome.spread ?? [])],
      findings: (outcome.findings ?? []).map((finding) => ({
        reason: finding.reason, columns: [...finding.columns], amounts: [...finding.amounts],
        group: finding.group === undefined ? 0 : finding.group + 1,
      })),
      groups: (outcome.groups ?? []).flat(),
      answered: bitsOf(outcome.answered?.length ?? 0, (group) => outcome.answered![group]!),
      running: outcome.running === undefined ? null : {
        position: uint32(outcome.running.position, 'position of a running total'),
        released: [...outcome.running.released],
      },
      numbers: numbersToWire(outcome, texts),
    },
  };
}

/**
 * @param texts - the columns of the release, then its texts.
 * @param columns - as for `outcomeToWire`.
 * @throws WireError('malformed') for any fault.
 */
export function outcomeFromWire(
  outcome: read.v1.Outcome.$Shape, texts: readonly string[], columns?: number,
): Outcome {
  if (present(outcome.kind, 'the kind of outcome') === 'refused') {
    const refused = outcome.refused as read.v1.Refused;
    const reason = storedNow(oldReasons, refused.reason);
    return {
      kind: 'refused', reason: oneOf(reason, refusalReasons, 'refusal reason'),
      text: refused.text,
    };
  }
  const value = outcome.value as read.v1.Value;
  const interval95 = intervalFromWire(value.intervalLow, value.intervalHigh);
  const intervalIfFalse95 =
    intervalFromWire(value.intervalIfFalseLow, value.intervalIfFalseHigh);
  const decoded: ValueOutcome = {
    kind: 'value',
    estimate: value.estimate,
    shape: value.shape,
    ...(value.parts.length > 0 && {
      parts: value.parts.map(({ name, shape }) => ({ name: name ?? '', shape: shape ?? [] })),
    }),
    uncertainty: uncertaintyFromWire(value.uncertainty as read.v1.Uncertainty | null),
    ...(interval95 !== null && { interval95 }),
    ...(intervalIfFalse95 !== null && { intervalIfFalse95 }),
    // Not 0: NaN is looked at below.
    ...(value.radiusIfFalse !== 0 && { radiusIfFalse95: value.radiusIfFalse }),
    ...(value.spread.length > 0 && { spread: value.spread }),
    ...(value.findings.length > 0 && {
      findings: value.findings.map((finding) => ({
        reason: storedNow(oldReasons, finding.reason ?? ''), columns: finding.columns ?? [],
        amounts: finding.amounts ?? [], ...(finding.group && { group: finding.group - 1 }),
      })),
    }),
    ...((value.groups.length > 0 || value.shape[0] === 0)
      && { groups: groupsFromWire(value.groups, value.shape) }),
    ...(value.answered.length > 0 && { answered: answeredFromWire(value.answered, value.shape) }),
    ...(value.running && {
      running: { position: value.running.position ?? 0, released: value.running.released ?? [] },
    }),
  };
  checkValue(decoded, columns);
  const wire = value.numbers as read.v1.Numbers.$Shape | null;
  const numbers = numbersFromWire(wire, describedEntries(decoded), texts);
  return numbers.length === 0 ? decoded : { ...decoded, numbers };
}

/** Null when both lists are empty: the release states no such interval. */
function intervalFromWire(low: readonly number[], high: readonly number[]): Interval95 | null {
  return low.length + high.length > 0 ? { low, high } : null;
}

function checkValue(value: ValueOutcome, columns: number | undefined): void {
  const entries = entriesOf(value.shape);
  // An answer may be groups alone, without numbers; or nobody's group was found.
  const isEmpty = entries === 0 && value.groups === undefined;
  if (entries !== value.estimate.length || isEmpty) {
    throw malformed(`an estimate of shape ${value.shape.join(' x ')} does not have `
      + `${value.estimate.length} entries`);
  }
  const fault = valueFault(value, columns);
  if (fault !== null) throw malformed(`the value cannot be read: ${fault}`);
  const partFault = value.parts === undefined ? null : partsFault(value.parts, value.shape);
  if (partFault !== null) throw malformed(`the estimate is not made of its parts: ${partFault}`);
  const groupFault = groupsFault(value);
  if (groupFault !== null) {
    throw malformed(`the estimate is not split by its groups: ${groupFault}`);
  }
}

/** Why the groups of a value do not fit its estimate; null when they do, or when it has none. */
function groupsFault(value: ValueOutcome): string | null {
  const { groups, answered, shape } = value;
  if (groups === undefined) return answered === undefined ? null : 'answered is without groups';
  const size = groups[0]?.length ?? 0;
  if (groups.length !== shape[0]) {
    return `${groups.length} groups are not the first axis of ${shape.join(' x ')}`;
  }
  if (groups.length > questionLimits.keys) {
    return `it has ${groups.length} groups, more than ${questionLimits.keys}`;
  }
  // Nobody's group may have been found.
  if (groups.length === 0) return answered === undefined ? null : 'answered is without groups';
  if (size < 1 || size > questionLimits.byColumns || groups.some(({ length }) => length !== size)) {
    return `each group has the same number of parts, from 1 to ${questionLimits.byColumns}`;
  }
  return answered === undefined ? null : unansweredFault(value, answered);
}

/** The flat list of parts, cut into `shape[0]` groups of the same size. */
function groupsFromWire(flat: readonly string[], [count = 0]: readonly number[]): string[][] {
  const size = count === 0 ? flat.length : flat.length / count;
  if (!Number.isInteger(size) || (count === 0 && size > 0)) {
    throw malformed(`${flat.length} parts of groups are not ${count} groups of the same size`);
  }
  return Array.from({ length: count }, (_, i) => flat.slice(i * size, (i + 1) * size));
}

function answeredFromWire(bits: Uint8Array, [count = 0]: readonly number[]): boolean[] {
  if (bits.length !== Math.ceil(count / 8)) {
    throw malformed(`answered has ${bits.length} bytes, not a bit for each of ${count} groups`);
  }
  if (hasUnusedBits(bits, count)) throw malformed('answered has unused bits that are not 0');
  return Array.from({ length: count }, (_, i) => bitAt(bits, i) === 1);
}

function uncertaintyToWire(uncertainty: Uncertainty): sent.v1.Uncertainty.$Properties | null {
  switch (uncertainty.kind) {
    case 'gaussian':
      return { gaussian: { standardDeviation: [...uncertainty.standardDeviation] } };
    case 'laplace':
      return { laplace: { scale: [...uncertainty.scale] } };
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
    case 'laplace':
      return { kind: 'laplace', scale: (uncertainty.laplace as read.v1.LaplaceUncertainty).scale };
    case 'relativeOperator':
      return {
        kind: 'relative', operator: present(uncertainty.relativeOperator, 'relative operator'),
      };
    case 'gridSpacing':
      return { kind: 'grid', spacing: present(uncertainty.gridSpacing, 'grid spacing') };
  }
}
