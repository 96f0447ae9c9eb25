// A gateway for attacks on approvals: dangerous tools of several kinds in a folder that a test may change, and people with keys.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Door } from './doors.ts';
import { request, type Answer, type RestTarget } from './rest-client.ts';
import { startGateway, type RunningGateway } from './running-gateway.ts';
import { removeDir } from './temp-tools.ts';

const HELPER = 'export const word = "first";\n';
/** Notes each run in a file: what ran, how often and for whom is seen there. */
const HANDLER = `import { appendFileSync, existsSync } from 'node:fs';
import { word } from './helper.js';
export async function execute({ note, until, fail }, context) {
  while (until !== undefined && !existsSync(until)) await new Promise((next) => setTimeout(next, 10));
  appendFileSync(note, word + ' ' + (context.userId ?? '') + '\\n');
  if (fail !== undefined) throw new Error(fail);
  return word;
}
`;
const MODULE = 'def act(note: str) -> str:\n    return "first"\n';

const NOTED = {
  type: 'object',
  properties: { note: { type: 'string' }, until: { type: 'string' }, fail: { type: 'string' } },
  additionalProperties: false,
};

export function toolsText(upstream = 'https://bank.example', token = 'first-token'): string {
  const handler = { handler: './act.js' };
  const danger = { is_dangerous: true };
  const tool = (name: string, more: object) => ({ name, description: name, ...more });
  return stringify({
    connections: {
      bank: {
        type: 'http',
        base_url: upstream,
        allow_private: ['127.0.0.0/8'],
        auth: { type: 'bearer', token },
      },
    },
    tools: [
      tool('act', {
        tool_type: 'javascript',
        input_schema: NOTED,
        implementation_config: handler,
        metadata: danger,
      }),
      tool('act_alone', {
        tool_type: 'javascript',
        input_schema: NOTED,
        implementation_config: handler,
        metadata: danger,
        concurrency: { limit: 1, per: 'tool', max_queue: 0 },
      }),
      tool('act_soon', {
        tool_type: 'javascript',
        input_schema: NOTED,
        implementation_config: handler,
        metadata: danger,
        extensions: { approval: { ttl_ms: 1_000 } },
      }),
      tool('note', {
        tool_type: 'javascript',
        input_schema: NOTED,
        implementation_config: handler,
        metadata: {},
      }),
      tool('pay', {
        tool_type: 'http',
        input_schema: { type: 'object' },
        implementation_config: { connection: 'bank', method: 'POST', path: '/pay' },
        metadata: danger,
      }),
      tool('module', {
        tool_type: 'python',
        input_schema: { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] },
        implementation_config: { module: 'approved_module', function_name: 'act' },
        metadata: danger,
      }),
      tool('steps', {
        tool_type: 'composite',
        input_schema: NOTED,
        implementation_config: {
          steps: [{ id: 'one', tool: 'note', arguments: { note: { $: 'input.note' } } }],
        },
        metadata: danger,
      }),
    ],
  });
}

export interface ApprovalBench {
  readonly dir: string;
  readonly gateway: RunningGateway;
  /** May do everything. */
  readonly admin: RestTarget;
  write(file: string, text: string): void;
  /** All files as they were at the start. */
  restore(): void;
  /** A new file for runs to be noted in. */
  newNote(): string;
  stop(): Promise<void>;
}

/** ann, bob and boss are people of acme; `service` is nobody's key, `operator` may retry and not call. */
export async function startApprovalBench(
  settings: Readonly<Record<string, unknown>> = {},
): Promise<ApprovalBench> {
  const dir = mkdtempSync(join(tmpdir(), 'ute-approvals-'));
  const write = (file: string, text: string) => writeFileSync(join(dir, file), text);
  mkdirSync(join(dir, 'python'));
  const restore = () => {
    write('helper.js', HELPER);
    write('act.js', HANDLER);
    write('python/approved_module.py', MODULE);
    write('tools.yaml', toolsText());
  };
  restore();
  const person = (user: string, roles: readonly string[]) => ({ tenant: 'acme', roles, user });
  const gateway = await startGateway({
    tools: [join(dir, 'tools.yaml')],
    roles: {
      approver: ['approvals:decide'],
      operator: ['calls:write'],
      caller: ['tools:call', 'calls:write'],
    },
    more: {
      service: { tenant: 'acme', roles: ['agent', 'caller'] },
      operator: { tenant: 'acme', roles: ['operator'] },
      nobody: { tenant: 'acme', roles: ['approver'] },
      ann: person('ann', ['agent', 'caller']),
      boss: person('boss', ['approver']),
      auditor: person('auditor', ['admin']),
      'ann again': person('ann', ['approver']),
      'Ann in capitals': person(' ANN', ['approver']),
      'Ann in wide letters': person('\uff21\uff2e\uff2e', ['approver']),
      'Ann with what cannot be seen': person('a\u200bn\u00adn', ['approver']),
    },
    settings: {
      ...settings,
      approvals: { allow_self_approval: false },
      executors: {
        python: { module_paths: [join(dir, 'python')], sandbox: 'off' },
        javascript: { workers: 2, max_old_generation_mb: 64 },
      },
    },
  });
  let notes = 0;
  return {
    dir,
    gateway,
    admin: { url: gateway.url, key: gateway.keys.admin.text },
    write,
    restore,
    newNote: () => join(dir, `note-${(notes += 1)}`),
    async stop() {
      await gateway.stop();
      removeDir(dir);
    },
  };
}

/** One line for each run. */
export function runsIn(note: string): readonly string[] {
  return existsSync(note) ? readFileSync(note, 'utf8').trimEnd().split('\n') : [];
}

export interface Asked {
  readonly id: string;
  readonly token: string;
}

interface AskedBody {
  readonly error?: { readonly details: Record<string, string> };
  readonly approval_id?: string;
  readonly confirmation_token?: string;
}

/** Of an answer that asks for an approval, by whichever route. */
export function askedOf({ body }: Answer<AskedBody>): Asked {
  const { approval_id: id, confirmation_token: token } = body.error?.details ?? body;
  if (id === undefined || token === undefined) throw new Error(`nothing was asked: ${JSON.stringify(body)}`);
  return { id, token };
}

/** By REST. */
export async function ask(who: RestTarget, tool: string, args: object, context: object = {}): Promise<Asked> {
  const body = { arguments: args, context };
  return askedOf(await request<AskedBody>(who, 'POST', `/v1/tools/${tool}/execute`, body));
}

export function decide(
  who: RestTarget,
  { id }: Asked,
  decision: 'approve' | 'reject' = 'approve',
): Promise<Answer<{ status: string; reason?: string }>> {
  return request(who, 'POST', `/v1/approvals/${id}/decision`, { decision });
}

export function redeem(
  door: Door,
  who: RestTarget,
  tool: string,
  args: object,
  { token }: Asked,
  context: Readonly<Record<string, string>> = {},
) {
  return door.call({
    tool,
    argumentsJson: JSON.stringify(args),
    context: { ...context, confirmation_token: token },
    key: who.key,
  });
}
