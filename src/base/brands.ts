/**
 * Three wrappers that make a leak a type error.
 *
 * `Sensitive<T>` holds data that no reader may see. It can be transformed. Only privacy/mechanisms
 * may open it, with `Sensitive.open`.
 * `Released<T>` holds what a charged mechanism drew. Only privacy/mechanisms makes one, with
 * `Released.fromMechanism`. `map` and `all` are post-processing, which is free.
 * `Sealed<T>` holds one server's shares of numbers that no server knows. Only the steps of
 * src/sealed/steps, which mask whatever they send, and privacy/mechanisms may open it, with
 * `Sealed.open`. No function turns it into `Sensitive`.
 * A tidy test searches the sources for these calls. The constructors are private and the classes
 * have a private member. So no object literal can be one of them, and one is never assignable to
 * another.
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

  /**
   * As `map`, for work done elsewhere, such as on a worker thread. A rejection must not reveal the
   * content.
   */
  async mapAsync<U>(transform: (content: T) => Promise<U>): Promise<Sensitive<U>> {
    return new Sensitive(await transform(this.#content));
  }

  /** @internal Only for privacy/mechanisms. */
  static open<T>(sensitive: Sensitive<T>): T {
    return sensitive.#content;
  }
}

/** What a charged mechanism drew. Anybody may read it. */
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

/** One server's shares of numbers that no server knows. */
export class Sealed<out T> {
  readonly #shares: T;

  private constructor(shares: T) {
    this.#shares = shares;
  }

  /** Wraps a server's shares. Anyone may wrap; wrapping only takes abilities away. */
  static of<T>(shares: T): Sealed<T> {
    return new Sealed(shares);
  }

  /** What a server computes of its own shares alone. */
  map<U>(transform: (shares: T) => U): Sealed<U> {
    return new Sealed(transform(this.#shares));
  }

  static all<T extends readonly unknown[]>(parts: {
    readonly [K in keyof T]: Sealed<T[K]>;
  }): Sealed<T> {
    return new Sealed(parts.map((part) => part.#shares) as unknown as T);
  }

  /** @internal Only for src/sealed/steps and privacy/mechanisms. */
  static open<T>(sealed: Sealed<T>): T {
    return sealed.#shares;
  }
}
