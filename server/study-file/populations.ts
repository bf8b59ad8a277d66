import type { BudgetRuleName } from '../../src/base/budget-rules.js';
import { checkText } from './check.js';
import { populationsSchema } from './schema.js';

/** A budget that several studies over the same people share. */
export interface Population {
  readonly epsilon: number;
  readonly delta: number;
  readonly rule: BudgetRuleName;
  /** The budget renews: a charge counts for this many milliseconds. Absent: without end. */
  readonly perMs?: number;
}

/** By name. */
export type Populations = ReadonlyMap<string, Population>;

/**
 * Reads a populations file:
 *
 *     populations:
 *       travellers: { epsilon: 8, delta: 1e-5 }
 *       patients: { epsilon: 2, delta: 1e-6, rule: renyi, per: 30d }
 *
 * @param file its name, for messages.
 * @throws KeelsonError('invalid-study').
 */
export function parsePopulationsText(text: string, file: string): Populations {
  const { populations } = checkText(populationsSchema, text, file).content;
  return new Map(Object.entries(populations).map(([name, { per, ...budget }]) =>
    [name, { ...budget, ...(per !== undefined && { perMs: per }) }]));
}
