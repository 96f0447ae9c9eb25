// How one error looks at each door: by its type, by who reports it, and by its reason where that makes a difference.
import { ERROR_TYPES, type ErrorOrigin, type ErrorType, type ErrorTypeRow } from './error-types.ts';
import { reasonRow } from './reasons/reasons.ts';

const OK = 0;

/**
 * A tool's own report (origin `tool`) is an answer, not a failure of the call, except where the gateway found the answer
 * itself unusable.
 */
export function errorRow(type: ErrorType, origin: ErrorOrigin, reason?: string): ErrorTypeRow {
  const found: ErrorTypeRow = ERROR_TYPES[type];
  if (origin === 'tool' && type !== 'OUTPUT_INVALID' && type !== 'OUTPUT_TOO_LARGE')
    return { ...found, origin, http: 200, grpc: OK, mcp: 'isError' };
  const own = reason === undefined ? undefined : reasonRow(reason);
  if (own === undefined || own.types[0] !== type) return found;
  const { http = found.http, grpc = found.grpc } = own;
  return http === found.http && grpc === found.grpc ? found : { ...found, http, grpc };
}

/**
 * The HTTP status of an error that no envelope is around: a problem tells of itself by its status alone, so it never has that of a
 * success. What a type says that is 200 in an envelope is what an upstream did.
 */
export function problemStatus(type: ErrorType, reason?: string): number {
  const { http } = errorRow(type, 'gateway', reason);
  if (http >= 400) return http;
  return type === 'CONFIRMATION_REQUIRED' ? ERROR_TYPES.CONFLICT.http : ERROR_TYPES.OUTPUT_INVALID.http;
}
