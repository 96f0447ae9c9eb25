// The HTTP/2 servers under a server of grpc-js, which shows them to nobody.
import type { Http2Server } from 'node:http2';
import type { Server, ServerCredentials } from '@grpc/grpc-js';

/** What its types leave out. */
interface ServerOnHttp2 {
  createHttp2Server(credentials: ServerCredentials): Http2Server;
}

/** Before the server is bound: `use` sees each as it is made, behind grpc-js's own listeners. */
export function eachHttp2Server(server: Server, use: (http2: Http2Server) => void): void {
  const inside = server as unknown as ServerOnHttp2;
  const create = inside.createHttp2Server.bind(server);
  inside.createHttp2Server = (credentials) => {
    const http2 = create(credentials);
    use(http2);
    return http2;
  };
}
