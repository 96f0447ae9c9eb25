// A socket for libraries that connect it themselves, by port and host: the name is looked up by the gateway's own resolver.
import { Socket } from 'node:net';
import type { NameResolver } from './name-resolver.ts';

/** A path instead of a port is a local socket, as for any other. */
export function resolvingSocket({ lookup }: NameResolver): Socket {
  const socket = new Socket();
  const connect = socket.connect.bind(socket);
  return Object.assign(socket, {
    connect: (portOrPath: number | string, host?: string) =>
      host === undefined ? connect(String(portOrPath)) : connect({ port: Number(portOrPath), host, lookup }),
  });
}
