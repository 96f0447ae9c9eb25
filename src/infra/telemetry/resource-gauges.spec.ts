// Specs of what is shown of the machine: disk, certificates, connections.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { recordingLog, recordingMetrics } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import { selfSignedCertificate } from '../../../test/helpers/self-signed-certificate.ts';
import { firstExpiry, showResources } from './resource-gauges.ts';

const dir = mkdtempSync(join(tmpdir(), 'ute-resources-'));
afterAll(() => rmSync(dir, { recursive: true }));

it('shows the disk, the certificate and the connections, and what cannot be read takes nothing else along', async () => {
  const file = join(dir, 'cert.pem');
  writeFileSync(file, selfSignedCertificate().cert);
  const metrics = recordingMetrics();
  const clock = new FakeClock();
  const pool = () => ({ totalCount: 3, idleCount: 1, waitingCount: 7 });
  const certificates = { server: file, client_ca: join(dir, 'missing.pem') };
  const log = recordingLog();
  const end = showResources({ dataDir: dir, certificates, pool, metrics, clock, log });
  await expect.poll(() => log.lines).toHaveLength(1);
  expect(metrics.values.get('ute_certificate_expiry_timestamp_seconds{server}')).toBeGreaterThan(
    Date.now() / 1000,
  );
  expect(metrics.values.get('ute_data_dir_size_bytes')).toBeGreaterThan(
    metrics.values.get('ute_data_dir_free_bytes') ?? Number.NaN,
  );
  expect(metrics.values.get('ute_database_connections{waiting}')).toBe(7);
  end();
  expect(clock.pendingTimers).toBe(0);
});

it('a text without a certificate has no end', () => {
  expect(firstExpiry('nothing')).toBeNaN();
});
