import { InvalidParameterError, InvariantError } from './base/errors.js';
import type { Infeasible, Plan, StudyFacts } from './estimators/contract/estimator.js';
import { countedAtBound } from './estimators/contract/outside.js';
import { publishedOverCharged } from './privacy/mechanisms/sealed-noise.js';
import { sealedProgramOf } from './sealed/programs/table.js';
import { bodyBytes } from './sealed/shares/body.js';
import { signatureBytes } from './wire/fields.js';
import type { BeyondGrid, SealedProgram, TrafficRange } from './sealed/programs/contract.js';
import type { Question } from './base/questions.js';
import type { SealedFacts } from './wire/study-document.js';

/** What the promise does not cover, for whoever reads a plan. */
const weakestPromise =
  'nothing against two of the servers together, nor against a server that runs changed code';

/** What becomes of values beyond the range of a sealed mean. */
function rangeFacts(
  { range, reportedFrom }: BeyondGrid,
): Readonly<Record<string, number | string>> {
  const shown = (value: number): string => `${Number(value.toPrecision(6))}`;
  return {
    countedRange: range.map(([low, high]) => `${shown(low)} to ${shown(high)}`).join(', '),
    clippedReportedFrom: reportedFrom,
  };
}

/** A question over all columns of a sealed study. */
export interface SealedQuestion extends Pick<Question, 'estimator' | 'parameters'> {
  readonly sealed: SealedFacts;
}

/** The program of a sealed question. @throws InvalidParameterError when it has none. */
export function sealedProgramOfQuestion(
  { estimator, parameters, sealed }: SealedQuestion, facts: StudyFacts,
): SealedProgram {
  return sealedProgramOf(facts, { estimator, parameters, columns: facts.dimension, sealed });
}

/**
 * The traffic between servers for one release of a full cohort: messages after each other, and
 * bytes of the server that sends most. `AtMost` is there where it depends on what is opened.
 */
function trafficFacts({ least, most }: TrafficRange): Readonly<Record<string, number>> {
  const [bytes, bytesMost] = [least, most].map((each) => Math.max(...each.bytes));
  return {
    roundsBetweenServers: least.rounds,
    ...(most.rounds > least.rounds && { roundsBetweenServersAtMost: most.rounds }),
    bytesSentByAServer: bytes!,
    ...(bytesMost! > bytes! && { bytesSentByAServerAtMost: bytesMost! }),
  };
}

/**
 * The plan of a sealed question: that of the estimator, with the events, cost and noise of the
 * program over sealed rows. `expectedError` has the deviation that three servers publish.
 * @param open - the estimator's plan for rows that its server reads.
 */
export function planSealed(
  question: SealedQuestion, facts: StudyFacts, open: Plan | Infeasible,
): Plan | Infeasible {
  if (open.kind === 'infeasible') return open;
  let program: SealedProgram;
  let traffic: TrafficRange;
  try {
    program = sealedProgramOfQuestion(question, facts);
    traffic = program.traffic(facts.cohort);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    const [reason, remedy] = error.message.split(': ', 2) as [string, string?];
    return { kind: 'infeasible', reason, remedy: remedy ?? 'change the study file' };
  }
  return {
    ...open, events: program.events, cost: program.cost,
    guarantee: program.outside === undefined ? open.guarantee : {
      ...open.guarantee, assumptions: [countedAtBound, ...open.guarantee.assumptions],
    },
    noise: open.noise.map((deviation) => publishedOverCharged * deviation),
    facts: {
      ...open.facts, sealed: 'against reading', weakestPromise,
      noiseOverOneServer: publishedOverCharged,
      ...(program.outside !== undefined && rangeFacts(program.outside)),
      bytesOfAnEntry: bodyBytes(program.form) + signatureBytes, ...trafficFacts(traffic),
    },
    expectedError: (corruption) => {
      const { total, sampling, noise, bias } = open.expectedError(corruption);
      const louder = publishedOverCharged * noise;
      const squares = total ** 2 - noise ** 2 + louder ** 2;
      return { total: Math.sqrt(squares), sampling, noise: louder, bias };
    },
    release: () => {
      throw new InvariantError('the rows of a sealed study are released by three servers');
    },
  };
}
