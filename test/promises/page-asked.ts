/**
 * The words of a script that measures figures and writes them on a page.
 * @param args - `--tiny` for a short run, and the page.
 * @throws Error if no page is named.
 */
export function pageAsked(args: readonly string[]): {
  readonly isTiny: boolean; readonly page: string;
} {
  const page = args.find((word) => word !== '--tiny');
  if (page === undefined) throw new Error('name the page that is written');
  return { isTiny: args.includes('--tiny'), page };
}
