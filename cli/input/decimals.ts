const pattern = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * The number in a cell; undefined if it is not a number or not finite. Blanks around it are
 * allowed.
 */
export function parseNumber(cell: string): number | undefined {
  const text = cell.trim();
  if (!pattern.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
