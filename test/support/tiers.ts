/**
 * Files whose tests need dist/, a thread, a process, a browser or many files on disk, as globs from
 * the root. All others are unit tests: they run without a build, and test/support/unit-only.ts lets
 * them start no thread and no process.
 */
export const systemTests: readonly string[] = [
  'test/{bench,browser,conform,dashboard,deploy,docs,e2e}/**/*.test.ts',
  'test/{fuzz,go,planted,python,simulation,store}/**/*.test.ts',
  'test/checks/threads.test.ts',
  'test/cli/{flights-command,messages,npy-table,process}.test.ts',
  'test/client/bundle.test.ts',
  'test/estimators/mean/{filters/filters,robust-mean/robust-mean}.test.ts',
  'test/listener/large-releases.test.ts', 'test/relations/live.test.ts',
  'test/numerics/kernels-{module,pool}.test.ts',
  'test/privacy/centre-threads.test.ts',
  'test/privacy/clipped-mean-threads.test.ts',
  'test/server/{aggregator,epoch-batching,epochs,remember,stand-back,taint}.test.ts',
  'test/server/{taint-operations,texts,tracing}.test.ts',
  'test/wire/generated.test.ts', 'test/wire/protobuf-browser.test.ts',
];

/**
 * Files with tests of minutes, the longest of each project first, as ends of their paths. The first
 * one collects garbage, which takes a second each time in a process that has run many files.
 */
export const longestTests: readonly string[] = [
  'test/questions/contribution-memory.test.ts',
  'test/server/sealed-crashes.test.ts', 'test/relations/estimators.test.ts',
  'test/promises/promises.test.ts', 'test/audit/audit.test.ts',
  'test/compliance/compliance.test.ts',
  'test/store/postgres-differential.test.ts', 'test/bench/tiny.test.ts',
  'test/e2e/postgres.test.ts', 'test/planted/planted.test.ts', 'test/e2e/package.test.ts',
  'test/e2e/sealed.test.ts', 'test/e2e/sealed-processes.test.ts',
  'test/docs/toy-estimator.test.ts', 'test/simulation/seeds.test.ts', 'test/docs/pages.test.ts',
  'test/store/postgres-releases.test.ts', 'test/e2e/kills.test.ts', 'test/e2e/crash.test.ts',
  'test/simulation/cluster.test.ts',
];
