// Packs the flights of the vega-datasets package into data/flights.bin.br:
// `npm run data:flights [-- FILE]`. data/README.md documents the layout;
// test/cli/flights.test.ts packs again and compares what is inside.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { useTool } from './tool.js';

useTool('datasets');
const root = fileURLToPath(new URL('../', import.meta.url));
const source = `${root}node_modules/vega-datasets/data/flights-200k.json`;
const target = process.argv[2] ?? `${root}data/flights.bin.br`;

const magic = 'KLFLIGHT';
const headerBytes = 16;
const flights = JSON.parse(readFileSync(source, 'utf8'));
const count = flights.length;
const bytes = Buffer.alloc(headerBytes + 6 * count);
bytes.write(magic, 0, 'latin1');
bytes.writeUInt32LE(1, 8);
bytes.writeUInt32LE(count, 12);

// One column after the other: equal kinds of numbers side by side compress better.
flights.forEach(({ delay, distance, time }, index) => {
  const hour = Math.floor(time);
  const minutes = 60 * hour + Math.round((time - hour) * 60);
  // Packing must lose nothing: the loader computes exactly this expression.
  if (Math.floor(minutes / 60) + (minutes % 60) / 60 !== time) {
    throw new Error(`flight ${index}: time is not whole minutes`);
  }
  if (!Number.isInteger(delay) || !Number.isInteger(distance)) {
    throw new Error(`flight ${index}: not a whole number`);
  }
  bytes.writeInt16LE(delay, headerBytes + 2 * index);
  bytes.writeUInt16LE(distance, headerBytes + 2 * (count + index));
  bytes.writeUInt16LE(minutes, headerBytes + 2 * (2 * count + index));
});
const compressed = brotliCompressSync(bytes, {
  params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
});
writeFileSync(target, compressed);
console.log(`${count} flights, ${compressed.length} bytes`);
