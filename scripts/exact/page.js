// docs/results/exactness.md from the comparisons.
import { mutations as listed } from '../mutations/list.js';

const digits = (value) => value.toFixed(3);
const power = (value) => (value === 0 ? '0' : `2^${Math.ceil(Math.log2(value))}`);
const row = (cells) => `| ${cells.join(' | ')} |`;
const table = (head, rows) =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');

/** The evidence for one estimator, in words. */
function shown({ pairs, all, events, note }) {
  if (note !== undefined) return note;
  if (pairs < all) return 'part of the pairs';
  return events === 1 ? 'all pairs; one call' : 'all pairs; prefixes by search';
}

/** A stated epsilon over the exact one. */
const over = (stated, exact) => (stated === null ? '' : (stated / exact).toFixed(3));

/** A mistake that was put into the sources, and the first check that saw it. */
function mutationRow({ estimator, breaks, file, red, seconds, shows }) {
  const pair = shows === null ? '' : `: ${shows.replace(/^[^:]*: /, '').replaceAll('|', '/')}`;
  return [
    estimator, breaks, `\`${file.split('/').at(-1)}\``, seconds.toFixed(0), `${red ?? 'none'}${pair}`,
  ];
}

export function pageOf({ mechanisms, composed, budgets, estimators, sealed, mutations }) {
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
divergences of order 1.008, 1.5, 2, 3 and 5 and the hockey-stick divergences at five epsilons are compared with the charge, as
intervals. *Share* is the largest part of rho that a pair uses. *Tail* is the largest probability that is left out; it
would add to delta.

${table(['mechanism', 'contents', 'pairs', 'share of rho', 'tail', 'faults'], mechanisms.map((each) => [
    each.name, each.contents, each.pairs, digits(each.share), power(each.tail), each.faults.length,
  ]))}

Masks (\`wishart-mask\`, \`affine-mask\`) are compared for one number, by quadrature: the root of what is published is in
one of 400 cells, and the probability of each cell is an interval. Their share is of the divergence at the order of the event,
for contents as far apart as the event says, and half as far. The hockey-stick divergence is compared with the (epsilon, delta)
that a report would state. Two things are shown by prose alone: masks of matrices, and the step from real numbers to the doubles
that the draw computes with. What is published is rounded to 24 bits, which hides that step and does not prove it.

## Accounting

Equal draws are composed exactly: the ratio of their likelihoods depends on a sum, and the law of the sum is computed as
intervals. Both sides move by the whole sensitivity. *Exact* is the smallest epsilon at delta 1e-6. The other columns are
what each rule states for the same draws, over the exact one: below 1 would be a fault. *rho* is the rule \`zcdp\`,
*gaussian* the rule of that name, *losses* the composed loss distributions of reports, *order 8* the rule \`renyi\` at that order,
*pure* the sum of epsilons. Loss distributions and the rule \`gaussian\` add a whole step of the grid to each draw, so they are
above rho where the grid is coarse: plans choose a grid of a millionth of the deviation.

${table(['draws', 'exact', 'rho', 'gaussian', 'losses', 'order 8', 'pure', 'faults'], composed.map((each) => [
    each.name, each.exact.toFixed(4),
    ...['rho', 'gaussian', 'losses', 'order 8', 'pure']
      .map((rule) => over(each.stated[rule], each.exact)),
    each.faults.length,
  ]))}

A budget of epsilon 1 and delta 1e-6 has room for two releases of Gaussian noise, and not for three. All schedules of
three epochs run on the store of a server: each epoch waits before it opens or not, stays open or not, and is charged or
lapses. In a budget of each contributor one of two people takes part or not. With *either sum* each epoch also has Gaussian
noise, or Laplace noise of epsilon 1/2, which the sum of pure epsilons pays for. *Most* is the largest number of charged epochs
with rows of one person that a budget let through, within its period where it renews, and *exact epsilon* the largest of those
that it let through together.

${table(['budget', 'schedules', 'most', 'exact epsilon', 'stated', 'faults'], budgets.map((each) => [
    each.name, each.schedules, each.most, each.exact.toFixed(4), each.stated, each.faults.length,
  ]))}

\`test/audit/exact/rounding.test.ts\` computes the conversions as intervals, and compares their direction of rounding.

## Estimators

The release itself runs on both sides of a pair, and both get the same released values. Each call of a mechanism is then
compared: the same event on both sides, the same keys that are shown without a threshold, contents whose exact cost is at
most the charge of the event, a sum within the cost of the plan, no draw more often than charged, and the same outcome at
the end, refusals included. No noise is sampled to decide this.

*Pairs* are all data sets of up to four contributors on a coarse grid, and all changes of one of them. *Larger* are random
data sets of 12 contributors or more on the same grid, with two or more in each cohort of the plan, and one who changes. Some
estimators never answer without somebody in every cohort. Where a release has several calls, what it asks next depends on
released values. Then four sequences of values are tried for each pair: values drawn from a fixed seed, values that a whole
crowd released, and these moved by up to 40 standard deviations. Each contributor of the crowd stands for as many as the plan
needs, so that later calls are reached. That is a search, and not every sequence. Where the time was over first, the pairs are
a random part; the time is that of a busy machine for some rows.

What holds for still larger data sets and other rows is shown by the proofs beside the code, and sampled by audits.

${table(['estimator', 'pairs', 'larger', 'calls compared', 'answers', 'refusals', 'shown here', 'faults'],
    estimators.map((each) => [
      each.title, `${each.pairs} of ${each.all}`, each.larger ?? 0, each.calls ?? 0, each.answered ?? 0,
      each.refused ?? 0, shown(each), each.faults.length,
    ]))}

## Sealed studies

Rows of a [sealed study](../guides/sealed-study.md) are held in shares by three servers, and a program opens sums of them. It runs
at three parties in one process, on both sides of a pair, and both get the same opened numbers. Each opening is compared as
above: the same event, and sums whose exact cost is at most the charge, with the noise of two servers alone, since one server
knows its own draws. All three servers come to one outcome, and it is the same on both sides. *Pairs* are all data sets of one to four
people who share a value of a coarse list, also one that spells no bin; how many take part is public. *Larger* are 12 to 80 people, who
share any values. \`sealed gaussian\` and \`sealed symmetric-gaussian\` above are the law of two servers' noise, at a grid that
is as coarse as plans allow.

${table([
    'program', 'pairs', 'larger', 'openings compared', 'answers', 'refusals', 'shown here',
    'faults',
  ], sealed.map((each) => [
    each.title, `${each.pairs} of ${each.all}`, each.larger, each.openings, each.answered,
    each.refused, each.pairs < each.all ? 'part of the pairs' : 'all pairs; prefixes by search',
    each.faults.length,
  ]))}

What a server sees besides opened numbers is masked. \`test/sealed/views.test.ts\` lists all of it for tiny rings and compares it.
That real masks are as good as random ones is an assumption about AES. \`keelson audit\` has no sealed programs;
\`test/sealed/audit.test.ts\` samples their openings, also where one server draws no noise.

## Planted mistakes

\`test/planted/exact.test.ts\` plants mistakes that people and papers have made, and ten fine ones, such as a
sensitivity that is 2 % too small. Each is caught this way in under ten seconds, with the pair and the released values.
The same estimator without the mistake has no fault. One twin is left out, *upper-triangular noise, turned*: it turns
noise on a grid by an angle that the rows choose, so its last digits are not private.

## Mistakes in the sources

\`scripts/mutations.js --results docs/results/mutations.json\` puts mistakes into a copy of the sources, one at a time.
${mutations.length} of the ${listed.length} listed ones were run, in ${new Set(mutations.map(({ estimator }) => estimator)).size} estimators. These checks then run in turn, each for that estimator alone: the exact check of 60 pairs for each
form, the tests of the estimator, those of mechanisms where the mistake is in \`src/privacy\`, golden vectors, and the compliance
suite. The table has the first that is red, and how long that check took on a busy machine. A mistake that moves no promise of
privacy cannot be seen by an exact check: the wrong side of a threshold is as private.

${table(['estimator', 'mistake', 'file', 'seconds', 'first check that is red'], mutations.map(mutationRow))}

What the first run found: no check saw that the ends of a range in \`sum\` can be one step too far apart if they are rounded
alone. A test and an exact check of such a range were added. The exact check of a found cap had one column, so it did not see a
choice that is charged for one of two; it has two columns now, and ranges away from 0 are compared too. A limit in the contests
of \`select\` could never be met, so that nothing could see that it was gone. It was removed. The wrong sign of a
correlation was seen by no check of that run: the test about it, \`discovered-sums\`, was not in its list, and is now. The second run
found two mistakes of what is now the reference variant of \`stable-mean\` that nothing saw, golden vectors included: weights to another power, and a bound above what
is charged when more people come than planned. Both have a test now.
`;
}
