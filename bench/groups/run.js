// Groups that nobody listed beside other libraries, and the effect of liars on answers that are
// split by groups: the page docs/results/groups.md. Ends with 1 when liars move an answer farther
// than is promised.
import { writeFileSync } from 'node:fs';
import { optionsOf } from '../harness/options.js';
import { tableLines } from '../harness/pages.js';
import {
  gaussianThreshold, inLedger, keelson, laplaceThreshold, optimalHalf, optimalWithCounts,
} from './formulas.js';
import { forgedBy, movedBy } from './liars.js';

const { people, shares, runs, page, tiny } = optionsOf('Liars, and groups that nobody listed.', {
  people: { usual: 20_000, tiny: 3_000, means: 'honest ones' },
  shares: { usual: [0.02, 0.1], tiny: [0.1], means: 'of liars' },
  runs: { usual: 200, tiny: 1, means: 'seeds for forged groups' },
  page: { usual: null, means: 'file of the page' },
});
const delta = 1e-6;
const seed = 'keys';

const table = (head, rows) => tableLines(head, rows).join('\n');
const cell = ({ half, error }) => `${half} (${error.toFixed(1)})`;
const percent = (part) => `${Math.round(100 * part)} %`;
const short = (value) => (value >= 100 ? Math.round(value).toLocaleString('en')
  : value.toPrecision(3));

const grid = [1, 4].flatMap((groupsMax) => [1, 2, 4].map((epsilon) => ({ groupsMax, epsilon })));

/** All rules, under neighbours of whom one may change `changedOf(K)` counts. */
const peers = (changedOf) => grid.map(({ groupsMax, epsilon }) => {
  const asked = { epsilon, delta, changed: changedOf(groupsMax) };
  return [
    groupsMax, epsilon, cell(keelson({ epsilon, delta, groupsMax })), optimalHalf(asked),
    cell(optimalWithCounts(asked)), cell(laplaceThreshold(asked)), cell(gaussianThreshold(asked)),
  ];
});

const ledger = grid.map(({ groupsMax, epsilon }) => {
  const own = keelson({ epsilon, delta, groupsMax });
  const { optimal, laplace } = inLedger({ ...own, changed: 2 * groupsMax });
  return [groupsMax, epsilon, cell(own), optimal, cell(laplace)];
});

const peerHead = [
  'groups a person', 'epsilon', 'Keelson', 'best rule, groups only', 'best rule, then counts',
  'Laplace threshold', 'Gaussian threshold',
];
/** The threshold beside the best rule that shows no group of fewer people either. */
const prefilters = grid.map(({ groupsMax, epsilon }) => [
  groupsMax, epsilon, ...[1, 2].flatMap((prefilter) => {
    const { from } = keelson({ epsilon, delta, groupsMax, prefilter });
    const best = optimalHalf({ epsilon, delta, changed: 2 * groupsMax, prefilter });
    return [from.toFixed(1), best, (from / best).toFixed(2)];
  }),
]);
const prefilterHead = [
  'groups a person', 'epsilon', 'prefilter 1: threshold', 'best rule', 'ratio',
  'prefilter 2: threshold', 'best rule', 'ratio',
];
const ledgerHead =
  ['groups a person', 'epsilon', 'Keelson', 'best rule, groups only', 'Laplace threshold'];

const moved = await movedBy({ people, shares, seed });
const partOf = (line) => line.moved / line.promised;
/** For each question and share of liars, the attack that comes nearest to the promised bound. */
const farthest = [];
for (const line of moved) {
  const at = farthest.findIndex(({ question, share }) =>
    question === line.question && share === line.share);
  if (at < 0) farthest.push(line);
  else if (partOf(line) > partOf(farthest[at])) farthest[at] = line;
}
const movedRows = farthest.map(({ question, share, attack, moved: far, promised }) =>
  [`\`${question}\``, percent(share), `\`${attack}\``, short(far), short(promised)]);
const movedHead = ['answer', 'liars', 'worst attack', 'moved by', 'promised at most'];

const { threshold, lines } = await forgedBy({ people: Math.min(people, 3_000), runs, seed });
const forgedRows = lines.map(({ liars, forged, foreseen, lost, checked }) =>
  [liars, percent(forged), percent(foreseen), `${lost} of ${checked.toLocaleString('en')}`]);
const forgedHead =
  ['liars', 'forged group shown', 'by the formula', 'honest groups lost to as many new groups'];

console.log(table(peerHead, peers((groupsMax) => 2 * groupsMax)));
console.log(table(prefilterHead, prefilters));
console.log(table(ledgerHead, ledger));
console.log(table(movedHead, movedRows));
console.log(table(forgedHead, forgedRows));
const broken = farthest.filter(({ moved: far, promised }) => far > 1.05 * promised);
for (const { question, attack } of broken) console.log(`${attack} moves ${question} too far`);
if (broken.length > 0 && !tiny) process.exitCode = 1;
if (page !== null) writeFileSync(page, pageText());

function pageText() {
  return `# Groups: other libraries, and liars

## Groups that nobody listed beside other libraries

Nobody lists the groups beforehand, and a group is shown only if enough people have it. The tables say how many: the smallest count
that is shown half of the time, and in brackets the root mean square error of a count that is shown. All figures are computed
from formulas at delta 1e-6, and tests check the formulas by brute force.

- **Keelson** is \`count\` with \`discover: true\` and the usual prefilter of 2: Gaussian noise and a threshold, planned in zCDP.
- **Best rule, groups only** is the optimal partition selection of Desfontaines, Voss, Gipson and Mandayam (2022), which Google's
  libraries offer. It shows groups without counts. With its part of the privacy, no rule for one group shows more.
- **Best rule, then counts** spends half of the privacy on the groups and half on their counts.
- **Laplace threshold** is OpenDP's: a Laplace count is shown if it is above a threshold.
- **Gaussian threshold** is Google's: the same with Gaussian noise, and half of delta for the threshold.

### One release, at the same guarantee

Neighbours: one person is replaced by another, who may have other groups. So 2K counts may change, where K is the number of groups
that a person may have.

${table(peerHead, peers((groupsMax) => 2 * groupsMax))}

Here the privacy of the other rules is divided evenly among the 2K counts (basic composition), as those libraries do.

Where a person has one group, Keelson is behind. The best rule shows groups with about a quarter fewer people. The Laplace threshold
shows smaller groups too, and its counts have less than half the error. With four groups a person, Keelson and the Gaussian threshold
show much smaller groups than both, because Gaussian noise grows with the root of K and Laplace noise with K; counts under the Laplace
threshold still have the smaller error. The Gaussian threshold is slightly ahead of Keelson everywhere: it is calibrated to
(epsilon, delta) exactly, while Keelson's noise is calibrated to zCDP and then converted, and the prefilter of 2 costs one person
more.

### What the prefilter costs

A prefilter of 2 drops the groups of one person before noise is added. This spares their noise, and where most groups are such groups,
most of the time of a release. It raises the threshold by one. That cannot be avoided. Take any rule that never shows a group
of fewer than t people: its chances are 0 up to t - 1 people, and rise from there at most as those of the best rule rise from 0. So
the best of these rules needs t - 1 people more, too. With \`prefilter: 1\` a study shows smaller groups by one person.

${table(prefilterHead, prefilters)}

### One release of many

A study releases again and again, and its budget adds up zCDP. There a rule of one group that is (e, d)-private costs e^2 / 2.
This is the same table where the others pay as much zCDP as Keelson's release does, and as much delta.

${table(ledgerHead, ledger)}

Now Keelson shows smaller groups with smaller errors everywhere. This is why it uses Gaussian noise.

### What the libraries promise themselves

Google's libraries and OpenDP usually promise privacy to neighbours with one person more or less. Then only K counts change. That is a weaker
promise: it does not hide whether a person has one group or another at the same epsilon. Keelson has no such mode.

${table(peerHead, peers((groupsMax) => groupsMax))}

## What liars can do to answers by group

Each answer was released twice, with the same noise: once for ${people.toLocaleString('en')} honest people, and once with liars added. They
are a share of all people then. A question is split by eight regions, and a person counts under two at most. The attacks are those of
\`keelson simulate\`: \`ballot-stuffing\`, \`heavy-hitter-poisoning\`, \`forge-groups\` and \`evict-groups\`. The table has the region and the
attack that come nearest to what is promised. Let m be the number of liars, and n the honest people of a region.

- \`count\` and each bin of \`histogram\` move by at most m; all regions together by at most m times the groups a person may have.
- \`sum\` moves by at most m times its cap.
- \`mean\` in a range moves by at most m / (n + m) of the range. \`share\` moves by at most m / (n + m).
- \`ratio\` moves at most as far as m caps above the line or m caps below the line move it.

${table(movedHead, movedRows)}

None of these answers is robust: the more people of a region lie, the farther its answer moves. For a value that resists them, ask for
\`robust-mean\` or \`quantile\` ([answers per group when people lie](robust-by-group.md)).

## What liars can do to groups that nobody listed

Liars who agree on one group that nobody else has forge it by being as many as the threshold, ${threshold.toFixed(1)} people here. They never push out
a group of others: each group's count is exact before noise, whatever other groups there are. In the last column as many liars send
sixteen new groups each. Honest groups that are at least six deviations above the threshold were looked for afterwards. What liars can do is
fill \`top\`, with forged groups that have more people than honest ones.

${table(forgedHead, forgedRows)}

\`npm run bench:groups -- page --page docs/results/groups.md\` computes, measures and writes this page (${runs} seeds for forged groups).
`;
}
