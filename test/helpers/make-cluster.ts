// Before the suites: makes one empty database, which their gateways begin with a copy of; removed after them.
import { join } from 'node:path';
import { embeddedServer } from './embedded-postgres.ts';

export default async function makeCluster(): Promise<() => Promise<void>> {
  const made = embeddedServer();
  await made.server.start();
  await made.server.stop();
  process.env['UTE_TEST_CLUSTER'] = join(made.dataDir, 'postgres');
  return () => made.end();
}
