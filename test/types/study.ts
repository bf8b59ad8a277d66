import type * as v from 'valibot';
import { createContributor, type RowOf } from '../../client/index.js';
import {
  study, type EstimatorInput, type QuestionInput, type StudyFacts,
} from '../../server/index.js';
import type { FileQuestion } from '../../server/study-file/questions-schema.js';
import type { studySchema } from '../../server/study-file/schema.js';

// Checked by `npm run types`: every marked line must be a compile error, or the check itself fails.

type FromSchema = v.InferInput<typeof studySchema>;
type Mutable<T> = T extends readonly (infer Item)[] ? Mutable<Item>[]
  : T extends object ? { -readonly [Key in keyof T]: Mutable<T[Key]> } : T;
declare function same<A, B>(both: [A] extends [B] ? ([B] extends [A] ? true : never) : never): void;
declare const typed: StudyFacts<string[]>;
declare function takesFile(input: Mutable<Omit<FromSchema, 'sealed' | 'questions'>>): void;

/** The typed form has the keys of the schema, and no others. */
export function followsTheSchema(): void {
  same<keyof StudyFacts<string[]> | keyof EstimatorInput | 'questions', keyof FromSchema>(true);
  same<keyof QuestionInput, keyof FileQuestion>(true);
  const { sealed, ...others } = typed;
  takesFile(others as Mutable<typeof others>);
  void sealed;
}

const shared = {
  cohort: 100, epoch: { every: '1h' }, privacy: { epsilon: 1, delta: 1e-6 },
  budget: { epsilon: 8, delta: 1e-5 },
} as const;
const columns = {
  minutes: 'number', late: 'boolean', by: { type: 'category', of: ['bus', 'train'] },
  note: { type: 'text', optional: true },
} as const;

export function findsMisspeltNames(): void {
  const asked = { estimator: 'count' } as const;
  study({ ...shared, study: 'a', columns, questions: { n: { ...asked, columns: ['minutes'] } } });
  // @ts-expect-error A column that the study does not have.
  study({ ...shared, study: 'a', columns, questions: { n: { ...asked, columns: ['minutez'] } } });
  // @ts-expect-error Nor in a test.
  study({ ...shared, study: 'a', columns, questions: { n: { ...asked, where: { lat: true } } } });
  const by = { column: 'x', groupsMax: 1 } as const;
  // @ts-expect-error Nor by what an answer is split.
  study({ ...shared, study: 'a', columns, questions: { n: { ...asked, by } } });
  // @ts-expect-error A key that a study does not have.
  study({ ...shared, study: 'a', columns: ['minutes'], estimator: 'mean', cohorts: 3 });
  const one = { ...shared, study: 'a', columns: ['minutes'] } as const;
  study({ ...one, estimator: 'mean', parameters: { spread: 20 } });
  study({ ...one, estimator: 'histogram', parameters: { column: 'minutes', edges: [0, 9] } });
  // @ts-expect-error A parameter that the estimator does not have.
  study({ ...one, estimator: 'mean', parameters: { spred: 20 } });
  // @ts-expect-error A value that it does not take.
  study({ ...one, estimator: 'mean', parameters: { spread: 'wide' } });
  // @ts-expect-error An estimator that there is not.
  study({ ...one, estimator: 'meen' });
  // @ts-expect-error A length of time without a unit.
  study({ ...shared, study: 'a', columns: ['minutes'], estimator: 'mean', epoch: { every: '5' } });
}

export function findsWrongRows(): void {
  const options = { url: 'ws://127.0.0.1:8787', study: 'a', seed: new Uint8Array(32) };
  const person = createContributor<RowOf<typeof columns>>(options);
  void person.contribute([{ minutes: 3, late: true, by: 'bus' }]);
  void person.contribute([{ minutes: 3, late: true, by: 'bus', note: null }]);
  // @ts-expect-error A column that the study does not have.
  void person.contribute([{ minutes: 3, late: true, by: 'bus', notes: 'x' }]);
  // @ts-expect-error A column that is not optional.
  void person.contribute([{ minutes: 3, late: true }]);
  // @ts-expect-error A value of another type.
  void person.contribute([{ minutes: '3', late: true, by: 'bus' }]);
  // @ts-expect-error A name that the category does not have.
  void person.contribute([{ minutes: 3, late: true, by: 'boat' }]);
  const names = createContributor<RowOf<readonly ['minutes', 'km']>>(options);
  void names.contribute([{ minutes: 3, km: 4 }]);
  // @ts-expect-error A column that the study does not have.
  void names.contribute([{ minutez: 3, km: 4 }]);
  // Rows of any study: their names are checked when the study is known.
  void createContributor(options).contribute([{ minutez: 3 }]);
}
