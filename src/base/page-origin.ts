/** True for the origin of a web page, in the one form in which browsers send it. */
export function isPageOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
    && new URL(text).origin === text;
}
