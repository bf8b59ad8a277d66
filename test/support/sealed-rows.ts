import { Sealed } from '../../src/base/brands.js';
import type { Outcome } from '../../src/base/outcome.js';
import type { StudyFacts } from '../../src/estimators/contract/estimator.js';
import { createSealedMechanisms } from '../../src/privacy/mechanisms/sealed-noise.js';
import { seededNoise } from '../../src/random/insecure.js';
import { seededRandom } from '../../src/random/work.js';
import type { SealedProgram } from '../../src/sealed/programs/contract.js';
import { difference, type ShareForm } from '../../src/sealed/shares/form.js';
import type { RowShare } from '../../src/sealed/shares/opening.js';
import { openedSum, runThree, type RunOptions } from './sealed-run.js';

/** Facts of a study with this budget; a large one has next to no noise. */
export function sealedFacts(dimension: number, cohort: number, rho = 1e9): StudyFacts {
  const target = { rho, delta: 1e-6, epsilon: 1, deltaTotal: 1e-6 };
  return { dimension, cohort, participation: 'secret', target };
}

/** Splits rows among the three servers without boxes: two random components and the rest. */
export function rowShares(
  values: readonly Uint32Array[], form: ShareForm, seed: string,
): readonly (readonly Sealed<RowShare>[])[] {
  const random = seededRandom(new TextEncoder().encode(seed));
  const rows = values.map((row) => {
    const [first, second] = [0, 1].map(() => row.map(() =>
      Math.floor(random.uniform() * 2 ** form.bits))) as [Uint32Array, Uint32Array];
    return [first, second, difference(difference(row, first, form), second, form)];
  });
  return [0, 1, 2].map((server) => rows.map((components) =>
    Sealed.of({ own: components[server]!, next: components[(server + 1) % 3]! })));
}

/** Runs a program at three parties in one process. */
export async function sealedAnswers(
  program: SealedProgram, values: readonly Uint32Array[], options: RunOptions = {},
): Promise<readonly Outcome[]> {
  const shares = rowShares(values, program.form, 'rows');
  return runThree(async (party) => {
    const mechanisms = createSealedMechanisms(
      program.events, seededNoise(`server ${party.server}`), (noised) => openedSum(party, noised),
    );
    return (await program.run({ party, mechanisms, rows: shares[party.server]! })).value;
  }, options);
}
