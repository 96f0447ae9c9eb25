// What a connection says, settled: one for executor and loader, so that both come to the same channel.
import { egressOf } from '../egress/egress.ts';
import { DEFAULT_MESSAGE_BYTES, urlOf, type GrpcConnection } from './grpc-connection.ts';

export function upstreamSettings(connection: Omit<GrpcConnection, 'type'>) {
  const { target, tls = true, max_message_bytes: maxMessageBytes = DEFAULT_MESSAGE_BYTES } = connection;
  const colon = target.lastIndexOf(':');
  const said = typeof tls === 'object' ? tls : {};
  const { server_name: serverName, ...pem } = said;
  return {
    host: target.slice(0, colon),
    port: Number(target.slice(colon + 1)),
    tls: tls === false ? undefined : { ...pem, ...(serverName !== undefined && { serverName }) },
    egress: egressOf(connection, urlOf(connection)),
    maxMessageBytes,
  };
}
