// Lists the packages that Keelson needs at run time, as a CycloneDX bill of materials: those in its
// bundles, as the build noted them, and those that an installation brings. Needs the build.
// npm run sbom -- [FILE]: writes dist/sbom.cdx.json, or FILE. The same lock file gives the same
// bytes. Packages that may be absent, such as optional peers, are listed too.
// A licence that is not on the list below fails the run.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Licences under which a package may be distributed together with Keelson. */
const allowedLicences = new Set([
  'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0', 'Unlicense', '0BSD',
  'BlueOak-1.0.0',
]);

const file = process.argv[2] ?? 'dist/sbom.cdx.json';
const bill = JSON.parse(execFileSync(
  'npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'],
  { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
));
const { name: ownName, dependencies: direct } = JSON.parse(readFileSync('package.json', 'utf8'));
// With --omit dev npm also leaves out packages that something of the tests needs too, such as ws.
const needed = neededAtRunTime();
bill.components = bill.components.filter((each) => needed.has(each['bom-ref']));
bill.dependencies = bill.dependencies.filter(({ ref }) => needed.has(ref))
  .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((ref) => needed.has(ref)) }));
// npm stamps each bill with the time and a random number, and names the root after its folder.
delete bill.serialNumber;
delete bill.metadata.timestamp;
bill.metadata.component.name = ownName;
bill.components.sort((left, right) => (left['bom-ref'] < right['bom-ref'] ? -1 : 1));

const refused = bill.components.filter((each) => !isAllowed(each))
  .map((each) => `${each['bom-ref']}: ${licenceOf(each) ?? 'no licence'}`);
if (refused.length > 0) {
  console.error(`licences that are not on the list in scripts/sbom.js:\n${refused.join('\n')}`);
  process.exit(1);
}
writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
console.log(`${bill.components.length} packages, all under allowed licences: ${file}`);

/** References to the package itself, to what is in its bundles, and to all it depends on. */
function neededAtRunTime() {
  const root = bill.metadata.component['bom-ref'];
  const below = new Map(bill.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const found = new Set([root]);
  const waiting = below.get(root).filter((ref) => ref.slice(0, ref.lastIndexOf('@')) in direct);
  while (waiting.length > 0) {
    const ref = waiting.pop();
    if (!found.has(ref)) waiting.push(...(below.get(ref) ?? []));
    found.add(ref);
  }
  // A bundled package is listed for itself: what it needed of others is in the bundles too.
  const bundled = new Set(JSON.parse(readFileSync('dist/bundle/packages.json', 'utf8'))
    .map(({ name, version }) => `${name}@${version}`));
  for (const { 'bom-ref': ref } of bill.components) if (bundled.has(ref)) found.add(ref);
  return found;
}

function licenceOf({ licenses = [] }) {
  const [first] = licenses;
  return first?.license?.id ?? first?.license?.name ?? first?.expression;
}

/** One licence of an "or" is enough; all of an "and" are needed. */
function isAllowed(component) {
  const words = licenceOf(component)?.replaceAll(/[()]/g, '');
  return words !== undefined && words.split(' OR ')
    .some((choice) => choice.split(' AND ').every((each) => allowedLicences.has(each)));
}
