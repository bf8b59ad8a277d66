/**
 * The words of a script that measures figures and writes them on a page.
 * @param args - `--tiny` for a short run, and the page.
 * @throws Error for any other flag, for no page, and for more than one.
 */
export function pageAsked(args: readonly string[]): {
  readonly isTiny: boolean; readonly page: string;
} {
  const flags = args.filter((word) => word.startsWith('-'));
  const unknown = flags.find((flag) => flag !== '--tiny');
  const [page, ...more] = args.filter((word) => !word.startsWith('-'));
  if (unknown !== undefined || page === undefined || more.length > 0) {
    const said = unknown === undefined ? 'one page is written' : `${unknown} is not known`;
    throw new Error(`${said}: give the page's file, and --tiny for a short run`);
  }
  return { isTiny: flags.length > 0, page };
}
