// Log: structured lines. Name the fields; never pass a whole object that may hold a secret.

export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Log;
  /** From now on no line holds one of these, whoever logs it. */
  hide?(secrets: readonly string[]): void;
}

export interface LogFields {
  readonly [field: string]: unknown;
}
