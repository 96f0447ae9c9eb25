// `ute policy`: what the rules would decide: of a running gateway about one call, of these files about a list of cases.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Explanation } from '../../contract/call/explanation.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json.ts';
import { assumeDemoUpstream } from '../../app/demo/demo-upstream.ts';
import type { Problem } from '../../contract/tool/loaded-tools.ts';
import { describeProblem } from '../../lib/text/describe-problem.ts';
import { addContextField, contextBody, readArguments } from '../arguments.ts';
import type { CliIo } from '../cli-io.ts';
import { CliFailure, EXIT, type ExitCode } from '../exit-code.ts';
import { asObject } from '../gateway/gateway-answer.ts';
import { GatewayClient, withGatewayOptions, type GatewayOptions } from '../gateway/gateway-client.ts';
import { ownSettings } from '../own-settings.ts';
import { readPolicyCases, type PolicyCase } from '../policy-cases.ts';
import { table } from '../table.ts';

interface ExplainOptions extends GatewayOptions {
  readonly context: ReadonlyMap<string, string>;
  readonly as?: string;
  readonly json?: true;
}

interface TestOptions {
  readonly config?: string;
  readonly json?: true;
}

export function addPolicyCommand(program: Command, io: CliIo, finish: (code: ExitCode) => void): void {
  const policy = program.command('policy').summary('what policies decide');
  withGatewayOptions(policy.command('explain <tool> [arguments]'))
    .summary('which rule of a running gateway would decide about a call')
    .description(
      'Asks a running gateway how a call would be decided; nothing runs. Arguments are a JSON object, @file, or -.\n' +
        'Needs the permission policies:explain.',
    )
    .option('--context <key=value>', 'a field of the context; may be repeated', addContextField, new Map())
    .option('--as <key id>', 'whose call it would be: a key of the same tenant')
    .option('--json', 'print JSON')
    .action(async (tool: string, written: string | undefined, options: ExplainOptions) => {
      finish(await explain(tool, written, options, io));
    });
  policy
    .command('test <file>')
    .summary('hold the rules of these settings to a file of cases')
    .description(
      'Loads settings and tools as the gateway would, serves nobody, and asks the rules about each case of the file.\n' +
        'Ends with 1 when a case is decided in another way than it says.',
    )
    .option('--config <file>', 'a gateway.yaml, instead of UTE_CONFIG')
    .option('--json', 'print JSON')
    .action(async (file: string, options: TestOptions) => {
      finish(await test(file, options, io));
    });
}

async function explain(
  tool: string,
  written: string | undefined,
  { context, as, json, ...at }: ExplainOptions,
  io: CliIo,
): Promise<ExitCode> {
  const body: JsonObject = {
    tool,
    arguments: await readArguments(written, io),
    context: contextBody(context),
    ...(as !== undefined && { key_id: as }),
  };
  const gateway = await GatewayClient.open(at, io);
  const found = asObject(await gateway.send('POST', '/v1/policy/explain', body));
  io.stdout(json === true ? `${JSON.stringify(found, null, 2)}\n` : explained(found));
  return EXIT.ok;
}

function explained({ decision, rule, message, refusal, rules }: JsonObject): string {
  const by = typeof rule === 'string' ? ` by ${rule}` : '';
  const refused = isJsonObject(refusal) ? `${textOf(refusal['reason'])}: ${textOf(refusal['message'])}` : '';
  const why = refused || textOf(message);
  const asked = Array.isArray(rules) ? rules.filter(isJsonObject) : [];
  const rows = asked.map(({ rule: name, outcome }) => [textOf(name), textOf(outcome)]);
  return [
    `${textOf(decision)}${by}\n`,
    why === '' ? '' : `${why}\n`,
    rows.length === 0 ? '' : `\n${table(['RULE', 'OUTCOME'], rows)}`,
  ].join('');
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

interface Judged {
  readonly name: string;
  readonly ok: boolean;
  readonly expected: string;
  readonly found: string;
}

async function test(file: string, { config, json }: TestOptions, io: CliIo): Promise<ExitCode> {
  const { cases, problems } = readPolicyCases(resolve(io.cwd, file));
  if (problems.length > 0) throw failureOf(problems);
  const env = config === undefined ? io.env : { ...io.env, UTE_CONFIG: config };
  const settings = ownSettings({ ...io, env });
  assumeDemoUpstream();
  // Loads the gateway only now: no other command needs it.
  const { testPolicies } = await import('../../app/gateway/test-policies.ts');
  const tested = await testPolicies(settings, cases);
  if (tested.problems.length > 0) throw failureOf(tested.problems);
  const judged = cases.map((each, index) => judge(each, tested.explanations[index]));
  const failed = judged.filter(({ ok }) => !ok);
  if (json === true) io.stdout(`${JSON.stringify({ ok: failed.length === 0, cases: judged }, null, 2)}\n`);
  else io.stdout(reportOf(judged, failed));
  return failed.length === 0 ? EXIT.ok : EXIT.failed;
}

function judge(
  { name, expect, rule, reason }: PolicyCase,
  { refusal, told }: Explanation = { refusal: undefined, told: {} },
): Judged {
  const policy = told['policy'] ?? { decision: 'none', rule: null };
  const found =
    refusal === undefined
      ? { decision: textOf(policy['decision']), by: textOf(policy['rule']) }
      : { decision: 'refused', by: refusal.error.reason };
  const ok = found.decision === expect && (rule ?? reason ?? found.by) === found.by;
  return { name, ok, expected: words(expect, rule ?? reason), found: words(found.decision, found.by) };
}

function words(decision: string, by = ''): string {
  return by === '' ? decision : `${decision} (${by})`;
}

function reportOf(judged: readonly Judged[], failed: readonly Judged[]): string {
  const rows = failed.map(({ name, expected, found }) => [name, expected, found]);
  const sum = `${judged.length - failed.length} of ${judged.length} cases are decided as they say\n`;
  return rows.length === 0 ? sum : `${table(['CASE', 'EXPECTED', 'FOUND'], rows)}\n${sum}`;
}

function failureOf(problems: readonly Problem[]): CliFailure {
  return new CliFailure(EXIT.failed, problems.map(describeProblem).join('\n'));
}
