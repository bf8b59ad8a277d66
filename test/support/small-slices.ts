import { root } from './sources.js';

/** The environment of a command whose slices of epochs have so few contributors. */
export const smallSlices = (people: number): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import ${root}test/support/children/small-slices.js`,
  KEELSON_TEST_SLICE_PEOPLE: String(people),
});
