// The reason of an answer that is an error of the upstream: its HTTP status, as in HTTP_503, its gRPC status, as in
// GRPC_UNAVAILABLE, or its SMTP code, as in SMTP_550. These are in no table.

const SERVER_ERROR = 'HTTP_5';
const SERVER_STATUSES: ReadonlySet<string> = new Set(
  ['UNKNOWN', 'DEADLINE_EXCEEDED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS'].map((name) => `GRPC_${name}`),
);

export function statusReason(status: number): `HTTP_${number}` {
  return `HTTP_${status}`;
}

/** `name` as google.rpc.Code has it. */
export function grpcStatusReason(name: string): `GRPC_${string}` {
  return `GRPC_${name}`;
}

export function smtpStatusReason(code: number): `SMTP_${number}` {
  return `SMTP_${code}`;
}

/** 421: the mail server closes for everybody. Other codes of 4yz are about one message, or one recipient. */
const SMTP_CLOSING = smtpStatusReason(421);

/** The upstream answered that it is in trouble itself: 500 and above, or the statuses that mean the same. */
export function isServerError({ reason }: { readonly reason: string }): boolean {
  return reason.startsWith(SERVER_ERROR) || SERVER_STATUSES.has(reason) || reason === SMTP_CLOSING;
}
