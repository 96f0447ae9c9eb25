// What answers on the REST port while the gateway cannot serve yet: probes learn why, and calls that they may come again.
import { readFileSync } from 'node:fs';
import { createServer as createHttp, type RequestListener } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface RecoveryAddress {
  readonly host: string;
  readonly http: { readonly port: number };
  readonly tls?: { readonly cert_file: string; readonly key_file: string } | undefined;
}

export interface RecoveryServer {
  readonly port: number;
  close(): Promise<void>;
}

const RETRY_AFTER_S = 1;

export async function openRecoveryServer(
  { host, http, tls }: RecoveryAddress,
  reason: () => string,
): Promise<RecoveryServer> {
  const answer: RequestListener = (request, response) => {
    const isAlive = request.url === '/livez';
    const body = isAlive ? { status: 'ok' } : { status: 'unavailable', reason: reason() };
    response.writeHead(isAlive ? 200 : 503, {
      'content-type': 'application/json',
      'retry-after': String(RETRY_AFTER_S),
      connection: 'close',
    });
    response.end(JSON.stringify(body));
  };
  const server =
    tls === undefined
      ? createHttp(answer)
      : createHttps({ cert: readFileSync(tls.cert_file), key: readFileSync(tls.key_file) }, answer);
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(http.port, host, done);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
