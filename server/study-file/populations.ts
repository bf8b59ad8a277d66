import { checkText } from './check.js';
import { populationsSchema } from './schema.js';

/** A budget that several studies over the same people share. */
export interface Population {
  readonly epsilon: number;
  readonly delta: number;
  readonly rule: 'zcdp' | 'pure' | 'renyi';
}

/** By name. */
export type Populations = ReadonlyMap<string, Population>;

/**
 * Reads a populations file:
 *
 *     populations:
 *       travellers: { epsilon: 8, delta: 1e-5 }
 *
 * @param file its name, for messages.
 * @throws KeelsonError('invalid-study').
 */
export function parsePopulationsText(text: string, file: string): Populations {
  return new Map(Object.entries(checkText(populationsSchema, text, file).content.populations));
}
