import { InvalidParameterError, InvariantError } from './base/errors.js';
import { mayLoseKeys } from './base/public-keys.js';
import type { Infeasible, Plan, StudyFacts } from './estimators/contract/estimator.js';
import { countedAtBound } from './estimators/contract/outside.js';
import { publishedOverCharged } from './privacy/mechanisms/sealed-noise.js';
import { sealedProgramOf } from './sealed/programs/table.js';
import { bodyBytes } from './sealed/shares/body.js';
import { sharedQuestionOf, type SharedStudy } from './sealed/shares/study-shares.js';
import { signatureBytes } from './wire/fields.js';
import type { BeyondGrid, SealedProgram, TrafficRange } from './sealed/programs/contract.js';
import type { Question } from './base/questions.js';
import type { PlannedQuestion, QuestionsPlan } from './questions/plan.js';

/** The limits of the promise, for readers of a plan. */
const weakestPromise =
  'nothing against two of the servers together, nor against a server that runs changed code';

/** How a sealed mean treats values beyond its range. */
function rangeFacts(
  { range, reportedFrom }: BeyondGrid,
): Readonly<Record<string, number | string>> {
  const shown = (value: number): string => `${Number(value.toPrecision(6))}`;
  return {
    countedRange: range.map(([low, high]) => `${shown(low)} to ${shown(high)}`).join(', '),
    clippedReportedFrom: reportedFrom,
  };
}

/** The plan of a question of a sealed study, with its program over sealed rows. */
export interface SealedPlan extends Plan {
  readonly program: SealedProgram;
}

/** The programs of a sealed study, in the order of its questions. */
export function sealedProgramsOf(
  { questions }: { readonly questions: readonly { readonly plan: Plan }[] },
): readonly SealedProgram[] {
  return questions.map(({ plan }) => {
    if ('program' in plan) return (plan as SealedPlan).program;
    throw new InvariantError('every question of a sealed study has a program');
  });
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

/** The plans of a sealed study's questions, with the bytes that a contributor sends for them. */
export function withEntryBytes(planned: QuestionsPlan): QuestionsPlan {
  const bytesOfAnEntry =
    bodyBytes(sealedProgramsOf(planned).map(({ form }) => form)) + signatureBytes;
  const [first, ...others] = planned.questions;
  const withBytes = (asked: PlannedQuestion): PlannedQuestion => ({
    ...asked, plan: { ...asked.plan, facts: { ...asked.plan.facts, bytesOfAnEntry } },
  });
  return { ...planned, questions: [withBytes(first), ...others.map(withBytes)] };
}

/** An ordinary study tells how many people had more keys than count; nobody would tell it here. */
const losesKeys: Infeasible = {
  kind: 'infeasible',
  reason: 'a contributor may be in more groups than the one that counts, and nobody would tell '
    + 'how many are',
  remedy: 'write contribution: { rowsMax: 1 }, or leave by out',
};

/** The facts of a study that the plan of a question needs. */
export interface PlannedStudy extends SharedStudy {
  readonly contribution: { readonly rowsMax: number };
}

/**
 * The plan of a sealed question: that of the estimator, with the events, cost and noise of the
 * program over sealed rows. `expectedError` has the deviation that three servers publish.
 * @param open - the estimator's plan for rows that its server reads.
 */
export function planSealed(
  question: Question, study: PlannedStudy, facts: StudyFacts, open: Plan | Infeasible,
): SealedPlan | Infeasible {
  const { by } = question;
  // A remedy for split answers helps nobody where none is split.
  if (open.kind === 'infeasible' && by === undefined) return open;
  if (by !== undefined && mayLoseKeys(by, study, study.contribution.rowsMax)) return losesKeys;
  let program: SealedProgram;
  let traffic: TrafficRange;
  try {
    program = sealedProgramOf(facts, sharedQuestionOf(question, study));
    traffic = program.traffic(facts.cohort);
  } catch (error) {
    if (!(error instanceof InvalidParameterError)) throw error;
    const [reason, remedy] = error.message.split(': ', 2) as [string, string?];
    return { kind: 'infeasible', reason, remedy: remedy ?? 'change the study file' };
  }
  if (open.kind === 'infeasible') return open;
  return {
    ...open, program, events: program.events, cost: program.cost,
    guarantee: program.outside === undefined ? open.guarantee : {
      ...open.guarantee, assumptions: [countedAtBound, ...open.guarantee.assumptions],
    },
    noise: open.noise.map((deviation) => publishedOverCharged * deviation),
    facts: {
      ...open.facts, sealed: 'against reading', weakestPromise,
      noiseOverOneServer: publishedOverCharged,
      ...(program.outside !== undefined && rangeFacts(program.outside)),
      ...trafficFacts(traffic),
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
