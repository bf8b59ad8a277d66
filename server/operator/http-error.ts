/** A refusal over HTTP: `{"error":{"code","text"}}` with a status. */
export class HttpError extends Error {
  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 429 | 500 | 503,
    /** Stable across versions. */
    readonly code: string,
    /** The fault and its remedy; public. */
    text: string,
  ) {
    super(text);
    this.name = 'HttpError';
  }
}
