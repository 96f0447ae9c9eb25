// `ute diagnose`: all that somebody needs who is asked for help with a gateway, in one file without secrets.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { secretScrubber } from '../../lib/secrets/scrub-secrets.ts';
import { VERSION } from '../../version.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { parse } from '../gateway/gateway-answer.ts';
import {
  GatewayClient,
  reasonOf,
  withGatewayOptions,
  type GatewayOptions,
} from '../gateway/gateway-client.ts';
import { ownSettings } from '../own-settings.ts';
import { machineReport } from './machine-report.ts';
import { metricsAddress, type MetricsAddress } from './metrics-address.ts';
import { shownAnswers } from './shown-answers.ts';
import { shownSettings } from './shown-settings.ts';

interface DiagnoseOptions extends GatewayOptions {
  readonly metricsUrl?: string;
}

const ASKED = {
  readyz: '/readyz',
  status: '/v1/admin/status',
  running_calls: '/v1/admin/running-calls',
  registry: '/v1/registry',
  reload: '/v1/admin/reload',
  replicas: '/v1/admin/replicas',
  circuits: '/v1/admin/circuits',
  pipeline: '/v1/pipeline',
  definitions: '/v1/admin/definitions',
} as const;
/** A shorter one would be found in harmless words. */
const LEAST_SECRET = 6;
const METRICS_WITHIN_MS = 5_000;

export function addDiagnoseCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('diagnose <file>'))
    .summary('collect what a bug report needs')
    .description(
      'Writes a new file of JSON: how the gateway stands, its metrics, the settings of this folder and this machine. No\n' +
        'arguments, results or secrets are in it; look through it before you send it. What cannot be had is named in it.\n' +
        'The key needs platform:admin.',
    )
    .option('--metrics-url <url>', 'where the metrics are (default: what the gateway says)')
    .action(async (file: string, options: DiagnoseOptions) => {
      const { report, metricsFrom } = await collect(options, io);
      await write(resolve(io.cwd, file), report);
      io.stdout(summaryOf(file, report, metricsFrom));
      finish(EXIT.ok);
    });
}

interface Collected {
  readonly report: JsonObject;
  readonly metricsFrom: MetricsAddress;
}

async function collect(options: DiagnoseOptions, io: CliIo): Promise<Collected> {
  const settings = attempt(() => ownSettings(io));
  const own = settings instanceof Error ? undefined : settings;
  const gateway = await GatewayClient.open(options, io);
  const shown = shownSettings(own);
  const parts = await Promise.all(Object.entries(ASKED).map(async ([name, path]) => [name, await asked(gateway, path)] as const)); // oxfmt-ignore
  const answers: JsonObject = Object.fromEntries(parts);
  const { status } = answers;
  const told = isJsonObject(status) ? status['metrics_url'] : undefined;
  const metricsFrom = metricsAddress(options.metricsUrl, told, gateway.target('/').url);
  // What could not be reached is named by whoever tells of it.
  const metricsHosts = 'url' in metricsFrom ? shownSettings(metricsFrom.url).secrets : [];
  const shownOf = shownAnswers(answers);
  const report: JsonObject = {
    made_at: new Date().toISOString(),
    ute: VERSION,
    machine: await machineReport(own?.data_dir),
    settings: settings instanceof Error ? { error: settings.message } : shown.value,
    gateway: shownOf.value,
    metrics: await metrics(metricsFrom, io),
  };
  const key = options.key ?? io.env['UTE_API_KEY'] ?? '';
  const secrets = [...shown.secrets, ...shownOf.hosts, ...metricsHosts, key].filter(
    (secret) => secret.length >= LEAST_SECRET,
  );
  return { report: secretScrubber(secrets).json(report), metricsFrom };
}

async function asked(gateway: GatewayClient, path: string): Promise<JsonValue> {
  try {
    const { status, text } = await gateway.get(path);
    const value = parse(text) as JsonValue | undefined;
    return status === 200 || path === ASKED.readyz
      ? (value ?? { error: 'no JSON' })
      : { error: `answered ${status}` };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

async function metrics(from: MetricsAddress, io: CliIo): Promise<JsonValue> {
  if (!('url' in from)) return { error: from.reason };
  try {
    const response = await io.fetch(from.url, {
      redirect: 'error',
      signal: AbortSignal.timeout(METRICS_WITHIN_MS),
    });
    if (!response.ok) return { error: `answered ${response.status}` };
    return (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

function attempt<Value>(work: () => Value): Value | Error {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function write(path: string, report: JsonObject): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CliFailure(EXIT.usage, `${path} cannot be made: ${reasonOf(error)}`);
  }
}

function summaryOf(file: string, report: JsonObject, metricsFrom: MetricsAddress): string {
  const sections = {
    settings: report['settings'],
    ...(report['gateway'] as JsonObject),
    metrics: report['metrics'],
  };
  const missing = Object.entries(sections).flatMap(([name, value]) =>
    isJsonObject(value) && typeof value['error'] === 'string'
      ? [`missing: ${name}: ${value['error']}\n`]
      : [],
  );
  const asked = 'url' in metricsFrom ? `metrics were asked for at ${metricsFrom.url}\n` : '';
  return `${file} is written; look through it before you send it\n${asked}${missing.join('')}`;
}
