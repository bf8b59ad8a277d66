import { populationsSchema, studySchema } from '../../dist/server/study-file/schema.js';
import { facetsOf, keysOf } from './facets.js';
import { code, generated, page, plain } from './markdown.js';

/** A value as written in a study file, on one line. */
export function yamlOf(value) {
  if (Array.isArray(value)) return `[${value.map(yamlOf).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([key, item]) => `${key}: ${yamlOf(item)}`);
    return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
  }
  if (typeof value === 'number' && value > 0 && value < 1e-3) return value.toExponential();
  // YAML would read digits as a number.
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? `"${value}"` : String(value);
}

/** A file from the examples of a schema's keys, but for those of another form of file. */
export function exampleOf(schema, others = []) {
  return Object.entries(facetsOf(schema).base.entries)
    .filter(([name]) => !others.includes(name))
    .map(([name, entry]) => `${name}: ${yamlOf(facetsOf(entry).example)}`).join('\n');
}

/** The section of one key. */
export function keyBlock({ path, about, rule, isOptional, default: value, otherwise, example }) {
  const absent = otherwise ?? (isOptional ? code(yamlOf(value)) : 'must be given');
  return [
    `### ${code(path)}`,
    plain(about),
    `- Value: ${plain(rule)}\n- When absent: ${absent}\n- Example: ${code(yamlOf(example))}`,
  ].join('\n\n');
}

const several = `questions:
  delays: { estimator: robust-mean, columns: [minutes], parameters: { spread: 40 }, part: 40 }
  regions: { estimator: count, by: { column: region, groupsMax: 2 } }
  late: { estimator: count, where: { late: true } }
`;

export function studyFilePage() {
  return page(
    generated,
    '# The study file',
    'A study file is YAML. It says what is asked, of whom, and how much privacy the answers may '
    + 'cost. Everything in it is public. Keys that it does not know are refused. `keelson init` '
    + 'writes a file to begin with, and `keelson plan FILE` checks one without data.',
    'An editor completes and checks the keys when the first line names the JSON Schema, as '
    + '`keelson init` writes it:',
    '```text\n# yaml-language-server: $schema=study-file.schema.json\n```',
    'Every key with an example, for a study of one question:',
    `\`\`\`yaml\n${exampleOf(studySchema, ['questions'])}\n\`\`\``,
    'A study of several questions has `questions` in place of `estimator` and `parameters`:',
    `\`\`\`yaml\n${several}\`\`\``,
    '## Keys',
    ...keysOf(studySchema).map(keyBlock),
    '## The populations file',
    'Several studies about the same people can share one budget. It stands in a file of its own, '
    + 'which the command takes with `--populations`.',
    `\`\`\`text\n${exampleOf(populationsSchema)}\n\`\`\``,
    ...keysOf(populationsSchema).map(keyBlock),
  );
}
