// Generates src/numerics/kernels/generated: src/numerics/kernels/assembly as WebAssembly, in
// base64. Git tracks it, so that only a change of the kernels needs their compiler.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate, root } from './generated.js';
import { useTool } from './tool.js';

const source = 'src/numerics/kernels/assembly';
const inputs = [
  `${source}/index.ts`,
  ...readdirSync(join(root, source)).map((name) => `${source}/${name}`).sort(),
  'scripts/generate-kernels.js', 'tools/kernels/package-lock.json',
];

/** The text of module.ts. */
function moduleText() {
  useTool('kernels');
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-kernels-'));
  try {
    const binary = join(scratch, 'kernels.wasm');
    // No runtime: the kernels allocate nothing, the caller lays out the memory.
    const shape = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--noAssert'];
    execFileSync(process.execPath, [
      join(root, 'node_modules/assemblyscript/bin/asc.js'),
      `${source}/index.ts`, ...shape, '-o', binary,
    ], { cwd: root, stdio: 'inherit' });
    const lines = readFileSync(binary).toString('base64').match(/.{1,90}/g);
    return [
      '/** The kernels as WebAssembly, in base64: they load without a file or the network. */',
      'export const moduleText = [',
      ...lines.map((line) => `  '${line}',`),
      "].join('');",
      '',
    ].join('\n');
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/**
 * Brings `folder` up to date with the sources (1 ms if it is, 2 s if not, and some more where the
 * compiler is not installed). @returns whether files were written
 */
export function generateKernels(folder = join(root, 'src/numerics/kernels/generated')) {
  return generate(folder, ['module.ts'], inputs, () => ({ 'module.ts': moduleText() }));
}
