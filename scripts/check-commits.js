// Checks the subjects of commits: npm run check:commits. The hook .githooks/commit-msg runs it with
// --message FILE on the message that is being written.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { root } from './generated.js';

/** The last commit before this check. Older subjects are longer, and history stays as it is. */
const start = '8a0fc778291b1066fb1b4ecdf2dc3d06f7813b96';
const lengthMax = 72;
const commitsMax = 200;

const git = (...words) => {
  try {
    const stdio = ['ignore', 'pipe', 'ignore'];
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio }).trim();
  } catch {
    return null;
  }
};

function faultOf(subject) {
  if (subject === '') return 'it is empty: say what the commit does';
  if (subject.length > lengthMax) {
    return `it has ${subject.length} characters, more than ${lengthMax}: move the rest to the body`;
  }
  return subject.endsWith('.') ? 'it ends with a full stop: leave it out' : null;
}

/** Subjects since the last release or since `start`, whichever is later; at most the newest 200. */
function subjects() {
  const known = git('cat-file', '-e', `${start}^{commit}`) === null ? [] : [start];
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v*');
  const after = [...known, ...(release === null ? [] : [release])].map((name) => `^${name}`);
  const log = git('log', `-${commitsMax}`, '--no-merges', '--format=%h %s', 'HEAD', ...after);
  if (log === null) {
    console.log('subjects of commits: not checked, since git has no history here');
    return [];
  }
  return log.split('\n').filter((line) => line !== '').map((line) => {
    const space = line.indexOf(' ');
    return { name: `commit ${line.slice(0, space)}`, subject: line.slice(space + 1) };
  });
}

/** The first line that git keeps. It drops lines of comments. */
function subjectIn(file) {
  const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.trimEnd());
  return lines.find((line) => line !== '' && !line.startsWith('#')) ?? '';
}

const [option, file] = process.argv.slice(2);
const judged = option === '--message'
  ? [{ name: 'this commit', subject: subjectIn(file) }]
  : subjects();
const faults = judged.flatMap(({ name, subject }) => {
  const fault = faultOf(subject);
  return fault === null ? [] : [`the subject of ${name} is refused: ${fault}\n  ${subject}`];
});
for (const fault of faults) console.error(fault);
if (option === undefined) {
  console.log(`${judged.length} subjects of commits, ${faults.length} refused`);
}
process.exitCode = faults.length > 0 ? 1 : 0;
