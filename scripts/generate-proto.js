// Generates src/wire/generated, the code that reads and writes the messages of
// proto/keelson/v1/wire.proto.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate, root } from './generated.js';

const schema = 'proto/keelson/v1/wire.proto';
const inputs = [
  schema, 'scripts/generate-proto.js', 'scripts/generated.js',
  'node_modules/protobufjs-cli/package.json', 'node_modules/protobufjs/package.json',
];

// Bundlers keep every static method of a message that is used. So what a contributor's page writes
// and reads has files of its own (a contributor reads its own batches again, to sign them for a
// later epoch). Each function is in one file only.
const outputs = {
  'contributor-writer': { messages: ['ClientFrame', 'BatchBody'], flags: ['--no-decode'] },
  'contributor-reader': { messages: ['ServerFrame', 'BatchBody'], flags: ['--no-encode'] },
  'other-writer': { messages: ['ServerFrame', 'ReleaseBody', 'HeadBody'], flags: ['--no-decode'] },
  'other-reader': { messages: ['ClientFrame', 'ReleaseBody', 'HeadBody'], flags: ['--no-encode'] },
};

// Static code only: the reflection build compiles with Function(), which a strict content security
// policy forbids. What the codec does not call is left out.
const shape = [
  '--target', 'static-module', '--wrap', 'esm',
  '--no-create', '--no-verify', '--no-convert', '--no-delimited', '--no-typeurl', '--no-service',
];

function run(tool, parameters) {
  const path = join(root, 'node_modules/protobufjs-cli/bin', tool);
  return execFileSync(process.execPath, [path, ...parameters], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
}

/**
 * The schema with only these messages and the types of their fields: pbjs can only filter whole
 * packages.
 */
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
 * Removes the code that keeps unknown fields and writes them again. keelson.v1 is closed, and its
 * reader throws at the first unknown field. This saves 170 bytes in a page for contributors.
 */
function closed(code) {
  const rest = code
    .replace(/\n +if \(message\.\$unknowns != null[^\n]*\n[^\n]*\n[^\n]*writer\.raw\([^\n]*/g, '')
    .replace(/\n +if \(!reader\.discardUnknown\) \{\n[^}]*\}/g, '');
  if (rest.includes('$unknowns')) {
    throw new Error('pbjs writes unknown fields in another way: look at closed() again');
  }
  return rest;
}

/**
 * Removes the constructors that copy properties: messages are read, or written from plain objects.
 * This saves 180 bytes.
 */
function unconstructed(code) {
  return code
    .replace(/\n +if \(properties\)\n[^\n]*\n[^\n]*\n[^\n]*;(?=\n +\};)/g, '')
    .replace(/function \(properties\)/g, 'function ()');
}

/** The code and the declarations of every output, by file name. */
function texts() {
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-proto-'));
  const made = {};
  try {
    const descriptor = run('pbjs', ['--target', 'json', schema]);
    for (const [name, { messages, flags }] of Object.entries(outputs)) {
      const part = join(scratch, `${name}.json`);
      writeFileSync(part, JSON.stringify(reduced(JSON.parse(descriptor), messages)));
      // Each output has its own root. Otherwise the generated files would replace each other's
      // messages.
      const parameters = [...shape, ...flags, '--root', `keelson-${name}`];
      // pbts reads the declarations from the JSDoc comments. The shipped code has none.
      const commented = join(scratch, `${name}.js`);
      writeFileSync(commented, run('pbjs', [...parameters, part]));
      const declarations = run('pbts', [
        '--import', '$protobuf=protobufjs/minimal.js', '--no-comments', commented,
      ]);
      const code = run('pbjs', [...parameters, '--no-comments', part]);
      made[`${name}.js`] = unconstructed(closed(code));
      made[`${name}.d.ts`] = declarations.replace(/constructor\([^)]*\)/g, 'constructor()');
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return made;
}

/**
 * Brings `folder` up to date with the schema (1 ms if it is, 5 s if not). @returns whether files
 * were written
 */
export function generateProto(folder = join(root, 'src/wire/generated')) {
  const names = Object.keys(outputs).flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
  return generate(folder, names, inputs, texts);
}
