import { attackNames } from '../../client/simulation/index.js';
import type { StudyDefinition } from '../../server/studies/definition.js';
import { defineCommand } from '../command.js';
import { createReport } from '../demo/report.js';
import { runDemo } from '../demo/run.js';
import { flightsPerContribution } from '../demo/studies.js';
import { numberFlag } from '../numbers.js';
import { formatNumber, type Output } from '../output.js';

const defaults = { contributors: 6000, epochs: 5, every: 6, epsilon: 1.5, hostile: 0.1, port: 0, logs: 'demo-data' } as const;

export const demo = defineCommand({
  name: 'demo',
  summary: 'Run everything at once on real flights: aggregator, honest people and liars.',
  details: [
    `Each simulated contributor gets ${flightsPerContribution} flights per epoch out of 231,083 and takes part in two studies at once: the private mean, and `
    + 'populous-mean, which does not believe a minority. The hostile ones move together. Every release is printed beside '
    + 'what only the demonstration knows: the honest mean, and how far the undefended mean of all rows is from it. Errors are '
    + 'Euclidean, in units of the studies\' scale.',
    'Release logs are left for "keelson verify".',
  ],
  args: {
    contributors: { type: 'string', valueHint: 'n', description: `simulated people (default ${defaults.contributors})` },
    hostile: { type: 'string', valueHint: 'share', description: `share that attacks, below 0.5 (default ${defaults.hostile})` },
    attack: { type: 'enum', options: [...attackNames], description: 'what they do (default shift: all move 4 scales per column)' },
    strength: { type: 'string', valueHint: 'scales', description: 'how far the attack moves things' },
    epochs: { type: 'string', valueHint: 'n', description: `releases per study (default ${defaults.epochs})` },
    every: { type: 'string', valueHint: 'seconds', description: `length of an epoch (default ${defaults.every})` },
    epsilon: { type: 'string', valueHint: 'e', description: `of each release, at delta 1e-6 (default ${defaults.epsilon})` },
    seed: { type: 'string', valueHint: 'text', description: 'people and attacks follow from it; the noise never does (default 1)' },
    port: { type: 'string', valueHint: 'port', description: 'where the aggregator listens (default: any free port)' },
    logs: { type: 'string', valueHint: 'folder', description: `where the release logs go (default ${defaults.logs})` },
  },
  examples: ['keelson demo', 'keelson demo --contributors 10000 --epsilon 1 --hostile 0.05 --attack direction'],
  stopsGently: true,
  async run({ args, io, output }) {
    const options = {
      contributors: numberFlag(args.contributors, '--contributors', { whole: true, atLeast: 100, atMost: 100_000 }) ?? defaults.contributors,
      hostileShare: numberFlag(args.hostile, '--hostile', { atLeast: 0, below: 0.5 }) ?? defaults.hostile,
      attack: args.attack ?? 'shift',
      strength: numberFlag(args.strength, '--strength', { atLeast: 0, atMost: 1e9 }),
      epochs: numberFlag(args.epochs, '--epochs', { whole: true, atLeast: 1, atMost: 8 }) ?? defaults.epochs,
      epochMs: 1000 * (numberFlag(args.every, '--every', { atLeast: 1, atMost: 3600 }) ?? defaults.every),
      epsilon: numberFlag(args.epsilon, '--epsilon', { above: 0, atMost: 20 }) ?? defaults.epsilon,
      seed: args.seed ?? '1',
      port: numberFlag(args.port, '--port', { whole: true, atLeast: 0, atMost: 65_535 }) ?? defaults.port,
      logDirectory: args.logs ?? defaults.logs,
    };
    const { serverKey, logs, scores } = await runDemo(options, io, createReport(output), (aggregator, studies) => {
      const hostile = Math.round(options.hostileShare * options.contributors);
      output.text(`${options.contributors} contributors, ${hostile} of them hostile (${options.attack}), at ${aggregator.address}`);
      for (const study of studies) describe(study, options.hostileShare, output);
      output.text(`the first release comes in about ${formatNumber(options.epochMs / 1000)} s`);
    });
    output.text();
    output.text('check the releases yourself:');
    for (const log of logs) output.text(`  npx keelson verify ${log} --server-key ${serverKey}`);
    return scores.every((score) => score.outcome === 'value') ? 0 : 1;
  },
});

/** What the plan promises, from public numbers only. */
function describe({ document, plan, releases }: StudyDefinition, hostileShare: number, output: Output): void {
  const promised = plan.expectedError(hostileShare);
  output.text(`  ${document.study.padEnd(17)} ${document.estimator}: epsilon ${document.privacy.epsilon} per release, budget for ${releases} releases; `
    + `expects an error of ${promised.total.toFixed(2)} scales`);
}
