/** How a benchmark or script is run in seconds, and what it then prints. */
export interface TinyRun {
  /** Command and case of a benchmark. It is run with `--tiny`. */
  readonly bench?: string;
  /** A script, from the project's root. Its `words` are `--tiny` where there are none. */
  readonly file?: string;
  /** FOLDER stands for a folder of the test. */
  readonly words?: readonly string[];
  /** Where it is missing, the run is skipped. */
  readonly needs?: 'chromium' | 'postgres';
  /** Default 0. */
  readonly status?: number;
  /** Each fits some line of what it prints. */
  readonly lines: readonly RegExp[];
}

/** Every benchmark and script of the project that is run here, each by its own row. */
export const tinyRuns: readonly TinyRun[] = [
  {
    bench: 'accuracy means',
    lines: [/^attack +.*robust-mean/, /^none +/, /^coordinate +/, /^moved +/],
  },
  { bench: 'audit audit', lines: [
    /^\| estimator \|/, /^\| count \| 1 \| 1\.\d+ \| \d\.\d+ \|/,
    /^\| count, by key \| 1 \| 1\.\d+ \| \d\.\d+ \|/,
    /^\| count, keys that nobody listed \| 1 \| 1\.\d+ \| \d\.\d+ \|/,
  ] },
  {
    bench: 'cluster servers', needs: 'postgres',
    lines: [
      /^two servers +\d+ \(/, /^4 KiB, one server \/ SQLite: \d/, /^SQLite: \d+ closes, p50 \d/,
      /^two servers: \d+ closes, p50 \d/, /^1 leaders killed, .* next epoch after \d/, /^0 lost$/,
      /^reading back: \d+ a second, \d+ us/, /^on disk: \d+ bytes of journal/,
    ],
  },
  {
    bench: 'ingest connections',
    lines: [
      /^connected: rss \d+ to \d+ MiB/, /batches\/s: ack p50 \d+/, /^met +60 connections/,
      /^met +nothing lost/,
    ],
  },
  {
    bench: 'dashboard dashboard', words: ['--only', 'subscribers'],
    lines: [/^alone +\d/, /^withDashboards +\d/, /^processor /],
  },
  {
    bench: 'dashboard dashboard', words: ['--only', 'page,memory'], needs: 'chromium',
    lines: [/^firstLoadBytes +\d/, /^redrawMs +\d/, /^growth /],
  },
  {
    bench: 'ingest rates',
    lines: [
      /^accepted per second( +\d+){4}$/, /^contributors; replay rows( +64; 2000){4}$/,
      /^ceiling: digest and verify\/s/, /^met +4x2: every ack after/, /^met +4x2t: every ack/,
      /^met +4x2h: every ack/,
    ],
  },
  { bench: 'rows kernels', lines: [
    /^eigenvectors, d = 20 +\d/, /^exponential, d = 20 +\d/, /^X\^T X, n = 2000, .* 2 threads +\d/,
  ] },
  { bench: 'accuracy mixtures', lines: [/^line: one, 100000: 1 of 1 within 0\.15;/] },
  {
    bench: 'ingest overload',
    lines: [/^peak +at will +\d+/, /^overload +\d+ +\d+/, /acknowledged, 0 waiting, 0 lost/],
  },
  {
    bench: 'rows duckdb',
    lines: [/^csv +count +\d/, /^ndjson +median +\d/, /^parquet +groups +\d/],
  },
  {
    bench: 'people people',
    lines: [
      /^WebSocket +\d+ +\d+$/, /^once +\d+ +\d+$/, / once \/ WebSocket, main thread +\d\.\d\d /,
    ],
  },
  { bench: 'rows mean', lines: [/ spread 1: \d/, / spread auto: \d/] },
  { bench: 'rows prime', lines: [/ 4 +given +\d/, / 4 +auto +\d/] },
  {
    // The figures are there where python3 has numpy.
    bench: 'pages peers',
    lines: [/^mean, lognormal, d = 2, n = 5000;|^peers are left out: /],
  },
  {
    bench: 'pages peers-questions',
    lines: [
      /^\| count \| Keelson \| \d/, /^\| median \| Keelson, told nothing \| 0\.\d+ \|/,
      /^\| count \| OpenDP, discrete Laplace \(formula\) \| 1\.36 \|/,
    ],
  },
  {
    // The bars of CoinPress are there where python3 has numpy.
    bench: 'pages bars', words: ['--page', 'FOLDER/bars.md'],
    lines: [
      /^every run is there$/, /^bar 1, refused releases of clean rows: \d+ of 28 cells; worst /,
      /^bar 3, .*: \d+ of 20 cells; /, /^bar 5, /,
      /^bar 6, small cohorts .*: \d of 6 cells; |^CoinPress is left out: /,
      /^bar 7, .* of skewed rows .*: \d+ of 7 cells; /,
    ],
  },
  {
    bench: 'pages real-tables',
    lines: [/^every run is there$/, /^\| mean \| \d+ \|/, /^\| quantile \| 69 \| 0 \| 0 \|/],
  },
  {
    bench: 'release latency',
    // On a busy machine an epoch may close before its crowd is whole.
    lines: [/^releases: [1-9]\d*, .*value/, /^idle: +p50 \d/, / p99 while releasing is /],
  },
  {
    bench: 'release cost',
    lines: [
      /^count, normal +2000 x 1 +\d.* s x \d+\.\d\d, \d+ to \d+ MiB x \d/, /^\d of 1 take at most 1\.5 /,
    ],
  },
  {
    bench: 'pages real-questions',
    lines: [/^\| days: count by city and sky \| 10 of 10 \|/, /^\| medians \| Seattle at 0\.5 \|/],
  },
  {
    bench: 'pages robust-by-group',
    lines: [/^\| plain sum over plain count \| 1 \|/, /^\| Keelson `robust-mean` .* nobody lies /],
  },
  {
    bench: 'groups page',
    lines: [
      /^\| 1 \| 1 \| 35 \(6\.6\) \| 27 \|/, /^\| 4 \| 4 \| \d+ \(\d\.\d\) \| \d+ \|/,
      /^\| `sum` \| 10 % \| `heavy-hitter-poisoning` \|/, /^\| 45 \| 100 % \| 100 % \| 0 of \d+ \|$/,
    ],
  },
  {
    bench: 'groups cost',
    lines: [
      /estimate, 3000 rows, listed texts, by person +\d/, /20000 distinct keys counted +\d/,
      /planning of 16 questions +\d/, /release of 200 keys +\d/,
    ],
  },
  { bench: 'sealed cost', lines: [
    /^ +300 +dense +0 ms +no +\d+ to \d+ +\d+ /, /^ +300 +dense +2 ms +yes +\d/,
    /^entry: 584 bytes, sealed in \d/,
  ] },
  { bench: 'sealed error', lines: [/^none +0\.\d+ /, /^dense +0\.\d+ /, /^all attacks +0/] },
  {
    bench: 'ingest soak',
    lines: [/^met +nothing lost: \d+ acked, 0 waiting/, /^met +releases went on: [1-9]/],
  },
  {
    bench: 'accuracy interval',
    lines: [
      /^ +10000 +normal +answered 1\.000 +rms 0\.\d+ +held /,
      /^10000: held over all .* \(tiny\)$/,
    ],
  },
  {
    bench: 'accuracy interval', words: ['--question', 'total', '--set', 'real'],
    lines: [/^ +10000 +weather: precipitation +answered 1\.000 /, /^10000: held over all /],
  },
  {
    bench: 'accuracy stability',
    lines: [/^400 pairs, climbing/, /^nearly one line, bound 0\.25 +\d+ passes of \d+ at most/],
  },
  {
    bench: 'start start',
    lines: [
      /^estimate count, 200 rows +\d+ +\d+ +\d\.\d\d/, /^import of the server +\d/,
      /^serve until it listens, RSS +\d/,
    ],
  },
  {
    bench: 'cluster store',
    lines: [
      /^filled 5000 replay rows/, /^SQLite, 65536 B, 256 in flight: \d+ batches\/s/,
      /^SQLite: \d+ MB/,
    ],
  },
  {
    file: 'scripts/sbom.js', words: ['FOLDER/sbom.json'],
    lines: [/^\d+ packages, all under allowed licences: /],
  },
  {
    file: 'scripts/check-exact.js',
    lines: [
      /^threshold: \d+ pairs, 0 faults$/,
      /^1 Gaussian, sigma 2, grid 1: epsilon 2\.\d+, 0 faults$/,
      /^budget of contributor, renews: 16 schedules, 0 faults$/,
      /^count: \d+ of \d+ pairs, [1-9]\d* larger, \d+ calls, [1-9]\d* answers, 0 faults$/,
      /^count, keys that nobody listed: \d+ of \d+ pairs, \d+ larger, [1-9]\d* calls, /,
      /^0 faults$/,
    ],
  },
  { file: 'scripts/check-commits.js', words: [], lines: [/^\d+ subjects of commits, 0 refused/] },
  {
    file: 'scripts/crash.js', words: ['--kills', '1', '--people', '5'],
    lines: [/^1 kills: \d+ acknowledged/],
  },
  {
    file: 'scripts/crash-cluster.js', needs: 'postgres',
    words: ['--kills', '1', '--database-kills', '0', '--cuts', '0', '--freezes', '0',
      '--slices', '1', '--people', '9', '--lease', '2'],
    lines: [/^\d+ acknowledged: 0 lost, 0 twice, 0 other faults/, /^1 leaders killed/],
  },
  {
    file: 'scripts/promises.js', words: ['--tiny', 'FOLDER/promises.md'],
    lines: [/^[1-9]\d* rows measured, 0 not as the table says$/],
  },
  {
    file: 'scripts/adaptive-liars.js', words: ['--tiny', 'FOLDER/liars.md'],
    lines: [/^0 attacks make intervals false$/],
  },
  {
    file: 'scripts/real-means.js', words: ['--tiny', 'FOLDER/means.md'],
    lines: [/^0 tables are not answered as they must be$/],
  },
  {
    file: 'scripts/decision-table.js', words: ['FOLDER/page.md'],
    lines: [/^wrote the table of decisions to /],
  },
  {
    file: 'scripts/differential.js', needs: 'postgres', words: ['--sequences', '6'],
    lines: [/^6 sequences in \d+ s: 0 differences$/],
  },
  {
    file: 'scripts/extract-flights.js', words: ['FOLDER/flights.bin.br'],
    lines: [/^231083 flights, \d+ bytes/],
  },
  {
    file: 'scripts/fuzz.js', words: ['frames', '--frames', '300'],
    lines: [/Z, \d{3} frames, /, /^ack +\d+/],
  },
  { file: 'scripts/fuzz.js', words: ['files', '--files', '300'], lines: [/Z, 3\d\d files, /] },
  {
    file: 'scripts/gallery.js', words: ['FOLDER/gallery', 'list-none'], needs: 'chromium',
    lines: [/^list-none$/],
  },
  {
    file: 'scripts/mutations.js',
    lines: [/^quantile, scores of half the sensitivity: exact check, /, /^1 mistakes, 0 not seen$/],
  },
  {
    file: 'scripts/power-loss.js', words: ['--help'], status: 2,
    lines: [/^power-loss \[--seconds N\]/],
  },
  {
    file: 'scripts/screenshots.js', words: ['FOLDER/screenshots', 'survey'], needs: 'chromium',
    lines: [],
  },
  {
    file: 'scripts/simulate.js', words: ['--seed', '1', '--steps', '60'],
    lines: [/"failure": null/, /"steps": \d+/],
  },
  { file: 'scripts/test.js', words: ['test/base/text-form.test.ts'], lines: [/Tests .*passed/] },
];

/**
 * Scripts that other tests run: by file, the test whose text names it, or the tests that it runs
 * itself.
 */
export const runElsewhere: Readonly<Record<string, string>> = {
  'scripts/api-report.js': 'test/e2e/api-report.test.ts',
  'scripts/audit.js': 'test/e2e/bundle.test.ts',
  'scripts/build.js': 'test/support/build-once.ts',
  'scripts/deb.js': 'test/docs/service.test.ts',
  'scripts/image.js': 'test/deploy/image.test.ts',
  'scripts/layers.js': 'test/tidy/layers.test.ts',
  'scripts/prepare.js': 'test/e2e/prepare.test.ts',
  'scripts/lab-table.js': 'test/lab/table.test.ts',
  'scripts/pack-pages.js': 'test/docs/packed-links.test.ts',
  'scripts/tool.js': 'test/e2e/prepare.test.ts',
  'scripts/test-planted.js': 'test/planted',
  'scripts/test-postgres.js': 'test/store/postgres-server.test.ts',
};
