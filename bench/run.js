// Every benchmark: `npm run bench:COMMAND -- CASE --option value`. Needs the build. Without a case
// the first one of the command runs; `--help` after a case lists its options, and `--tiny` is a run
// of seconds that only shows that it works.
import { pathToFileURL } from 'node:url';
import { projectPath } from './harness/processes.js';

/** By command, the script of each of its cases. README.md describes each measurement. */
export const commands = {
  start: { start: 'start.js' },
  people: { people: 'people.js' },
  rows: {
    mean: 'rows.js', prime: 'prime.js', duckdb: 'duckdb.js', kernels: 'kernels.js',
  },
  ingest: {
    rates: 'ingest.js', overload: 'overload.js', connections: 'connections.js', soak: 'soak.js',
  },
  cluster: { servers: 'cluster.js', store: 'store.js' },
  release: { latency: 'release.js', cost: 'release-cost.js' },
  accuracy: {
    means: 'accuracy/run.js', interval: 'intervals.js', mixtures: 'mixtures.js',
    stability: 'stability.js',
  },
  pages: {
    bars: 'real-data.js', 'real-tables': 'real-tables/run.js',
    'real-questions': 'real-questions.js', 'robust-by-group': 'robust-by-group.js',
    peers: 'peers/run.js', 'peers-questions': 'peers/questions.js',
  },
  groups: { page: 'groups/run.js', cost: 'groups/cost.js' },
  sealed: { cost: 'sealed.js', error: 'sealed-error.js' },
  dashboard: { dashboard: 'dashboard.js' },
  audit: { audit: 'audit.js' },
};

function end(text, status) {
  (status === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(status);
}

/** The script that is asked for, and the words after its case. */
function asked([name, ...words]) {
  if (!Object.hasOwn(commands, name ?? '')) {
    end(`bench:${name}: one of ${Object.keys(commands).join(', ')}`, 2);
  }
  const cases = commands[name];
  const names = Object.keys(cases);
  if (words[0] === '--help' && names.length > 1) {
    end(`npm run bench:${name} -- ${names.join(' | ')}, each with --help`, 0);
  }
  if (words[0] === undefined || words[0].startsWith('-')) return [cases[names[0]], words];
  if (Object.hasOwn(cases, words[0])) return [cases[words[0]], words.slice(1)];
  return end(`bench:${name} ${words[0]}: one of ${names.join(', ')}`, 2);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [script, words] = asked(process.argv.slice(2));
  // The script runs as if it had been started by itself: some start copies of themselves.
  process.argv = [process.argv[0], projectPath(`bench/${script}`), ...words];
  await import(pathToFileURL(process.argv[1]).href);
}
