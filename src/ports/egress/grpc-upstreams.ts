// GrpcUpstreams: gRPC services behind the gateway, each over one channel that is kept and shared by all of its callers.
import type { EgressPolicy } from './http-client.ts';

export interface GrpcUpstreamSettings {
  /** As in a URL: an IPv6 address stands in brackets. */
  readonly host: string;
  readonly port: number;
  /** Undefined: without TLS. */
  readonly tls: GrpcTls | undefined;
  readonly egress: EgressPolicy;
  /** Of one message, in either direction. */
  readonly maxMessageBytes: number;
}

export interface GrpcTls {
  /** PEM; the system's authorities where it is left out. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly serverName?: string;
}

export interface GrpcUpstreams {
  /** Touches nothing yet: the first call connects. The same settings lead to the same channel. */
  open(settings: GrpcUpstreamSettings): GrpcUpstream;
  close(): Promise<void>;
}

export interface GrpcUpstream {
  /**
   * One message out, any number back, each handed to `onMessage` before the next is read. Rejects with what `onMessage`
   * throws, with GrpcStatusError for a status that is not OK, with the signal's reason, or with ToolFailure: UNAVAILABLE
   * (CONNECT_FAILED, DNS_TIMEOUT: nothing was sent; CONNECTION_LOST: something may have been), PERMANENT (EGRESS_DENIED),
   * OUTPUT_TOO_LARGE for a message of more than `maxMessageBytes`, also when it is unpacked, OUTPUT_INVALID
   * (UNREADABLE_ENCODING) for one that cannot be unpacked, RATE_LIMIT for a call that was reset as one of too many.
   */
  call(call: GrpcCall): Promise<void>;
  close(): Promise<void>;
}

export interface GrpcCall {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly message: Uint8Array;
  /** Names in lower case, values in printable ASCII. */
  readonly metadata: { readonly [name: string]: string };
  /** What the upstream is told of the time that is left, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onMessage: (message: Uint8Array) => void | Promise<void>;
}

/** The upstream answered with a status that is not OK. */
export class GrpcStatusError extends Error {
  readonly code: number;
  /** A google.rpc.Status, as it stands in the trailer grpc-status-details-bin. */
  readonly details: Uint8Array | undefined;

  constructor(code: number, message: string, details: Uint8Array | undefined) {
    super(message);
    this.name = 'GrpcStatusError';
    this.code = code;
    this.details = details;
  }
}
