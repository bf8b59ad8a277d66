import type { BuildOptions, Metafile } from 'esbuild';

export function joinParts(
  outputs: Metafile['outputs'], folder: string, options: BuildOptions,
): ReadonlyMap<string, string>;
