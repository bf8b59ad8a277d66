import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './generated.js';

/**
 * The packages whose code is in bundles.
 * @param metafiles as esbuild returns them.
 * @returns name, version, and the folder from the project's root, in the order of names.
 */
export function packagesIn(metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap((output) =>
      Object.entries(output.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => path)));
  const folders = new Set(inputs.flatMap((path) =>
    /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []));
  return [...folders].map((folder) => {
    const { name, version, license } =
      JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return { name, version, license, folder };
  }).sort((left, right) => (left.folder < right.folder ? -1 : 1));
}

/** Writes the licences of packages into the file NOTICE of a folder. */
export function writeNotice(packages, folder) {
  const texts = packages.map(({ name, version, license, folder: place }) => {
    const file = readdirSync(join(root, place)).find((each) => /^(licen[cs]e|copying)/i.test(each));
    const text = file === undefined ? `Licence: ${license}` : readFileSync(join(root, place, file), 'utf8');
    return `${name} ${version}\n\n${text.trim()}\n`;
  });
  const line = '-'.repeat(78);
  writeFileSync(join(folder, 'NOTICE'),
    `The bundles in this package hold code of these packages.\n\n${line}\n${texts.join(`\n${line}\n`)}`);
}
