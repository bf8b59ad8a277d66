// Draws per second of the exact samplers, and of a plain BigInt transcription of the same algorithm
// for comparison. Needs the build: npm run build && npm run bench:samplers [-- --seconds 1]
import { Coins } from '../dist/src/random/samplers/coins.js';
import { secureNoise } from '../dist/src/random/secure.js';
import { discreteLaplace } from '../dist/src/random/samplers/discrete-laplace.js';
import { gaussianSampler } from '../dist/src/random/samplers/discrete-gaussian.js';
import { optionsOf } from './options.js';

const { seconds } = optionsOf('Draws per second of the exact samplers.', {
  seconds: { usual: 1, tiny: 0.02, means: 'for each rate' },
});
const bits = new Coins(secureNoise());

function rate(draw) {
  for (let i = 0; i < 20_000; i++) draw();
  const start = performance.now();
  let draws = 0;
  while (performance.now() - start < seconds * 1000) {
    for (let i = 0; i < 1000; i++) draw();
    draws += 1000;
  }
  return draws / ((performance.now() - start) / 1000);
}

const coin = (numerator, denominator) =>
  numerator >= denominator || bits.belowBig(denominator) < numerator;
function race(numerator, denominator) {
  let k = 1n;
  while (coin(numerator, denominator * k)) k += 1n;
  return k % 2n === 1n;
}
function expCoin(numerator, denominator) {
  for (; numerator > denominator; numerator -= denominator) if (!race(1n, 1n)) return false;
  return race(numerator, denominator);
}
function plainGaussian(sigma) {
  for (;;) {
    const draw = discreteLaplace(bits, { numerator: sigma + 1n, denominator: 1n });
    const gap = (draw < 0n ? -draw : draw) * (sigma + 1n) - sigma * sigma;
    if (expCoin(gap * gap, 2n * (sigma * (sigma + 1n)) ** 2n)) return draw;
  }
}

console.log('sampler                  draws/s      against plain BigInt');
for (const power of [0n, 20n, 40n]) {
  const sigma = 1n << power;
  const sample = gaussianSampler({ numerator: sigma * sigma, denominator: 1n });
  const ours = rate(() => sample(bits));
  const plain = rate(() => plainGaussian(sigma));
  const name = `gaussian, sigma 2^${power}`.padEnd(24);
  console.log(`${name}${ours.toFixed(0).padStart(8)}     x ${(ours / plain).toFixed(2)}`);
}
const half = gaussianSampler({ numerator: 1n << 39n, denominator: 1n });
console.log(`gaussian, 2^20/sqrt 2   ${rate(() => half(bits)).toFixed(0).padStart(8)}`);
const scale = { numerator: 1n << 20n, denominator: 1n };
console.log('laplace, scale 2^20     '
  + `${rate(() => discreteLaplace(bits, scale)).toFixed(0).padStart(8)}`);
