import { readStudyFiles } from '../../cli/base/study-files.js';
import { parseStudyText } from '../../server/study-file/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import type { ValueOutcome } from '../../src/base/outcome.js';
import type { PlannedQuestion } from '../../src/questions/plan.js';
import { sampleStudies } from './sample-studies.js';
import { root } from './sources.js';

/** Every study file of the project that people may copy, and studies of all other estimators. */
export const shippedStudies: readonly StudyDefinition[] = [
  ...sampleStudies(root).map(({ name, text }) => parseStudyText(text, { name: `${name}.yaml` })),
  ...readStudyFiles(['commute', 'survey'].map((name) => `${root}examples/${name}/study.yaml`),
    undefined).studies,
];

/**
 * An answer of the form that the plan of a question gives. All of its numbers differ, so a page
 * that takes one for another shows it.
 */
export function answerTo({ question: { by }, plan, keys }: PlannedQuestion): ValueOutcome {
  const found = by === undefined ? undefined
    : keys ?? ['maps', 'chess', 'mail'].map((key) => by.columns.map(() => key));
  const [, ...inner] = plan.outputShape;
  const shape = found === undefined ? plan.outputShape : [found.length, ...inner];
  const size = shape.reduce((product, each) => product * each, 1);
  const estimate = Array.from({ length: size }, (_, i) => 4000.123456789 + 37 * i);
  const half = estimate.map((_, i) => 0.25 + i / 1000);
  return {
    kind: 'value', estimate, shape, uncertainty: { kind: 'none' },
    interval95: {
      low: estimate.map((value, i) => value - half[i]!),
      high: estimate.map((value, i) => value + half[i]!),
    },
    ...(plan.parts !== undefined && { parts: plan.parts }),
    ...(found !== undefined && { groups: found }),
  };
}
