import type { Cut, SurvivorsForm } from '../../src/estimators/mean/filters/survivors.js';

/** Keeps rows as `form` does; `cuts` tells what went. */
export function noting(form: SurvivorsForm, cuts: Cut[]): SurvivorsForm {
  return (compute, rows) => {
    const made = form(compute, rows);
    return {
      rows: () => made.rows(),
      cut: (cut) => {
        cuts.push(cut);
        return made.cut(cut);
      },
    };
  };
}
