// Before the suites: makes the databases that they begin with copies of, removed after them. An empty one of the gateway's own, up to
// date, and one elsewhere that nobody has used.
import { join } from 'node:path';
import { Database } from '../../src/infra/postgres/database.ts';
import { embeddedServer, type TestServer } from './embedded-postgres.ts';
import { makeTemplate } from './postgres.ts';
import { quietLog } from './quiet-log.ts';

let made: TestServer | undefined;
let removeTemplate: (() => void) | undefined;

export async function setup(): Promise<void> {
  // Each project asks for it.
  if (process.env['UTE_TEST_CLUSTER'] !== undefined) return;
  made = embeddedServer();
  const { server } = made;
  await server.start();
  await Database.migrateOnly({ kind: 'embedded', server, poolSize: 1, migrate: true }, quietLog);
  await server.stop();
  process.env['UTE_TEST_CLUSTER'] = join(made.dataDir, 'postgres');
  const template = makeTemplate();
  removeTemplate = () => template.remove();
  process.env['UTE_TEST_POSTGRES'] = template.data;
}

export async function teardown(): Promise<void> {
  removeTemplate?.();
  await made?.end();
}
