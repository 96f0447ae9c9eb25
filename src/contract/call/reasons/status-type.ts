// What kind of failure an upstream's HTTP status is.
import type { ErrorType } from '../error-types.ts';

const TYPE_OF_STATUS: { readonly [status: number]: ErrorType } = {
  401: 'AUTH',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'TRANSIENT',
  409: 'CONFLICT',
  425: 'TRANSIENT',
  429: 'RATE_LIMIT',
};

export function typeOfStatus(status: number): ErrorType {
  return TYPE_OF_STATUS[status] ?? (status >= 500 ? 'TRANSIENT' : 'PERMANENT');
}
