/**
 * Two wrappers that make a leak a type error.
 *
 * `Sensitive<T>` holds data that no reader may see. It can be transformed, never opened, except by
 * privacy/mechanisms (`openSensitive`; a tidy test lists its importers).
 * `Released<T>` holds what a charged mechanism drew. Only privacy/mechanisms makes one
 * (`releaseFromMechanism`); `map` and `all` are post-processing and free.
 * Both constructors are private and both classes have a private member, so neither can be written
 * as an object literal, and one is never assignable to the other.
 */
export class Sensitive<out T> {
  readonly #content: T;

  private constructor(content: T) {
    this.#content = content;
  }

  /** Wraps contributors' data. Anyone may wrap; wrapping only takes abilities away. */
  static of<T>(content: T): Sensitive<T> {
    return new Sensitive(content);
  }

  map<U>(transform: (content: T) => U): Sensitive<U> {
    return new Sensitive(transform(this.#content));
  }

  /** As `map`, for work that is done elsewhere, such as a worker thread. A rejection must not tell the content. */
  async mapAsync<U>(transform: (content: T) => Promise<U>): Promise<Sensitive<U>> {
    return new Sensitive(await transform(this.#content));
  }

  /** @internal Only for privacy/mechanisms. */
  static open<T>(sensitive: Sensitive<T>): T {
    return sensitive.#content;
  }
}

/** What a charged mechanism drew: it may be read by anybody. */
export class Released<out T> {
  readonly #made = true;

  private constructor(readonly value: T) {
    if (!this.#made) throw new TypeError('unreachable');
  }

  map<U>(postProcess: (value: T) => U): Released<U> {
    return new Released(postProcess(this.value));
  }

  static all<T extends readonly unknown[]>(parts: {
    readonly [K in keyof T]: Released<T[K]>;
  }): Released<T> {
    return new Released(parts.map((part) => part.value) as unknown as T);
  }

  /** @internal Only for privacy/mechanisms. */
  static fromMechanism<T>(value: T): Released<T> {
    return new Released(value);
  }
}
