/** The address of the database. */
export interface PostgresPlace {
  /** postgres://user@host/database?sslmode=verify-full, as libpq reads it. May hold a password. */
  readonly url: string;
  /**
   * Address of the database itself, to hear of news, where `url` names a pooler that breaks LISTEN.
   * Default: `url`.
   */
  readonly direct?: string;
  /** The schema that holds all tables. Default: keelson. */
  readonly schema?: string;
}
