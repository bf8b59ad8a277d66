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
  'once-writer': { messages: ['Once'], flags: ['--no-decode'] },
  'other-writer': { messages: ['ServerFrame', 'ReleaseBody', 'HeadBody'], flags: ['--no-decode'] },
  'other-reader': {
    messages: ['ClientFrame', 'Once', 'ReleaseBody', 'HeadBody'], flags: ['--no-encode'],
  },
  'peer-writer': { messages: ['PeerFrame'], flags: ['--no-decode'] },
  'peer-reader': { messages: ['PeerFrame'], flags: ['--no-encode'] },
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

/**
 * Removes what the codec does not need: the names of enum values (it has its own), the ends of
 * groups (its reader throws at one), the removal of fields that have their default (it reads the
 * default either way), the search for inherited fields (it writes plain objects), and the limit of
 * depth (no message can hold itself). Lists are made by the constructor, messages name each other
 * without the path from the root, and globals have their own names. This saves 2,300 bytes.
 */
function plainer(code) {
  const rest = code
    .replace(/\n +v1\.\w+ = \(function\(\) \{\n +const valuesById = [\s\S]*?\n +\}\)\(\);\n/g, '')
    .replace(/\n +if \(tag === _end\) \{[^}]*\}/g, '')
    .replace(/\n +let start = reader\.pos;/g, '')
    .replace(/\n +if \(_end !== \$undefined\)\n[^\n]*/g, '')
    .replace(
      /\n( +)if \([^\n]*value = (reader\.\w+\(\))[^\n]*\n +message\.(\w+) = value;\n +else\n[^\n]*/g,
      '\n$1message.$3 = $2;',
    )
    .replace(/\n +if \(_depth === \$undefined\)\n[^\n]*\n[^\n]*recursionLimit\)\n[^\n]*/g, '')
    .replace(/\n +if \(!\(reader instanceof \$Reader\)\)\n[^\n]*/g, '')
    .replace(/\n +if \(!\(message\.(\w+) && message\.\1\.length\)\)\n[^\n]*/g, '')
    .replace(/\n +\w+\.prototype\.\w+ = \$util\.emptyArray;/g, '')
    .replace(/(, \$undefined)?, _depth \+ 1/g, '')
    .replace(/(, _end)?, _depth(?=[,)])/g, '')
    .replace(/let end, message, value;/g, 'let end, message;')
    .replace(/skipType\([^)]*\)/g, 'skipType()')
    .replace(/\$util\.Long \? (\$util\.Long\.fromBits\(0,0,true\)) : 0/g, '$1')
    .replace(/ && \$Object\.hasOwnProperty\.call\(message, "\w+"\)/g, '')
    .replace(/\$root\.keelson\.v1\./g, 'v1.')
    .replace(/\nconst \$\w+ = \$util\.global[^\n]*/, '')
    .replace(/\$(undefined|Error|RangeError|Object)\b/g, '$1');
  if (/valuesById|tag === _end|_end !==|delete message|hasOwnProperty|recursionLimit/.test(rest)) {
    throw new Error('pbjs writes enums or groups in another way: look at plainer() again');
  }
  return rest;
}

/**
 * The library that the generated code imports on Node: the parts of protobufjs that it uses. Its
 * entry also loads services and writers for Node's buffers.
 */
const library = {
  'protobuf.js': `// Generated by scripts/build.js. Do not edit.
import Reader from 'protobufjs/src/reader.js';
import Writer from 'protobufjs/src/writer.js';
import util from 'protobufjs/src/util/minimal.js';

// As the library's own entry does it, but without the variants for Node's buffers.
const none = { _configure() {} };
util.LongBits._configure(util.Long);
Reader._configure(none);
Writer._configure(none);
Writer.create = () => new Writer();
export default { Reader, Writer, util, roots: {} };
`,
  'protobuf.d.ts': "export { default } from 'protobufjs/minimal.js';\n",
};

/** The code and the declarations of every output, by file name. */
function texts() {
  const scratch = mkdtempSync(join(tmpdir(), 'keelson-proto-'));
  const made = { ...library };
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
      const short = plainer(unconstructed(closed(code)))
        .replace('"protobufjs/minimal.js"', '"#protobuf"');
      // Nobody reads a message that is written.
      made[`${name}.js`] = flags.includes('--no-decode')
        ? short.replace(/\n +\w+\.prototype\.\w+ = [^\n]*/g, '')
          .replace(/\n +let \$oneOfFields;\n/g, '')
          .replace(/\n +Object\.defineProperty\([^;]*;/g, '')
          .replace(/ = function \(\) \{\s*\};/g, ' = {};')
        : short;
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
  const names = ['protobuf', ...Object.keys(outputs)]
    .flatMap((name) => [`${name}.js`, `${name}.d.ts`]);
  return generate(folder, names, inputs, texts);
}
