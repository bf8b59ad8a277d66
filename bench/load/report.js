// The output of bench/ingest.js: a table of at most 90 columns, and one line for each target.

const mega = 1024 * 1024;
/** Growth of resident memory that is allowed in a minute: allocator and collector cause some. */
const flatShare = 0.1;
/**
 * The speed that the server's busiest thread must reach, as a fraction of the signature checks of
 * as many cores as the server has threads for them.
 */
const verifyShare = 0.6;

/**
 * Resident memory over the measured time: the medians of thirds, and the slope by least squares.
 */
export function memoryOf(samples) {
  const points = samples.map(({ atMs, memory }) => ({ minutes: atMs / 60_000, rss: memory.rss }));
  const third = Math.max(1, Math.floor(points.length / 3));
  const median = (part) =>
    part.map(({ rss }) => rss).sort((a, b) => a - b)[Math.floor(part.length / 2)];
  const mean = (pick) => points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [x, y] = [mean((point) => point.minutes), mean((point) => point.rss)];
  const spread = points.reduce((sum, { minutes }) => sum + (minutes - x) ** 2, 0);
  const { heapUsed, external } = samples.at(-1).memory;
  return {
    start: median(points.slice(0, third)), middle: median(points.slice(third, 2 * third + 1)),
    end: median(points.slice(-third)), max: Math.max(...points.map(({ rss }) => rss)),
    slopePerMinute:
      points.reduce((sum, { minutes, rss }) => sum + (minutes - x) * (rss - y), 0) / spread,
    heapUsed, external, minutes: points.at(-1).minutes - points[0].minutes,
  };
}

/** The targets, each with its measured value. */
export function verdictsOf(result, machine) {
  const { memory, shape } = result;
  const growth = (memory.end - memory.start) / memory.start;
  const all = [
    [`${shape}: at least ${result.target} accepted/s`, result.perSecond >= result.target,
      `${whole(result.perSecond)}/s`],
    [
      `${shape}: from at least 1000 contributors`, result.contributors >= 1_000,
      `${result.contributors}`,
    ],
    [
      `${shape}: replay table of a million rows`, result.replayRows >= 1_000_000,
      `${result.replayRows}`,
    ],
    [
      `${shape}: .60 of digest and verify, in CPU`,
      result.cpu.ofVerify === null || result.cpu.ofVerify >= verifyShare,
      result.cpu.ofVerify?.toFixed(2) ?? 'not known here',
    ],
    [`${shape}: every ack after its commit`, result.acked <= result.journalled
      && machine.fileSystem !== 'tmpfs',
      `server killed: ${result.acked} acked, ${result.journalled} journalled`, true],
    [`${shape}: memory flat over a minute`, growth <= flatShare && memory.minutes >= 0.9,
      `${mebibytes(memory.start)} to ${mebibytes(memory.end)} MB in ${whole(memory.minutes * 60)} `
        + 's'],
  ];
  return all.map(
    ([target, met, measured, atAnySize = false]) => ({ target, met, measured, atAnySize }),
  );
}

/** The part of the plain shape's rate that a shape with texts, or over HTTP, must reach. */
const besideShare = 0.8;
/** Most processor time of a batch on an encrypted channel, as a part of a signed one's. */
const encryptedShares = { '1x2e': 0.65, '64x8e': 0.75, '256x32e': 0.6 };
/** Most processor time of a batch on an encrypted channel, in that of bench/load/floor.js. */
const timesFloor = 2.5;

function besideFloor({ shape, cpu }) {
  if (cpu.floorMsPerBatch === null) return [];
  const ratio = cpu.serverMsPerBatch / cpu.floorMsPerBatch;
  return [{
    target: `${shape}: at most ${timesFloor} times the floor`,
    met: ratio <= timesFloor, measured: ratio.toFixed(2), atAnySize: false,
  }];
}

function encryptedBeside(result, results) {
  const signed = results.find(({ shape }) => `${shape}e` === result.shape);
  if (signed === undefined) return [];
  const most = encryptedShares[result.shape];
  if (most === undefined) return [];
  const ratio = result.cpu.serverMsPerBatch / signed.cpu.serverMsPerBatch;
  return [{
    target: `${result.shape}: at most ${most} of the processor time of ${signed.shape}`,
    met: ratio <= most, measured: ratio.toFixed(2), atAnySize: false,
  }];
}

/**
 * Compares shapes with a suffix with those of as many bytes without one, and encrypted ones with
 * their floor, in one run.
 */
export function beside(results) {
  return results.flatMap((result) => {
    if (result.shape.endsWith('e')) {
      return [...besideFloor(result), ...encryptedBeside(result, results)];
    }
    const plain = results.find(({ shape }) => [`${shape}t`, `${shape}h`].includes(result.shape));
    if (plain === undefined) return [];
    const ratio = result.perSecond / plain.perSecond;
    return [{
      target: `${result.shape}: at least ${besideShare} of the rate of ${plain.shape}`,
      met: ratio >= besideShare, measured: ratio.toFixed(2), atAnySize: false,
    }];
  });
}

/** The whole text. */
export function report(machine, results, verdicts) {
  const { cpus, model, node, fileSystem, load } = machine;
  return [
    `${cpus} x ${model}, Node ${node}, ${fileSystem}, load average `
      + `${load.map((value) => value.toFixed(1)).join(' ')} before`,
    '',
    ...table(results),
    '',
    ...verdicts.map(({ target, met, measured }) =>
      `${met ? 'met    ' : 'NOT MET'}  ${target.padEnd(43)} ${measured}`),
  ].join('\n');
}

const lines = [
  ['accepted per second', (r) => whole(r.perSecond)],
  ['ack latency p50 / p99 / p99.9, ms', ({ latencyMs: l }) =>
    [l.p50, l.p99, l.p999].map(whole).join(' / ')],
  ['batches in flight', (r) => r.inFlight],
  ['contributors; replay rows', (r) => `${r.contributors}; ${r.replayRows}`],
  ['seconds to preload; measured', (r) =>
    `${r.preloadSeconds.toFixed(1)}; ${r.seconds.toFixed(0)}`],
  ['commits per second; batches in each', (r) =>
    `${whole(r.commitsPerSecond)}; ${whole(r.batchesPerCommit)}`],
  ['commit median / p99, ms', ({ commitMs: c }) => `${c.median.toFixed(1)} / ${c.p99.toFixed(1)}`],
  ['server CPU per batch, us', (r) => whole(r.cpu.serverMsPerBatch * 1_000)],
  ['CPU of the least encrypted server, us', (r) =>
    whole(r.cpu.floorMsPerBatch === null ? null : r.cpu.floorMsPerBatch * 1_000)],
  ['threads that check signatures', (r) => r.checkThreads],
  ['CPU of its busiest thread per batch, us', (r) => whole(r.cpu.busiestThreadUs)],
  ['CPU of digest and verify alone (ratio)', (r) =>
    `${whole(r.cpu.verifyUs)} (${r.cpu.ofVerify?.toFixed(2) ?? '-'})`],
  ['cores used: server; load generator', (r) =>
    `${r.cpu.serverCores.toFixed(2)}; ${r.cpu.loadCores.toFixed(2)}`],
  ['cores used by other processes', (r) =>
    (r.cpu.otherCores === null ? '-' : r.cpu.otherCores.toFixed(2))],
  ['main thread busy', (r) => `${whole(r.cpu.mainThreadShare * 100)} %`],
  ['RSS start / middle / end, MB', ({ memory: m }) =>
    [m.start, m.middle, m.end].map(mebibytes).join(' / ')],
  ['RSS slope, MB per minute', (r) => mebibytes(r.memory.slopePerMinute)],
  ['heap; external at the end, MB', ({ memory: m }) =>
    `${mebibytes(m.heapUsed)}; ${mebibytes(m.external)}`],
  ['file growth; log, MB', (r) => `${mebibytes(r.fileBytes)}; ${mebibytes(r.walBytes)}`],
  ['ceiling: raw ws frames/s (ratio)', (r) => against(r, 'webSocket')],
  ['ceiling: digest and verify/s (ratio)', (r) => against(r, 'verify')],
  ['ceiling: write and fdatasync/s (ratio)', (r) => against(r, 'disk')],
  ['acked; refused and sent again', (r) => `${r.acked}; ${r.refused}`],
  ['load average after', (r) => r.load.map((value) => value.toFixed(1)).join(' ')],
];

function table(results) {
  const width = 23;
  const heading =
    `${''.padEnd(40)}${results.map(({ shape }) => `${shape} f64`.padStart(width)).join('')}`;
  return [heading, ...lines.map(([name, show]) =>
    `${name.padEnd(40)}${results.map((result) => String(show(result)).padStart(width)).join('')}`)];
}

function against(result, name) {
  return `${whole(result.ceilings[name])} (${result.ratios[name].toFixed(2)})`;
}

function whole(value) {
  return value === null ? '-' : Math.round(value).toString();
}

function mebibytes(bytes) {
  return whole(bytes / mega);
}
