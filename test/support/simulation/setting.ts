import { toHex } from '../../../src/base/bytes.js';
import { signing } from '../../../src/signing/node.js';
import { encodeStudyDocument, studyId as idOfFacts } from '../../../src/wire/index.js';
import type { StudyDefinition } from '../../../server/studies/definition.js';
import type { Chance } from './chance.js';
import type { FaultRates } from './faults.js';
import { everyMs, studyOf, type SimulatedFacts } from './study.js';

/** The studies of one world. */
export interface Setting {
  readonly definitions: readonly StudyDefinition[];
  /** The first of them with a budget that is larger: the store refuses it. */
  readonly broken: StudyDefinition;
}

/** @param chance the stream of the setting, a fork of `all`. */
export function studiesOf(all: Chance, chance: Chance, rates: FaultRates): Setting {
  const asksLists = all.fork('questions').happens(rates.lists);
  const usualScope = chance.pick(['study', 'study', 'contributor', 'population'] as const);
  // Running totals are of contributor scope.
  const scope = asksLists && usualScope === 'study' ? 'contributor' : usualScope;
  const late = chance.pick(['next', 'next', 'drop'] as const);
  const names = scope === 'population' ? ['tally', 'tally-too'] : ['tally'];
  const usual = {
    scope, late, epsilon: chance.pick([2, 3, 12]),
    ...(all.fork('counting').happens(rates.counting) && { counts: true as const }),
  };
  const facts: SimulatedFacts =
    asksLists ? { ...usual, lists: true } : budgetOf(all.fork('budget'), usual, rates);
  return {
    definitions: names.map((name) => studyOf(name, facts)),
    broken: studyOf(names[0]!, { ...facts, epsilon: 2 * facts.epsilon }),
  };
}

/**
 * Some worlds have a budget of another rule, one that renews, or one that is used up after a few
 * epochs.
 */
function budgetOf(chance: Chance, facts: SimulatedFacts, rates: FaultRates): SimulatedFacts {
  if (!chance.happens(rates.budgets)) return facts;
  const rule = chance.pick(['zcdp', 'pure', 'renyi'] as const);
  const epsilon = chance.pick([1.3, 2, facts.epsilon]);
  return { ...facts, rule, epsilon, ...(chance.happens(0.4) && { perMs: 3 * everyMs }) };
}

/** Studies with their ids, hexadecimal. */
export async function idsOf(
  definitions: readonly StudyDefinition[],
): Promise<readonly (readonly [string, StudyDefinition])[]> {
  return Promise.all(definitions.map(async (definition) => {
    const id = await idOfFacts(encodeStudyDocument(definition.document), signing);
    return [typeof id === 'string' ? id : toHex(id), definition] as const;
  }));
}
