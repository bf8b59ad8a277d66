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

// One file for each direction of each side, and one for what is published, so that a page that only contributes loads
// neither how a server reads and writes nor how releases are read: static methods are not shaken off by bundlers.
const outputs = {
  'client-writer': { messages: ['ClientFrame'], flags: ['--no-decode'] },
  'client-reader': { messages: ['ClientFrame'], flags: ['--no-encode'] },
  'server-writer': { messages: ['ServerFrame'], flags: ['--no-decode'] },
  'server-reader': { messages: ['ServerFrame'], flags: ['--no-encode'] },
  batches: { messages: ['BatchBody'], flags: [] },
  logs: { messages: ['ReleaseBody', 'HeadBody'], flags: [] },
};

// Static code only: the reflection build compiles with Function(), which a strict content security
// policy forbids. What the codec does not call is left out.
const shape = [
  '--target', 'static-module', '--wrap', 'esm',
  '--no-create', '--no-verify', '--no-convert', '--no-delimited', '--no-typeurl', '--no-service',
];

function run(tool, parameters) {
  return execFileSync(process.execPath, [join(root, 'node_modules/protobufjs-cli/bin', tool), ...parameters], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}

/** The schema with these messages and what their fields are made of, and nothing else: pbjs filters top packages only. */
function reduced(descriptor, messages) {
  const { nested } = descriptor.nested.keelson.nested.v1;
  const kept = new Set();
  const keep = (name) => {
    if (!(name in nested) || kept.has(name)) return;
    kept.add(name);
    for (const { type } of Object.values(nested[name].fields ?? {})) keep(type);
  };
  for (const name of messages) {
    if (!(name in nested)) throw new Error(`${schema} has no message ${name}`);
    keep(name);
  }
  for (const name of Object.keys(nested)) if (!kept.has(name)) delete nested[name];
  return descriptor;
}

/**
 * Without what keeps unknown fields and writes them again: keelson.v1 is closed, and its reader throws at the first one.
 * A page that contributes loads 170 bytes less.
 */
function closed(code) {
  const rest = code
    .replace(/\n +if \(message\.\$unknowns != null[^\n]*\n[^\n]*\n[^\n]*writer\.raw\([^\n]*/g, '')
    .replace(/\n +if \(!reader\.discardUnknown\) \{\n[^}]*\}/g, '');
  if (rest.includes('$unknowns')) throw new Error('pbjs writes unknown fields in another way: look at closed() again');
  return rest;
}

/** Without constructors that copy properties: messages are read, or written from plain objects; 180 bytes less. */
function unconstructed(code) {
  return code
    .replace(/\n +if \(properties\)\n[^\n]*\n[^\n]*\n[^\n]*;(?=\n +\};)/g, '')
    .replace(/function \(properties\)/g, 'function ()');
}

const banner = `// Generated from ${schema} by scripts/generate-proto.js. Do not edit.\n`;
const scratch = mkdtempSync(join(tmpdir(), 'keelson-proto-'));
try {
  mkdirSync(folder, { recursive: true });
  const descriptor = run('pbjs', ['--target', 'json', schema]);
  for (const [name, { messages, flags }] of Object.entries(outputs)) {
    const part = join(scratch, `${name}.json`);
    writeFileSync(part, JSON.stringify(reduced(JSON.parse(descriptor), messages)));
    // A root of its own: the generated files would otherwise replace each other's messages.
    const parameters = [...shape, ...flags, '--root', `keelson-${name}`];
    // The declarations are read off the JSDoc comments, which the shipped code does without.
    const commented = join(scratch, `${name}.js`);
    writeFileSync(commented, run('pbjs', [...parameters, part]));
    const declarations = run('pbts', ['--import', '$protobuf=protobufjs/minimal.js', '--no-comments', commented]);
    writeFileSync(join(folder, `${name}.js`), banner + unconstructed(closed(run('pbjs', [...parameters, '--no-comments', part]))));
    writeFileSync(join(folder, `${name}.d.ts`), banner + declarations.replace(/constructor\([^)]*\)/g, 'constructor()'));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
