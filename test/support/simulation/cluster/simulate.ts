import { runWorld, type SimulationOptions, type SimulationResult } from '../simulate.js';
import { roughCluster, type ClusterCounts, type ClusterRates } from './faults.js';
import type { ClusterPlantName } from './plants.js';
import { ClusterWorld } from './world.js';

export interface ClusterOptions extends Pick<SimulationOptions, 'seed' | 'steps' | 'log'> {
  /** Default: everything, often. */
  readonly rates?: ClusterRates;
  readonly plant?: ClusterPlantName | null;
}

/** Steps under faults, by default. */
export const clusterSteps = 3_000;

/** Runs one world of several servers from its seed. */
export function simulateCluster(
  options: ClusterOptions,
): Promise<SimulationResult<ClusterCounts>> {
  const { seed, steps = clusterSteps, rates = roughCluster, plant = null } = options;
  return runWorld({ ...options, steps }, (onNote) => new ClusterWorld(seed, rates, plant, onNote));
}

/** What to type to see it again. */
export function replayClusterCommand(
  seed: number, steps: number, plant: ClusterPlantName | null = null,
): string {
  const rest = plant === null ? '' : ` --plant ${plant}`;
  return `npm run simulate -- --cluster --seed ${seed} --steps ${steps}${rest}`;
}
