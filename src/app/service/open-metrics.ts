// The metrics port, and what is shown there besides calls: version, disk, certificates, connections, approvals that wait.
import { readinessAnswer } from '../../api/health/readiness-answer.ts';
import type { Infra } from '../adapters/create-ports.ts';
import { showWaitingApprovals } from '../../infra/approvals/waiting-approvals.ts';
import { MetricsServer } from '../../infra/telemetry/metrics-server.ts';
import { showResources } from '../../infra/telemetry/resource-gauges.ts';
import { PROCESS_SERIES } from '../../ports/telemetry/series/process.ts';
import type { Sibling } from '../process/many/sibling.ts';
import type { Settings } from '../../settings/settings-schema.ts';
import { VERSION } from '../../version.ts';
import { addressesOf } from './addresses.ts';
import type { ServiceState } from './service-state.ts';

export interface MetricsDoor {
  /** The one in use; undefined: the primary has it, and asks. */
  readonly port: number | undefined;
  close(): Promise<void>;
}

/** Once the database is open. Rejects when the port cannot be had. `sibling`: there is none, the primary asks by that. */
export async function openMetrics(
  settings: Settings,
  infra: Infra,
  state: ServiceState,
  sibling?: Sibling,
): Promise<MetricsDoor> {
  if (sibling !== undefined) return showToPrimary(settings, infra, state, sibling);
  const server = new MetricsServer({
    metrics: infra.metrics,
    readiness: () => readinessAnswer(state),
    anonymous: settings.auth.mode === 'none',
  });
  const port = await server.listen(settings.metrics.port, settings.host);
  state.showsMetricsAt(addressesOf(settings, { metrics: port }).metricsUrl);
  const hideState = showState(settings, infra);
  return {
    port,
    close() {
      hideState();
      return server.close();
    },
  };
}

async function showToPrimary(
  settings: Settings,
  infra: Infra,
  state: ServiceState,
  sibling: Sibling,
): Promise<MetricsDoor> {
  sibling.says({
    readiness: () => readinessAnswer(state),
    exposition: (format) => infra.metrics.exposition(format),
  });
  // Which free port the primary found, where any will do, is not known here.
  const { port } = settings.metrics;
  if (port !== 0) state.showsMetricsAt(addressesOf(settings, { metrics: port }).metricsUrl);
  const hideState = showState(settings, infra);
  return { port: undefined, close: async () => hideState() };
}

/** The returned function ends the looks; none is waited for. */
function showState({ data_dir: dataDir, tls }: Settings, infra: Infra): () => void {
  const { database, ports } = infra;
  ports.metrics.gauge(PROCESS_SERIES.ute_build_info).with(VERSION, process.versions.node).set(1);
  const certificates = {
    ...(tls !== undefined && { server: tls.cert_file }),
    ...(tls?.client_ca_file !== undefined && { client_ca: tls.client_ca_file }),
  };
  const ends = [
    showResources({ ...ports, dataDir, certificates, pool: () => database.pool }),
    showWaitingApprovals({ ...ports, database }),
  ];
  return () => {
    for (const end of ends) end();
  };
}
