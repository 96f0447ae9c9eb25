// A request with certificates: the answer as it came, and no redirect, which would carry the key elsewhere.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateAuthority, type Authority } from '../../../test/helpers/certificates.ts';
import type { CliIo } from '../cli-io.ts';
import { sendBy } from './send-request.ts';

let authority: Authority;
let server: Server;
let base: string;
const paths: (string | undefined)[] = [];

beforeAll(async () => {
  authority = certificateAuthority();
  server = createServer(authority.sign('/CN=gateway', ['IP.1 = 127.0.0.1']), (request, response) => {
    paths.push(request.url);
    if (request.url === '/moved') response.writeHead(307, { location: '/elsewhere' }).end();
    else
      response
        .writeHead(request.url === '/refused' ? 403 : 200)
        .end(`${request.method} ${String(request.headers['x-said'])}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  authority?.remove();
  server?.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

const NO_FETCH = {
  fetch: () => Promise.reject(new Error('fetch takes no certificates')),
} as unknown as CliIo;

function send(path: string) {
  const request = { method: 'POST', headers: { 'x-said': 'this' }, body: '{}' };
  return sendBy(NO_FETCH, { ca: authority.cert.toString() })(new URL(path, base), request);
}

it('brings the answer, whether it says yes or no', async () => {
  expect(await send('/')).toEqual({ status: 200, ok: true, text: 'POST this' });
  expect(await send('/refused')).toMatchObject({ status: 403, ok: false });
});

it('follows no redirect', async () => {
  await expect(send('/moved')).rejects.toThrow('redirect');
  expect(paths).not.toContain('/elsewhere');
});
