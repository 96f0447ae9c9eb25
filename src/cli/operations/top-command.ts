// `ute top`: the calls that are in a gateway now, again and again.
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidArgumentError, type Command } from 'commander';
import { isJsonObject } from '../../contract/json.ts';
import type { CliIo } from '../cli-io.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { frameOf, type Frame } from './top-frame.ts';

interface TopOptions extends GatewayOptions {
  readonly every: number;
  readonly frames?: number;
  readonly once?: true;
  readonly json?: true;
}

/** Moves to the corner of the screen and wipes what is below. */
const CLEAR = '\u001b[H\u001b[J';

export function addTopCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  withGatewayOptions(program.command('top'))
    .summary('the calls that run now')
    .description(
      'Shows the calls that are in a running gateway, those that have run longest first, until it is stopped with Ctrl-C.\n' +
        'Behind a load balancer each look may meet another replica. The key needs platform:admin.',
    )
    .option('--every <seconds>', 'time between two looks', seconds, 2)
    .option('--frames <n>', 'stop after so many looks', wholeNumber)
    .option('--once', 'look once')
    .option('--json', 'print JSON, one object a look')
    .action(async (options: TopOptions) => {
      await show(options, io);
      finish(EXIT.ok);
    });
}

async function show(options: TopOptions, io: CliIo): Promise<void> {
  const { once, json, every } = options;
  const frames = once === true ? 1 : (options.frames ?? Number.POSITIVE_INFINITY);
  const gateway = await GatewayClient.open(options, io);
  let before: Frame | undefined;
  for (let frame = 0; frame < frames; frame += 1) {
    if (frame > 0) await pause(every * 1_000);
    const now = await look(gateway);
    if (json === true) io.stdout(`${JSON.stringify({ status: now.status, ...now.running })}\n`);
    else io.stdout(`${frames > 1 ? CLEAR : ''}${frameOf(now, before)}`);
    before = now;
  }
}

async function look(gateway: GatewayClient): Promise<Frame> {
  const [status, running] = await Promise.all([
    gateway.get('/v1/admin/status'),
    gateway.get('/v1/admin/running-calls'),
  ]);
  const { calls, ...rest } = asObject(running);
  const list = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
  return { status: asObject(status), running: { ...rest, calls: list } };
}

function seconds(written: string): number {
  const value = Number(written);
  if (value > 0 && value <= 3600) return value;
  throw new InvalidArgumentError('Expected seconds, more than 0 and at most 3600.');
}

function wholeNumber(written: string): number {
  if (/^[1-9]\d{0,6}$/.test(written)) return Number(written);
  throw new InvalidArgumentError('Expected a whole number above 0.');
}
