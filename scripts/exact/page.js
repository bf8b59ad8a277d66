// docs/results/exactness.md from what was compared.
const digits = (value) => value.toFixed(3);
const power = (value) => (value === 0 ? '0' : `2^${Math.ceil(Math.log2(value))}`);
const row = (cells) => `| ${cells.join(' | ')} |`;
const table = (head, rows) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** What was shown of one estimator, in words. */
function shown({ pairs, all, events, note }) {
  if (note !== undefined) return note;
  if (pairs < all) return 'part of the pairs';
  return events === 1 ? 'all pairs; one call' : 'all pairs; prefixes by search';
}

/** A stated epsilon over the exact one. */
const over = (stated, exact) => (stated === null ? '' : (stated / exact).toFixed(3));

export function pageOf({ mechanisms, composed, budgets, estimators }) {
  return `# What is checked without sampling

\`npm run check:exact -- --page docs/results/exactness.md\` writes this page. An audit samples, and a proof is prose. These
checks do neither: on small domains they compute what neighbours can release, and compare it with what was charged.
Neighbours differ in one contributor. A fault ends the command with status 1. No fault is known.

## Samplers

\`test/audit/exact/walk.test.ts\` walks the tree of the random choices that the shipped samplers make, until less than
2^-60 of the probability is left. Coins, discrete Laplace noise, discrete Gaussian noise and choices have the laws that
the proofs say, as intervals narrower than 2^-60. The deviations are small: 1/3 to 2 steps.

## Mechanisms

The shipped draw function runs for every combination of noise. For all pairs of neighbours of a small domain, the Renyi
divergences of order 1.5, 2, 3 and 5 and the hockey-stick divergences at five epsilons are compared with the charge, as
intervals. *Share* is the largest part of rho that a pair uses. *Tail* is the largest probability that is left out; it
would add to delta.

${table(['mechanism', 'contents', 'pairs', 'share of rho', 'tail', 'faults'], mechanisms.map((each) => [
    each.name, each.contents, each.pairs, digits(each.share), power(each.tail), each.faults.length,
  ]))}

Masks (\`wishart-mask\`, \`affine-mask\`) draw real numbers in doubles. Their cost is shown by prose alone.

## Accounting

Equal draws are composed exactly: the ratio of their likelihoods depends on a sum, and the law of the sum is computed as
intervals. Both sides move by the whole sensitivity. *Exact* is the smallest epsilon at delta 1e-6. The other columns are
what each rule states for the same draws, over the exact one: below 1 would be a fault. *rho* is the rule \`zcdp\`,
*losses* the composed loss distributions of reports, *order 8* the rule \`renyi\` at that order, *pure* the sum of epsilons.
Loss distributions add a whole step of the grid to each draw, so they are above rho where the grid is coarse.

${table(['draws', 'exact', 'rho', 'losses', 'order 8', 'pure', 'faults'], composed.map((each) => [
    each.name, each.exact.toFixed(4),
    ...['rho', 'losses', 'order 8', 'pure'].map((rule) => over(each.stated[rule], each.exact)),
    each.faults.length,
  ]))}

A budget of epsilon 1 and delta 1e-6 has room for two releases of Gaussian noise, and not for three. All schedules of
three epochs run on the store of a server: each epoch waits before it opens or not, stays open or not, and is charged or
lapses. In a budget of each contributor one of two people takes part or not. *Most* is the largest number of charged epochs
with rows of one person that a budget let through, within its period where it renews.

${table(['budget', 'schedules', 'most', 'exact epsilon', 'stated', 'faults'], budgets.map((each) => [
    each.name, each.schedules, each.most, each.exact.toFixed(4), each.stated, each.faults.length,
  ]))}

\`test/audit/exact/rounding.test.ts\` computes the conversions as intervals, and compares their direction of rounding.

## Estimators

The release itself runs on both sides of a pair, and both get the same released values. Each call of a mechanism is then
compared: the same event on both sides, the same keys that are shown without a threshold, contents whose exact cost is at
most the charge of the event, a sum within the cost of the plan, no draw more often than charged, and the same outcome at
the end, refusals included. No noise is sampled to decide this.

*Pairs* are all data sets of up to four contributors on a coarse grid, and all changes of one of them. Where a release
has several calls, what it asks next depends on released values. Then four sequences of values are tried for each pair:
values drawn from a fixed seed, values that a whole crowd released, and these moved by up to 40 standard deviations. That
is a search, and not every sequence. Where the time was over first, the pairs are a random part.

What holds for larger data sets and other rows is shown by the proofs beside the code, and sampled by audits.

${table(['estimator', 'pairs', 'calls compared', 'answers', 'refusals', 'shown here', 'faults'],
    estimators.map((each) => [
      each.title, `${each.pairs} of ${each.all}`, each.calls ?? 0, each.answered ?? 0,
      each.refused ?? 0, shown(each), each.faults.length,
    ]))}

## Planted mistakes

\`test/planted/exact.test.ts\` plants mistakes that people and papers have made, and ten fine ones, such as a
sensitivity that is 2 % too small. Each is caught this way in under ten seconds, with the pair and the released values.
The same estimator without the mistake has no fault. One twin is left out, *upper-triangular noise, turned*: it turns
noise on a grid by an angle that the rows choose, so its last digits are not private.
`;
}
