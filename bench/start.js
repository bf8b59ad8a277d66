// The cost of starts: the published bundle beside the modules that it is made of, in turns. Figures
// are processor time of the process and its threads in ms, the best of all rounds, and its resident
// memory in MiB. Needs Linux.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { inTurns } from './harness/measure.js';
import { optionsOf } from './harness/options.js';
import { ownFolder, projectPath, statOf, usedBy } from './harness/processes.js';

const { rounds, tiny } = optionsOf('Processor time of starts: the bundle beside its modules.', {
  rounds: { usual: 4, tiny: 1, means: 'of which the best is shown' },
});
const dist = projectPath('dist');
const forms = { bundle: join(dist, 'bundle'), modules: dist };
const folder = ownFolder('start');
const table = join(folder, 'rows.csv');
writeFileSync(table, `a,b\n${Array.from({ length: 200 }, (_, row) =>
  `${(row % 17) / 4},${(row % 11) / 3}\n`).join('')}`);
const study = projectPath('studies/flights-mean.yaml');

/** The cost of a process and its threads until it ended. */
function spent(words) {
  const { processor, mebibytes } = usedBy(words);
  return { ms: 1000 * processor, mib: mebibytes };
}

/** The cost of `keelson serve` up to the moment when it listens. */
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
      const fields = statOf(`/proc/${child.pid}/stat`);
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
console.log(`${''.padEnd(34)}  bundle  modules   ratio`);
for (const { name, bar, barOfMemory, run } of cases) {
  const found = await inTurns(rounds, {
    bundle: () => run(forms.bundle), modules: () => run(forms.modules),
  });
  const best = (field) => Object.values(found).map((list) =>
    Math.min(...list.map((one) => one[field])));
  shown(name, best('ms'), bar);
  shown(`${name}, RSS`, best('mib'), barOfMemory);
}
