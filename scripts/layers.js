// Draws the picture of the layers in ARCHITECTURE.md from the imports of the sources:
// `node scripts/layers.js` writes it, and test/tidy/layers.test.ts compares it.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const page = `${root}ARCHITECTURE.md`;
const folders = ['src', 'server', 'client', 'simulation', 'cli', 'dashboard'];
const between = /(<!-- layers -->\n)[^]*(<!-- \/layers -->)/;

/** A box of the picture: a folder of `src`, the files at its top, or another top folder. */
function boxOf(path) {
  const [top, second] = path.split('/');
  if (top !== 'src') return top;
  return second.endsWith('.ts') ? 'src/*.ts' : `src/${second}`;
}

/** The direct imports of the files of each box from other boxes. */
function importsOfBoxes() {
  const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], {
    cwd: root, encoding: 'utf8',
  });
  const boxes = new Map();
  for (const path of list.split('\n')) {
    if (!path.endsWith('.ts') || path.includes('/generated/')) continue;
    const box = boxOf(path);
    if (!boxes.has(box)) boxes.set(box, new Set());
    const text = readFileSync(root + path, 'utf8');
    for (const [, specifier] of text.matchAll(/(?:from|import\(?)\s*'(\.[^']+)'/g)) {
      const target = boxOf(posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'));
      if (target !== box) boxes.get(box).add(target);
    }
  }
  return boxes;
}

/** The imports that do not follow from others. Throws where boxes import each other in a ring. */
function reduced(boxes) {
  const reach = new Map();
  const reached = (box, above = []) => {
    if (above.includes(box)) throw new Error(`a ring of imports: ${[...above, box].join(' -> ')}`);
    if (!reach.has(box)) {
      const all = new Set();
      for (const next of boxes.get(box) ?? []) {
        all.add(next);
        for (const far of reached(next, [...above, box])) all.add(far);
      }
      reach.set(box, all);
    }
    return reach.get(box);
  };
  return new Map([...boxes].map(([box, direct]) => [
    box, [...direct].filter((one) => ![...direct].some((other) => reached(other).has(one))),
  ]));
}

/** The picture as Mermaid draws it, in the order of the layers: a box is above its imports. */
export function layersPicture() {
  const arrows = reduced(importsOfBoxes());
  const depth = (box) => 1 + Math.max(0, ...(arrows.get(box) ?? []).map(depth));
  const order = [...arrows.keys()].sort((one, other) =>
    depth(other) - depth(one) || (one < other ? -1 : 1));
  const id = (box) => box.replace('*.ts', 'top').replace(/\W/g, '-');
  const lines = order.flatMap((box) => {
    const below = arrows.get(box).sort();
    return [
      `  ${id(box)}["${box}"]`,
      ...below.length === 0 ? [] : [`  ${id(box)} --> ${below.map(id).join(' & ')}`],
    ];
  });
  return `\`\`\`mermaid\nflowchart TB\n${lines.join('\n')}\n\`\`\`\n`;
}

/** The page with the picture of these sources in it. */
export function withPicture(text) {
  return text.replace(between, (_, before, after) => before + layersPicture() + after);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(page, withPicture(readFileSync(page, 'utf8')));
}
