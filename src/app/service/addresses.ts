// Where the doors and the metrics port are, as others reach them.
import type { Settings } from '../../settings/settings-schema.ts';

export interface OpenPorts {
  readonly rest?: number;
  readonly grpc?: number;
  /** Undefined: the primary has it. */
  readonly metrics: number | undefined;
}

export interface Addresses {
  /** Empty in the role worker, as is the next. */
  readonly restUrl: string;
  readonly grpcAddress: string;
  readonly metricsUrl: string;
}

export function addressesOf(
  { host, tls }: Pick<Settings, 'host' | 'tls'>,
  { rest, grpc, metrics }: OpenPorts,
): Addresses {
  const scheme = tls === undefined ? 'http' : 'https';
  const at = host.includes(':') ? `[${host}]` : host;
  return {
    restUrl: rest === undefined ? '' : `${scheme}://${at}:${rest}`,
    grpcAddress: grpc === undefined ? '' : `${at}:${grpc}`,
    metricsUrl: metrics === undefined ? '' : `http://${at}:${metrics}/metrics`,
  };
}
