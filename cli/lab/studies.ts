import { defineStudy, type StudyDefinition } from '../../server/studies/definition.js';
import { toHex } from '../../src/base/bytes.js';
import { parseParameters } from '../../src/estimators/parameters.js';
import { findEstimator } from '../../src/estimators/registry.js';
import type { Signer } from '../../src/signing/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { LabData } from './data.js';

/** What every study of a lab has in common. */
export interface LabFacts {
  readonly data: LabData;
  readonly contributors: number;
  readonly epochMs: number;
  /** Of each release, at delta 1e-6. */
  readonly epsilon: number;
  /** Hostile share that robust estimators are planned for. */
  readonly promise: number;
  /** Studies admit by enrolment, with tokens of this issuer. Absent: admission is open. */
  readonly issuer?: Signer;
}

/** For weeks of epochs: the lab is about attacks, not about budgets. */
const budget = { epsilon: 100, delta: 1e-4, rule: 'zcdp', scope: 'study' } as const;

/**
 * One study per estimator, alike in everything else.
 * @throws KeelsonError('plan-infeasible') when some estimator cannot answer for so few people; it says how many do.
 */
export function labStudies(facts: LabFacts, estimators: readonly string[]): readonly StudyDefinition[] {
  const { data, contributors, epochMs, epsilon, promise, issuer } = facts;
  return estimators.map((name) => {
    const { parameters } = findEstimator(name);
    const given = {
      ...(parameters.some((spec) => spec.name === 'scale') && { scale: [...data.scale] }),
      ...(parameters.some((spec) => spec.name === 'corruption') && { corruption: promise }),
    };
    const document: StudyDocument = {
      version: 1,
      study: `lab-${name}`,
      columns: [...data.columns],
      cohort: contributors,
      participation: 'secret',
      epoch: { everyMs: epochMs },
      contribution: { reduce: 'mean', rowsMax: data.rows },
      privacy: { epsilon, delta: 1e-6 },
      budget,
      admission: issuer === undefined ? { kind: 'open' } : { kind: 'enrolment', issuer: toHex(issuer.publicKey) },
      // A late row would count in a round of which the lab does not know it, with what the last round's liars did.
      late: 'drop',
      retention: { kind: 'release' },
      estimator: name,
      parameters: parseParameters(parameters, given, { dimension: data.columns.length }),
    };
    return defineStudy(document);
  });
}
