import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    // The package's own import map points at the build; tests run the sources.
    alias: {
      '#signing': here('./src/signing/node.ts'),
      '#websocket': here('./client/websocket/node.ts'),
      '#outbox': here('./client/outbox/node.ts'),
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Worker threads and the command cannot load TypeScript: they run from dist/, built once first.
    globalSetup: ['test/support/build-once.ts'],
    // Tests wait for events. These bounds only end a wait that never ends, also on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
