/** A mistake that is put into a copy of the sources. */
export interface Mutation {
  readonly estimator: string;
  readonly breaks: string;
  readonly file: string;
  /** It is in the file once, and `put` takes its place. */
  readonly find: string;
  readonly put: string;
}

export const mutations: readonly Mutation[];
export const testsOf: Readonly<Record<string, readonly string[]>>;
