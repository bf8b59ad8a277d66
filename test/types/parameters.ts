import { chooseEstimator, estimate, findEstimator, plan } from '../../src/index.js';
import { mean, primeHeavy, quantile } from '../../src/estimators/index.js';

// Checked by `npm run types`: every marked line must be a compile error, or the check itself fails.

const alone = { cohort: 3000, epsilon: 1, delta: 1e-6, participation: 'secret' } as const;
const asked = { ...alone, columns: 2 };
const rows = [[1, 2]];

export function findsMisspeltParameters(): void {
  plan({ ...asked, estimator: mean, parameters: { spread: [2, 0.5] } });
  plan({ ...asked, estimator: mean, parameters: { spread: 'auto', range: '0..1' } });
  // @ts-expect-error A parameter that the estimator does not have.
  plan({ ...asked, estimator: mean, parameters: { spred: 2 } });
  // @ts-expect-error A word that it does not take.
  plan({ ...asked, estimator: mean, parameters: { spread: 'wide' } });
  // @ts-expect-error A range without two ends.
  plan({ ...asked, estimator: mean, parameters: { range: '5' } });
  // @ts-expect-error One that must be given.
  plan({ ...asked, estimator: primeHeavy, parameters: { corruption: 0.1 } });
  void estimate({ ...alone, rows, estimator: quantile, parameters: { range: '0..9' } });
  // @ts-expect-error A parameter that the estimator does not have.
  void estimate({ ...alone, rows, estimator: quantile, parameters: { range: '0..9', celsl: 9 } });
  // Of an estimator that is known only when the program runs, any.
  void estimate({ ...alone, rows, estimator: findEstimator('mean'), parameters: { spred: 2 } });
  void chooseEstimator(asked);
}
