// `ute secrets`: the keys that secrets of agents are encrypted with: looked at, rotated, old secrets brought over.
import type { Command } from 'commander';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { table } from '../table.ts';

interface JsonOption extends GatewayOptions {
  readonly json?: true;
}

const HEAD = ['KEY', 'STATE', 'SECRETS'] as const;

export function addSecretsCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const secrets = program
    .command('secrets')
    .summary('keys that secrets of agents are encrypted with')
    .description(
      'The keys that a running gateway encrypts secrets of agents with. Needs a key of the platform.',
    );
  const add = (
    name: string,
    summary: string,
    work: (gateway: GatewayClient) => Promise<readonly [string, JsonValue]>,
  ) =>
    withGatewayOptions(secrets.command(name))
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option('--json', 'print JSON instead of a table')
      .action(async (options: JsonOption) => {
        const [text, value] = await work(await GatewayClient.open(options, io));
        io.stdout(options.json ? `${JSON.stringify(value, null, 2)}\n` : text);
        finish(EXIT.ok);
      });
  add('keys', 'list them, with how many secrets each has wrapped', async (gateway) =>
    shown(asObject(await gateway.get('/v1/admin/secrets'))),
  );
  add('rotate', 'make a new key; the older ones still read', async (gateway) =>
    shown(asObject(await gateway.send('POST', '/v1/admin/secrets/rotate'))),
  );
  add('rewrap', 'have the current key wrap what older ones have wrapped, batch by batch', rewrapAll);
}

async function rewrapAll(gateway: GatewayClient): Promise<readonly [string, JsonValue]> {
  let rewrapped = 0;
  for (;;) {
    const { rewrapped: now, left } = asObject(await gateway.send('POST', '/v1/admin/secrets/rewrap'));
    rewrapped += count(now);
    if (count(now) > 0 && count(left) > 0) continue;
    const rest = count(left) === 0 ? '' : `, ${count(left)} left, whose key this gateway does not have`;
    return [`${rewrapped} rewrapped${rest}\n`, { rewrapped, left: count(left) }];
  }
}

function shown(report: JsonObject): readonly [string, JsonValue] {
  const { keys } = report;
  const rows = (Array.isArray(keys) ? keys.filter(isJsonObject) : []).map((key) => {
    const { key_id: id, is_current: isCurrent, is_here: isHere, secrets } = key;
    const state = isCurrent === true ? 'current' : isHere === true ? 'reads' : 'missing here';
    return [typeof id === 'string' ? id : '', state, String(count(secrets))];
  });
  return [table(HEAD, rows), report];
}

function count(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
