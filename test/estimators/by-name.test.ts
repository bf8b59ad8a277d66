import { describe, expect, it } from 'vitest';
import { isEstimator, loadEstimator } from '../../src/estimators/by-name.js';
import { estimators, findEstimator } from '../../src/estimators/registry.js';

describe('loadEstimator', () => {
  it('gives each estimator that the registry has', async () => {
    for (const { name } of estimators) {
      expect(isEstimator(name), name).toBe(true);
      expect(await loadEstimator(name), name).toBe(findEstimator(name));
    }
  });

  it('refuses other names as the registry does', async () => {
    for (const name of ['medain', 'medians', 'toString', '', undefined as never]) {
      const refused = (): unknown => findEstimator(name);
      expect(refused).toThrow();
      const loaded = loadEstimator(name);
      await expect(loaded).rejects.toThrow('there is no estimator');
      await loaded.catch((error: Error) => expect(refused).toThrow(error.message));
      expect(isEstimator(name)).toBe(false);
    }
  });
});
