import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { InvalidInputError } from '../../src/base/errors.js';
import { packageFile } from '../../server/base/place.js';
import type { PageFile } from './web.js';

const files = [
  ['/lab', 'lab.html', 'text/html'],
  ['/favicon.svg', 'favicon.svg', 'image/svg+xml'],
  ['/shell.css', 'shell.css', 'text/css'],
  ['/lab.css', 'lab.css', 'text/css'],
  ['/lab.js', 'lab.js', 'text/javascript'],
  ['/uplot.css', 'uplot.css', 'text/css'],
] as const;

/** The package has only the compressed form. */
const read = (name: string): Buffer =>
  gunzipSync(readFileSync(packageFile(`dist/dashboard/site/${name}.gz`)));

/** The lab's page. @throws InvalidInputError if it is not built. */
export function labFiles(): ReadonlyMap<string, PageFile> {
  return new Map(files.map(([path, name, type]) => {
    try {
      return [path, { type: `${type}; charset=utf-8`, body: read(name) }];
    } catch {
      throw new InvalidInputError('the laboratory\'s page is not built: run "npm run build", or '
        + 'play without it by --epochs');
    }
  }));
}
