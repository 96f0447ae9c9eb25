// What never became a request, on real servers: answered where that can be, and never left open.
import { once } from 'node:events';
import { createServer } from 'node:https';
import { connect, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { selfSignedCertificate } from '../../../../test/helpers/self-signed-certificate.ts';
import { answerUnparsed } from './malformed-request.ts';

it('a connection whose TLS handshake does not end is closed, and no answer waits for it', async () => {
  const server = createServer({ ...selfSignedCertificate(), handshakeTimeout: 50 });
  server.on('clientError', answerUnparsed);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined).resume();
  await once(client, 'close');
  server.close();
  // Nothing is left that the server would wait for.
  await once(server, 'close');
  expect(client.bytesRead).toBe(0);
});
