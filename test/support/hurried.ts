import { systemRuntime, type ClientRuntime } from '../../client/index.js';

/** A clock on which some of the long waits are short. */
export const hurried = (isLong: (ms: number) => boolean): ClientRuntime => ({
  ...systemRuntime,
  after: (ms, action) => systemRuntime.after(isLong(ms) ? 20 : ms, action),
});
