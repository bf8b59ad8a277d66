// `npm pack` ships pages that link to files which are not in the package. There these links lead
// nowhere, so only their text is packed, and pictures are left out:
//   node scripts/pack-pages.js before|after
// `before` keeps the pages as they are in dist/pages, and `after` puts them back.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './generated.js';

/** The pages as they were. A pack that was interrupted leaves them here. */
const kept = `${root}dist/pages/`;

/** The paths of the files that `npm pack` ships. */
export function packedPaths() {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const [{ files }] = JSON.parse(execFileSync('npm', words, {
    cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
  }));
  return files.map(({ path }) => path);
}

/**
 * A page with its links to packed files and to addresses. Of other links only the text is kept.
 * @param packed - paths of all packed files.
 */
export function withoutDeadLinks(page, text, packed) {
  const isDead = (link) => {
    if (/^([a-z]+:|#)/.test(link)) return false;
    const target = posix.join(posix.dirname(page), link.split('#')[0]).replace(/\/$/, '');
    return !packed.some((path) => path === target || path.startsWith(`${target}/`));
  };
  // In a block of code nothing is a link.
  return text.split(/(^```[^]*?^```$)/m).map((part, i) => (i % 2 === 1 ? part : part
    .replace(/<picture>[^]*?<\/picture>\n*/g, (picture) =>
      ([...picture.matchAll(/src(?:set)?="([^"]+)"/g)].some(([, link]) => isDead(link))
        ? '' : picture))
    .replace(/!\[[^\]]*\]\(([^)\s]+)\)\n*/g, (image, link) => (isDead(link) ? '' : image))
    .replace(/\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, words, link) => (isDead(link) ? words : whole))))
    .join('');
}

function putBack() {
  if (existsSync(kept)) cpSync(kept, root, { recursive: true });
  rmSync(kept, { recursive: true, force: true });
}

function takeLinksOut() {
  putBack();
  const packed = packedPaths();
  const changed = packed.filter((path) => path.endsWith('.md')).flatMap((page) => {
    const text = readFileSync(root + page, 'utf8');
    const without = withoutDeadLinks(page, text, packed);
    return without === text ? [] : [{ page, without }];
  });
  for (const { page } of changed) cpSync(root + page, kept + page);
  for (const { page, without } of changed) writeFileSync(root + page, without);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'before') takeLinksOut();
  else putBack();
}
