import type { Estimator } from '../estimators/contract/estimator.js';
import { defineEstimator } from '../estimators/contract/given.js';
import {
  definePooledEstimator as pooledEstimator, type PooledPipeline,
} from '../estimators/pooled/estimator.js';

/**
 * An estimator that keeps everybody's rows in one pool until the release. The pipeline finds the
 * spread and the centre of the rows, or takes them from parameters; the design states what it draws
 * after that. The parameter `spread` is added in front of its own.
 *
 * Claim, neighbours and cost: those of the pipeline, and those that the design states.
 */
export function definePooledEstimator(
  about: Omit<Estimator, 'plan'>, pipeline: PooledPipeline,
): Estimator {
  return defineEstimator(pooledEstimator(about, pipeline));
}
