// Compiles src/numerics/kernels/assembly to WebAssembly and embeds the bytes: `npm run kernels [-- FOLDER]`.
// The output is committed; test/numerics/kernels-module.test.ts compiles again and compares.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'src/numerics/kernels/generated'));
const source = 'src/numerics/kernels/assembly';

const scratch = mkdtempSync(join(tmpdir(), 'keelson-kernels-'));
try {
  const binary = join(scratch, 'kernels.wasm');
  // No runtime: the kernels allocate nothing, the caller lays out the memory.
  const shape = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--noAssert'];
  execFileSync(process.execPath, [
    join(root, 'node_modules/assemblyscript/bin/asc.js'), `${source}/index.ts`, ...shape, '-o', binary,
  ], { cwd: root, stdio: 'inherit' });
  const lines = readFileSync(binary).toString('base64').match(/.{1,110}/g);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'module.ts'), [
    `// Generated from ${source} by scripts/generate-kernels.js. Do not edit.`,
    '/** The kernels as WebAssembly, in base64: no file and no network is needed to load them. */',
    'export const moduleText = [',
    ...lines.map((line) => `  '${line}',`),
    "].join('');",
    '',
  ].join('\n'));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
