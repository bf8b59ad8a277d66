import { KeelsonError } from '../../src/base/errors.js';

/** The typed error by which an action is refused. */
export function refusalOf(action: () => unknown): KeelsonError {
  try {
    action();
  } catch (error) {
    if (error instanceof KeelsonError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
