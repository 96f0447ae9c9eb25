// What keeps the embedded database from running: one line for the operator, with what to set.
export class EmbeddedPostgresError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'EmbeddedPostgresError';
  }
}

export const SET_A_URL = 'set database.url (UTE_DATABASE_URL) to a PostgreSQL of your own';
