// The command line of every benchmark: `--name value` for each of its options, `--tiny`, `--help`.
import { parseArgs } from 'node:util';

/**
 * Reads a benchmark's options. Ends the process with status 2 and a reason if the command line is
 * wrong.
 * @param usage one line: what the benchmark measures.
 * @param spec by name: `usual`, the value without the option, which says what kind of value it is
 *   (a number, a text, a list of numbers, or false for a switch; null for a text that may be
 *   missing); `tiny`, the value with --tiny; `means`, in words.
 * @returns the values by name, and `tiny`: whether this run only shows that the benchmark works.
 *   Targets of speed are not judged then.
 */
export function optionsOf(usage, spec, args = process.argv.slice(2)) {
  const flags = Object.fromEntries(Object.entries(spec).map(([name, { usual }]) =>
    [name, { type: usual === false ? 'boolean' : 'string' }]));
  try {
    const { values } = parseArgs({
      args, options: { ...flags, tiny: { type: 'boolean' }, help: { type: 'boolean' } },
    });
    if (values.help) end(helpOf(usage, spec), 0);
    const { tiny = false } = values;
    const read = Object.entries(spec).map(([name, { usual, tiny: small = usual }]) => {
      const text = values[name];
      if (text === undefined) return [name, tiny ? small : usual];
      return [name, typeof text === 'boolean' ? text : valueOf(name, text, usual)];
    });
    return { ...Object.fromEntries(read), tiny };
  } catch (error) {
    return end(`${error.message}\n${helpOf(usage, spec)}`, 2);
  }
}

function valueOf(name, text, usual) {
  if (Array.isArray(usual)) return text.split(',').map((part) => numberOf(name, part));
  return typeof usual === 'number' ? numberOf(name, text) : text;
}

function numberOf(name, text) {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= 0) return value;
  throw new Error(`--${name} is ${text}: give a number of at least 0`);
}

function helpOf(usage, spec) {
  const lines = Object.entries(spec).map(([name, { usual, tiny = usual, means }]) =>
    `  --${name.padEnd(14)} ${means} (${String(usual ?? 'none')}; with --tiny `
      + `${String(tiny ?? 'none')})`);
  return [usage, ...lines, `  --${'tiny'.padEnd(14)} a run of seconds that shows that it works`]
    .join('\n');
}

function end(text, status) {
  (status === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(status);
}
