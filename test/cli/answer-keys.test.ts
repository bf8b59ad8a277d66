import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../cli/base/labels.js';
import { aboutStudy } from '../../server/operator/about-study.js';
import { answerKeys } from '../../src/answers/describe.js';
import { document, typedDocument } from '../support/wire-samples.js';

const names = ['north', 'south', 'other'];

describe('the names of the numbers in an answer', () => {
  it('are those of the category or boolean that a histogram counts', () => {
    expect(answerKeys(typedDocument)).toEqual(names);
    expect(labelsOf(typedDocument)).toEqual(names);
    expect(aboutStudy(typedDocument).labels).toEqual(names);
    const late = { ...typedDocument, parameters: { column: 2, edges: [1] } };
    expect(labelsOf(late)).toEqual(['false', 'true']);
  });

  it('are not looked for in other studies, or in facts that contradict themselves', () => {
    expect(answerKeys(document)).toBeNull();
    expect(answerKeys({ ...typedDocument, estimator: 'count' })).toBeNull();
    expect(answerKeys({ ...typedDocument, parameters: { column: 3, edges: [1] } })).toBeNull();
    expect(answerKeys({ ...typedDocument, parameters: { column: 9, edges: [1] } })).toBeNull();
    expect(answerKeys({ ...typedDocument, parameters: { column: 0, edges: [1, 2] } })).toBeNull();
  });
});
