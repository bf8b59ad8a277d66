export { gather, packColumns, packRows, addGram, addProduct, addUpperProduct, rowProducts, addColumnSums, clipRows } from './rows';
export { countBins, countCells } from './counts';
export { eigen } from './eigen';

/** Where memory is free: the module keeps nothing of its own. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}
