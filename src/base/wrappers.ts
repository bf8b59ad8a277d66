/**
 * Three wrappers that make a leak a type error, and the functions that open them.
 *
 * `Sensitive<T>` holds data that no reader may see. It can be transformed. Only privacy/mechanisms
 * may open it, with `openSensitive`.
 * `Released<T>` holds what a charged mechanism drew. Only privacy/mechanisms makes one, with
 * `releasedByMechanism`. `map` and `all` are post-processing, which is free.
 * `Sealed<T>` holds one server's shares of numbers that no server knows. Only the steps of
 * src/sealed/steps, which mask whatever they send, and privacy/mechanisms may open it, with
 * `openSealed`. No function turns it into `Sensitive`.
 * Nothing else imports this file but `brands`, which has the wrappers alone; a tidy test checks the
 * imports. The constructors are private and the classes have a private member. So no object literal
 * can be one of them, and one is never assignable to another. Another tidy test keeps functions
 * that are given to `map` from carrying contents out.
 */
let contentOf: <T>(sensitive: Sensitive<T>) => T;
let sharesOf: <T>(sealed: Sealed<T>) => T;
let released: <T>(value: T) => Released<T>;

/** Opens contributors' data. Only for privacy/mechanisms. */
export function openSensitive<T>(sensitive: Sensitive<T>): T {
  return contentOf(sensitive);
}

/** Opens one server's shares. Only for src/sealed/steps and privacy/mechanisms. */
export function openSealed<T>(sealed: Sealed<T>): T {
  return sharesOf(sealed);
}

/** Wraps a value that anybody may read from now on. Only for privacy/mechanisms. */
export function releasedByMechanism<T>(value: T): Released<T> {
  return released(value);
}

/** Contributors' data. */
export class Sensitive<out T> {
  static {
    contentOf = (sensitive) => sensitive.#content;
  }

  readonly #content: T;

  private constructor(content: T) {
    this.#content = content;
  }

  /** Wraps contributors' data. Anyone may wrap; wrapping only takes abilities away. */
  static of<T>(content: T): Sensitive<T> {
    return new Sensitive(content);
  }

  /** Several of them as one. */
  static all<T extends readonly unknown[]>(parts: {
    readonly [K in keyof T]: Sensitive<T[K]>;
  }): Sensitive<T> {
    return new Sensitive(parts.map((part) => part.#content) as unknown as T);
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
}

/** A value that a charged mechanism drew. Anybody may read it. */
export class Released<out T> {
  static {
    released = (value) => new Released(value);
  }

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
}

/** One server's shares of numbers that no server knows. */
export class Sealed<out T> {
  static {
    sharesOf = (sealed) => sealed.#shares;
  }

  readonly #shares: T;

  private constructor(shares: T) {
    this.#shares = shares;
  }

  /** Wraps a server's shares. Anyone may wrap; wrapping only takes abilities away. */
  static of<T>(shares: T): Sealed<T> {
    return new Sealed(shares);
  }

  /** Computes on a server's own shares alone. */
  map<U>(transform: (shares: T) => U): Sealed<U> {
    return new Sealed(transform(this.#shares));
  }

  static all<T extends readonly unknown[]>(parts: {
    readonly [K in keyof T]: Sealed<T[K]>;
  }): Sealed<T> {
    return new Sealed(parts.map((part) => part.#shares) as unknown as T);
  }
}
