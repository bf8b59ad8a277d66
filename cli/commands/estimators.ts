import { boundText } from '../../src/base/facts-limits.js';
import { protocolLimits } from '../../src/base/limits.js';
import type { Estimator, ParameterSpec } from '../../src/estimators/contract/estimator.js';
import { estimators as registry, findEstimator } from '../../src/estimators/registry.js';
import { defineCommand } from '../base/command.js';
import { entries, wrap } from '../base/help.js';
import { terminalColumns } from '../base/io.js';
import type { Output } from '../base/output.js';

export const estimators = defineCommand({
  name: 'estimators',
  summary: 'List the estimators, or show one with its parameters and guarantees.',
  args: {
    name: { type: 'positional', required: false, description: 'show this estimator in full' },
  },
  examples: ['keelson estimators', 'keelson estimators populous-mean'],
  async run({ args, output }) {
    if (args.name === undefined) {
      printByMaturity(output);
      output.text();
      output.text('parameters and guarantees of one: keelson estimators NAME');
      output.json(registry.map(facts));
      return 0;
    }
    const chosen = findEstimator(args.name);
    describe(chosen, output);
    output.json(facts(chosen));
    return 0;
  },
});

/** The purpose of each group of estimators. */
const headings: readonly (readonly [Estimator['maturity'], string])[] = [
  ['recommended', 'recommended: these answer most questions well'],
  ['research', 'research: systems of papers, and variants to compare with'],
];

function printByMaturity(output: Output): void {
  for (const [index, [maturity, heading]] of headings.entries()) {
    if (index > 0) output.text();
    output.text(heading);
    const rows = registry.filter((estimator) => estimator.maturity === maturity);
    output.table(['name', 'gives'], rows.map(({ name, title }) => [name, title]));
  }
}

/** The declared facts of an estimator, without its functions. */
function facts(estimator: Estimator): Record<string, unknown> {
  const { name, title, maturity, assumption, claim, parameters, citations } = estimator;
  return { name, title, maturity, assumption, claim, parameters, citations };
}

function describe(estimator: Estimator, output: Output): void {
  const { name, title, maturity, assumption, claim, parameters, citations } = estimator;
  for (const line of wrap(`${name}: ${title} (${maturity})`, terminalColumns)) output.text(line);
  for (const line of wrap(`privacy: ${claim}`, terminalColumns - 2)) output.text(`  ${line}`);
  for (const line of wrap(`assumes: ${assumption}`, terminalColumns - 2)) output.text(`  ${line}`);
  if (parameters.length > 0) {
    output.text('  parameters:');
    for (const line of entries(
      parameters.map((spec) => [`  ${spec.name}`, meaningOf(spec)] as const),
    )) {
      output.text(line);
    }
  }
  for (const { key, text, place } of citations) {
    const lines = wrap(`source: [${key}] ${text}, ${place}`, terminalColumns - 4);
    for (const [index, line] of lines.entries()) {
      output.text(`${index === 0 ? '  ' : '    '}${line}`);
    }
  }
}

/** The values that a parameter accepts, in words. */
export function rangeOf(spec: ParameterSpec): string {
  switch (spec.type) {
    case 'choice':
      return (spec.choices ?? []).join(' | ');
    case 'boolean':
      return 'true | false';
    case 'positive':
      return [...(spec.choices ?? []), 'above 0, one or one per column'].join(' | ');
    case 'range':
      return 'low..high, one or one per column';
    case 'numbers': {
      const { minimum, maximum } = spec;
      return 'ascending list a,b,c'
        + `${minimum === undefined || maximum === undefined ? '' : `, ${boundText(minimum)} to ${boundText(maximum)}`}`;
    }
    case 'list':
      return `list in JSON or YAML, at most ${spec.lengthMaximum ?? protocolLimits.columns} `
        + 'entries';
    case 'number':
    case 'integer': {
      const kind = spec.type === 'integer' ? 'whole ' : '';
      if (spec.minimum !== undefined && spec.maximum !== undefined) {
        return `${kind}${boundText(spec.minimum)} to ${boundText(spec.maximum)}`;
      }
      if (spec.minimum !== undefined) return `${kind}from ${spec.minimum}`;
      return spec.maximum === undefined ? `${kind}number` : `${kind}up to ${spec.maximum}`;
    }
  }
}

/** The effect of leaving a parameter out, in words. */
export function meaningOfDefault(spec: ParameterSpec): string {
  if (spec.default !== undefined) return String(spec.default);
  return spec.optional === true ? 'worked out when absent' : 'must be given';
}

function meaningOf(spec: ParameterSpec): string {
  const unit = spec.unit === undefined ? '' : `, in ${spec.unit}`;
  const otherwise = `${spec.default === undefined ? '' : 'default '}${meaningOfDefault(spec)}`;
  return `${spec.description} (${rangeOf(spec)}${unit}; ${otherwise})`;
}
