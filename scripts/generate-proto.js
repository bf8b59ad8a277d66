// Generates src/wire/generated from proto/keelson/v1/wire.proto: `npm run proto [-- FOLDER]`.
// The output is committed; test/wire/generated.test.ts generates it again and compares bytes.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'src/wire/generated'));
const schema = 'proto/keelson/v1/wire.proto';

// Static code only: the reflection build compiles with Function(), which a strict content security
// policy forbids. What the codec does not call is left out.
const shape = [
  '--target', 'static-module', '--wrap', 'esm', '--root', 'keelson',
  '--no-create', '--no-verify', '--no-convert', '--no-delimited', '--no-typeurl', '--no-service',
];

function run(tool, parameters) {
  return execFileSync(process.execPath, [join(root, 'node_modules/protobufjs-cli/bin', tool), ...parameters], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}

const banner = `// Generated from ${schema} by scripts/generate-proto.js. Do not edit.\n`;
const scratch = mkdtempSync(join(tmpdir(), 'keelson-proto-'));
try {
  // The declarations are read off the JSDoc comments, which the shipped code does without.
  const commented = join(scratch, 'wire.js');
  writeFileSync(commented, run('pbjs', [...shape, schema]));
  const declarations = run('pbts', ['--import', '$protobuf=protobufjs/minimal.js', '--no-comments', commented]);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'wire.js'), banner + run('pbjs', [...shape, '--no-comments', schema]));
  writeFileSync(join(folder, 'wire.d.ts'), banner + declarations);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
