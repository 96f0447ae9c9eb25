// The reason of an answer that is an HTTP error of the upstream: its status, as in HTTP_503. These are in no table.

const SERVER_ERROR = 'HTTP_5';

export function statusReason(status: number): `HTTP_${number}` {
  return `HTTP_${status}`;
}

/** The upstream answered that it is in trouble itself: 500 and above. */
export function isServerError({ reason }: { readonly reason: string }): boolean {
  return reason.startsWith(SERVER_ERROR);
}
