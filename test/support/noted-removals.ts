import type { Removal, SurvivorsForm } from '../../src/estimators/mean/filters/survivors.js';

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
