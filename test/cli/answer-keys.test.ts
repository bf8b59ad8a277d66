import { describe, expect, it } from 'vitest';
import { labelsOf } from '../../cli/base/labels.js';
import { aboutStudy } from '../../server/operator/about-study.js';
import { answerKeys, type Described } from '../../src/answers/describe.js';
import { document, typedDocument } from '../support/wire-samples.js';

const names = ['north', 'south', 'other'];
const { types } = typedDocument;
const typed: Described = { ...typedDocument.questions[0]!, types };

describe('the names of the numbers in an answer', () => {
  it('are those of the category or boolean that a histogram counts', () => {
    expect(answerKeys(typed)).toEqual(names);
    expect(labelsOf(typed)).toEqual(names);
    expect(aboutStudy(typedDocument).questions[0]!.labels).toEqual(names);
    const late = { ...typed, parameters: { column: 2, edges: [1] } };
    expect(labelsOf(late)).toEqual(['false', 'true']);
  });

  it('are not looked for in other studies, or in facts that contradict themselves', () => {
    expect(answerKeys(document.questions[0]!)).toBeNull();
    expect(answerKeys({ ...typed, estimator: 'count' })).toBeNull();
    expect(answerKeys({ ...typed, parameters: { column: 3, edges: [1] } })).toBeNull();
    expect(answerKeys({ ...typed, parameters: { column: 9, edges: [1] } })).toBeNull();
    expect(answerKeys({ ...typed, parameters: { column: 0, edges: [1, 2] } })).toBeNull();
  });
});
