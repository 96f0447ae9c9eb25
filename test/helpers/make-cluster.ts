// Before the suites: makes one empty database, which their gateways begin with a copy of; removed after them.
import { join } from 'node:path';
import { embeddedServer, type TestServer } from './embedded-postgres.ts';

let made: TestServer | undefined;

export async function setup(): Promise<void> {
  made = embeddedServer();
  await made.server.start();
  await made.server.stop();
  process.env['UTE_TEST_CLUSTER'] = join(made.dataDir, 'postgres');
}

export async function teardown(): Promise<void> {
  await made?.end();
}
