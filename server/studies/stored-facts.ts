import { utf8 } from '../../src/base/bytes.js';
import { KeelsonError } from '../../src/base/errors.js';
import { parameterNow } from '../../src/base/old-names.js';
import { factsNow } from '../../src/log/earlier-facts.js';
import { decodeStudyDocument } from '../../src/wire/index.js';
import type { StudyDocument } from '../../src/wire/study-document.js';
import type { StudyRecord } from '../store/contract.js';
import type { HubContext } from './context.js';

/** The facts of a study that an earlier process stored. */
export interface StoredFacts {
  readonly facts: Uint8Array;
  readonly document: StudyDocument;
  /** Each old name in the facts and its new one. */
  readonly renamed: readonly string[];
}

/**
 * Facts with old names are read too, so that rows which are due are deleted.
 * @throws WireError('malformed') for what is no facts of a study.
 */
export function readStored({ document }: Pick<StudyRecord, 'document'>): StoredFacts {
  const facts = utf8(document);
  const now = factsNow(facts);
  return { facts, document: decodeStudyDocument(now.facts), renamed: now.renamed };
}

/**
 * A study of before whose facts have old names is not continued: a release states the facts as they
 * were signed, and this version has no such names.
 * @throws KeelsonError('invalid-study') with each old name and its new one.
 */
export function refuseOldNames(
  { document, renamed }: StoredFacts, findEstimator: HubContext['findEstimator'],
): void {
  const parameters = document.questions.flatMap(({ name, estimator, parameters: given }) => {
    const { parameters: specs } = findEstimator(estimator);
    const known = specs.map((spec) => spec.name);
    return Object.keys(given).filter((each) => !known.includes(each)).map((each) =>
      `${name}: ${parameterNow(each, known, estimator) ?? `${each} is not known`}`);
  });
  const names = [...renamed, ...parameters];
  if (names.length === 0) return;
  throw new KeelsonError('invalid-study', `the stored study ${document.study} has names of an `
    + `earlier version: ${names.join('; ')}. Its releases can be read; serve it anew from its `
    + 'study file, which "keelson doctor FILE --write" rewrites', {
    details: { study: document.study, names },
  });
}
