export { gather, packColumns, packRows, addProduct, addUpperProduct, rowProducts, addColumnSums, clipRows } from './rows';
export { packWide, addGram } from './gram';
export { countBins, countCells } from './counts';
export { eigen } from './eigen';

/** Where memory is free: the module keeps nothing of its own. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}
