// Whether a database that could not be opened may be there in a moment: what it, a pooler in front of it, or the network says then.
import { codeOf } from '../../lib/error-code.ts';

/** SQLSTATE: it starts, stops or recovers from a crash; it has no connection left; one to it cannot be made. */
const OF_THE_SERVER = /^(57P0[123]|53300|08(000|001|003|004|006))$/;
/** A name too: of a container that starts at the same time. */
const OF_THE_NETWORK =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOTFOUND)$/;
/** What pg says of itself has no code, and pgbouncer gives all its own words the same, also that a user is unknown. */
const WORDS =
  /timeout|terminated|starting up|shutting down|not yet accepting|login has been failing|server_login_retry|cannot connect to server|server conn(?:ection)? crashed/i;

/** Anything else will not get better by waiting. */
export function isNotThereYet(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (OF_THE_SERVER.test(code) || OF_THE_NETWORK.test(code) || WORDS.test(error.message)) return true;
  if (error instanceof AggregateError) return error.errors.some(isNotThereYet);
  return isNotThereYet(error.cause);
}
