// Counts known holes of grade high or worse in the shipped packages, from the report of `npm audit
// --json` on standard input about all packages: in those that an installation brings, and in those
// in the bundle. Ends with status 1 if there are some. A registry that cannot be reached is
// reported, and is no failure.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './generated.js';

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const bundled = new Set(read('dist/bundle/packages.json')
  .map(({ name, version }) => `${name}@${version}`));
const { packages: locked } = read('package-lock.json');

/** True if a package of the lock file reaches those who install Keelson. */
function isShipped(folder) {
  const { version, dev } = locked[folder] ?? {};
  return bundled.has(`${folder.replace(/^.*node_modules\//, '')}@${version}`) || dev !== true;
}

let found;
try {
  found = Object.values(JSON.parse(readFileSync(0, 'utf8')).vulnerabilities);
} catch {
  console.log('audit of dependencies: the registry could not be asked');
  process.exit(0);
}
const grave = found.filter(({ severity, nodes }) =>
  ['high', 'critical'].includes(severity) && nodes.some(isShipped));
for (const { name, severity } of grave) console.log(`${name}: ${severity}`);
console.log(`audit of dependencies: ${grave.length} of grade high or worse in what is shipped`);
process.exitCode = grave.length > 0 ? 1 : 0;
