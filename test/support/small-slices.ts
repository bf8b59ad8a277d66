import type { LiveOptions } from './live-command.js';
import { root } from './sources.js';

/**
 * A command whose slices of epochs have so few contributors. It runs from its modules: in the
 * bundle the number has no place of its own.
 */
export const smallSlices = (people: number): LiveOptions => ({
  command: `${root}dist/cli/main.js`,
  environment: {
    NODE_OPTIONS: `--import ${root}test/support/children/small-slices.js`,
    KEELSON_TEST_SLICE_PEOPLE: String(people),
  },
});
