/** A refusal over HTTP: `{"error":{"code","text"}}` with a status. */
export class HttpError extends Error {
  constructor(
    readonly status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 413 | 415 | 429 | 500 | 503,
    /** Stable across versions. */
    readonly code: string,
    /** What was wrong and what to do; public. */
    text: string,
  ) {
    super(text);
    this.name = 'HttpError';
  }
}
