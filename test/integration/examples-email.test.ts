// examples/email as its README tells it: a mail server, a fixed message, guests who may be written to, and nobody else.
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { callTool, targetOf } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/email');
const printed: string[] = [];
let server: ChildProcess;
let gateway: RunningGateway;
let dir: string;

beforeAll(async () => {
  dir = tempDir();
  server = spawn(process.execPath, [join(FOLDER, 'server.mjs'), '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: server.stdout ?? process.stdin });
  const port = await new Promise<number>((found) =>
    lines.once('line', (line) => found(Number(line.split(':').at(-1)))),
  );
  lines.on('line', (line) => printed.push(line));
  const { connections, tools } = parse(readFileSync(join(FOLDER, 'tools.yaml'), 'utf8')) as {
    connections: { relay: object };
    tools: unknown[];
  };
  const relay = { ...connections.relay, port, allow_ports: [port] };
  writeFileSync(join(dir, 'tools.yaml'), stringify({ connections: { relay }, tools }));
  gateway = await startGateway({ tools: [join(dir, 'tools.yaml')] });
});
afterAll(async () => {
  await gateway?.stop();
  server?.kill();
  removeDir(dir);
});

const call = (tool: string, args: object) => callTool(targetOf(gateway, 'agent'), tool, args);
const toGuests = (to: string[], subject = 'Hello') =>
  call('write_to_guest', { to, subject, body: 'From seven on.' });

it('its commands answer what its README shows, and the server prints the mail', async () => {
  expect((await call('report_problem', { room: 12, problem: 'The tap drips.' })).body).toMatchObject({
    data: { accepted: ['technician@hotel.example'], rejected: [] },
  });
  expect(printed.join('\n')).toMatch(/From: The front desk <desk@hotel\.example>[^]*The tap drips\./);
  expect((await toGuests(['ann@guests.example', 'gone@guests.example'])).body).toMatchObject({
    data: {
      accepted: ['ann@guests.example'],
      rejected: [{ recipient: 'gone@guests.example', permanent: true, code: 550 }],
    },
  });
  expect((await toGuests(['eve@elsewhere.example'])).body).toMatchObject({
    error: { type: 'PERMISSION_DENIED', reason: 'RECIPIENT_NOT_ALLOWED' },
  });
  expect((await toGuests(['ann@guests.example'], 'Hello\r\nBcc: eve@elsewhere.example')).body).toMatchObject({
    error: {
      type: 'VALIDATION',
      reason: 'UNSAFE_ARGUMENT',
      details: { violations: [{ pointer: '/subject' }] },
    },
  });
});
