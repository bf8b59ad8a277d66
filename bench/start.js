// What starts cost: the bundle that is published beside the modules that it is made of, in turns.
// npm run bench:start [-- --rounds 4]. Figures are processor time of the process and its threads in
// ms, the best of all rounds, and its resident memory in MiB. Needs the build, and Linux.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { optionsOf } from './options.js';

const { rounds, tiny } = optionsOf('Processor time of starts: the bundle beside its modules.', {
  rounds: { usual: 4, tiny: 1, means: 'of which the best is shown' },
});
const dist = fileURLToPath(new URL('../dist/', import.meta.url));
const forms = [join(dist, 'bundle'), dist];
const folder = mkdtempSync(join(tmpdir(), 'keelson-start-'));
const table = join(folder, 'rows.csv');
writeFileSync(table, `a,b\n${Array.from({ length: 200 }, (_, row) =>
  `${(row % 17) / 4},${(row % 11) / 3}\n`).join('')}`);
const study = fileURLToPath(new URL('../studies/flights-mean.yaml', import.meta.url));

/** What a process and its threads cost until it ended. */
function spent(words) {
  const watched = `process.on('exit', () => { const { user, system } = process.cpuUsage();
    process.stderr.write('\\nspent ' + (user + system) / 1000 + ' '
      + process.resourceUsage().maxRSS / 1024); })`;
  const { status, stderr } = spawnSync(process.execPath, [
    '--import', `data:text/javascript,${encodeURIComponent(watched)}`, ...words,
  ], { encoding: 'utf8' });
  const found = /\nspent (\S+) (\S+)$/.exec(stderr);
  if (status !== 0 || found === null) throw new Error(`${words.join(' ')}: ${stderr}`);
  return { ms: Number(found[1]), mib: Number(found[2]) };
}

/** What `keelson serve` has cost when it listens. */
async function served(form) {
  const data = mkdtempSync(join(folder, 'data-'));
  const child = spawn(process.execPath, [
    join(form, 'cli/main.js'), 'serve', study, '--data', data, '--port', '0', '--json',
    '--log-level', 'error',
  ], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => { child.once('close', resolve); });
  try {
    for await (const line of createInterface(child.stdout)) {
      if (JSON.parse(line).type !== 'listening') continue;
      const [, , ...fields] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(/\) | /);
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      // Fields 14 and 15, in hundredths of a second.
      return {
        ms: 10 * (Number(fields[11]) + Number(fields[12])),
        mib: Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) / 1024,
      };
    }
    throw new Error('keelson serve ended before it listened');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

const command = (...words) => (form) => spent([join(form, 'cli/main.js'), ...words]);
const imported = (entry) => (form) =>
  spent(['-e', `import(${JSON.stringify(pathToFileURL(join(form, entry)).href)})`]);
/** Bars are ratios of the bundle to the modules. */
const cases = [
  { name: 'estimators', run: command('estimators') },
  {
    name: 'estimate count, 200 rows', bar: 0.45,
    run: command('estimate', 'count', table, '--epsilon', '1', '--delta', '1e-6'),
  },
  { name: 'import of the library', run: imported('src/index.js') },
  { name: 'import of the server', bar: 0.4, run: imported('server/index.js') },
  { name: 'import of client/contribute', run: imported('client/contribute.js') },
  { name: 'serve until it listens', bar: 0.5, barOfMemory: 0.75, run: served },
];

const shown = (label, [ours, theirs], bar) => {
  const ratio = ours / theirs;
  const judged = bar === undefined || tiny ? ''
    : ratio <= bar ? `  met: at most ${bar}` : `  missed: at most ${bar}`;
  console.log(`${label.padEnd(34)}${ours.toFixed(0).padStart(8)}${theirs.toFixed(0).padStart(9)}`
    + `${ratio.toFixed(2).padStart(8)}${judged}`);
};
try {
  console.log(`${''.padEnd(34)}  bundle  modules   ratio`);
  for (const { name, bar, barOfMemory, run } of cases) {
    const best = forms.map(() => ({ ms: Infinity, mib: Infinity }));
    for (let round = 0; round < rounds; round++) {
      for (const [i, form] of forms.entries()) {
        const { ms, mib } = await run(form);
        best[i] = { ms: Math.min(best[i].ms, ms), mib: Math.min(best[i].mib, mib) };
      }
    }
    shown(name, best.map(({ ms }) => ms), bar);
    shown(`${name}, RSS`, best.map(({ mib }) => mib), barOfMemory);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
