import { namesOfType, type ColumnType } from '../base/columns.js';
import type { Question } from '../base/questions.js';

/**
 * The name of each number in a study's answers, where the study counts the names of one column: a
 * histogram of a category or boolean. Null for any other study.
 * @example
 * import { answerKeys, createContributor } from 'keelson/client';
 *
 * const seed = new Uint8Array(32);   // use openSeed: this one everybody knows
 * const url = 'ws://127.0.0.1:8787';
 * const contributor = createContributor({ url, study: 'rides-by-region', seed });
 * console.log(answerKeys(await contributor.study()));   // ['north', 'south', 'other']
 */
export function answerKeys(
  { estimator, parameters, types }:
  Pick<Question, 'estimator' | 'parameters'>
    & { readonly types?: readonly ColumnType[] | undefined },
): readonly string[] | null {
  const { column = 0, edges } = parameters;
  const type = estimator === 'histogram' ? types?.[column as number] : undefined;
  const names = type === undefined ? null : namesOfType(type);
  // The facts come from a server, which may be wrong.
  return Array.isArray(edges) && names?.length === edges.length + 1 ? names : null;
}
