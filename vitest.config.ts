import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.js';
import { systemTests } from './test/support/tiers.js';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Globs of files that this run leaves out: set by scripts/test.js. */
const leftOut = (process.env['KEELSON_TEST_LEFT_OUT'] ?? '').split(' ').filter(Boolean);

export default defineConfig({
  resolve: {
    // The package's own import map points at the build; tests run the sources.
    alias: {
      '#signing': here('./src/signing/node.ts'),
      '#async-signing': here('./src/signing/async-node.ts'),
      '#protobuf': here('./src/wire/protobuf-node.ts'),
      '#websocket': here('./client/websocket/node.ts'),
      '#outbox': here('./client/outbox/node.ts'),
    },
  },
  test: {
    // CONTRIBUTING.md says which command runs what.
    tags: [
      { name: 'long', description: 'Takes over 0.4 s: not in `npm run test:unit`.' },
      { name: 'slow', description: 'Takes some seconds: in `npm run test:all` only.' },
    ],
    // Tests wait for events. These bounds only end a wait that never ends, also on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 2,
    // Files of one worker share what they import: to load it again for each file takes longer than
    // many of the tests.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    setupFiles: ['test/support/equal-arrays.ts'],
    globalSetup: ['test/support/install-tools.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...systemTests, ...leftOut],
          globalSetup: ['test/support/generate-once.ts'],
          setupFiles: ['test/support/unit-only.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          // These tests wait more than they compute. They run after the unit tests.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          include: [...systemTests],
          exclude: leftOut,
          // Worker threads and the command cannot load TypeScript: they run from dist/, built once
          // first.
          globalSetup: ['test/support/build-once.ts'],
        },
      },
    ],
  },
});
