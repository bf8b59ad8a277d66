import { Sensitive } from '../../src/base/brands.js';
import {
  markedSurvivors, type Removal, type SurvivorsForm,
} from '../../src/estimators/mean/filters/survivors.js';

/** Keeps rows as `form` does; `removals` tells what went. */
export function noting(form: SurvivorsForm, removals: Removal[]): SurvivorsForm {
  return (compute, rows) => {
    const made = form(compute, rows);
    return {
      rows: () => made.rows(),
      remove: (removal) => {
        removals.push(removal);
        return made.remove(removal);
      },
    };
  };
}

/** Leaves the data as they are, and answers every query from the list of all removals so far. */
export const replayedSurvivors: SurvivorsForm = (compute, whole) => {
  const removals: Removal[] = [];
  return {
    rows: () => whole.mapAsync(async (rows) => {
      const left = { ...rows, alive: rows.alive.slice(), known: { ...rows.known } };
      const marked = markedSurvivors(compute, Sensitive.of(left));
      for (const removal of removals) await marked.remove(removal);
      return left;
    }),
    remove: async (removal) => {
      removals.push(removal);
    },
  };
};
