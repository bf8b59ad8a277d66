export {
  gather, packRows, addProduct, rowProducts, addColumnSums, clipRows,
} from './rows';
export { packWide, addGram } from './gram';
export { countBins, countCells, countDistances, countSides } from './counts';
export { keepSmallest } from './pairs';
export { scoreRows, countScores, takeBinned } from './scores';
export { eigen } from './eigen';
export { snappyParts } from './snappy';
export {
  andPatterns, addByPattern, addPatternProducts, foldPatterns, pointsOfPatterns, pointsOfFour,
  pointsOfMany, foldVector, addProducts, addMultiples, addInnerProduct,
} from './proofs';

/** Where free memory begins. The module keeps no state of its own. */
export function heapBase(): usize {
  return (__heap_base + 63) & ~63;
}
