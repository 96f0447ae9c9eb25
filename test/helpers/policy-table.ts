// Tools, rules, and what the rules decide about calls of them: written by hand, and the same through every door.
import { stringify } from 'yaml';

const handler = { handler: './answer.js', trusted: true };
const whole = { type: 'integer' };
const text = { type: 'string' };

export const TOOLS_TEXT = stringify({
  tools: [
    {
      name: 'pay',
      description: 'Pays.',
      tool_type: 'javascript',
      implementation_config: handler,
      input_schema: {
        type: 'object',
        properties: { amount: whole, to: text, id: { ...whole, format: 'int64' } },
        required: ['amount'],
      },
    },
    {
      name: 'lookup',
      description: 'Looks up.',
      tool_type: 'javascript',
      implementation_config: handler,
      input_schema: { type: 'object', properties: { topic: text, limit: whole }, required: ['topic'] },
      metadata: { category: 'retrieval' },
    },
    {
      name: 'send',
      description: 'Sends.',
      tool_type: 'javascript',
      implementation_config: handler,
      input_schema: {
        type: 'object',
        properties: {
          to: { type: 'array', items: text },
          urgency: { type: 'number', default: 0.5 },
          note: { type: ['string', 'null'] },
        },
        required: ['to'],
      },
      extensions: {
        policy: {
          tool_rules: [
            {
              name: 'send.outside',
              when: 'args.to.exists(each, !each.endsWith("@acme.test"))',
              decision: 'deny',
            },
            { name: 'send.many', when: 'size(args.to) > 2', decision: 'require_approval' },
            { name: 'send.urgent', when: 'args.urgency > 0.9 && context.mode == "voice"', decision: 'deny' },
            { name: 'send.noted', when: 'has(args.note) && args.note.size() > 3', decision: 'deny' },
          ],
        },
      },
    },
    {
      name: 'refund',
      description: 'Pays back.',
      tool_type: 'javascript',
      implementation_config: handler,
      input_schema: { type: 'object', properties: { amount: whole }, required: ['amount'] },
      metadata: { permissions: ['money:refund'] },
    },
  ],
});

export const ROLES = { clerk: ['tools:call', 'money:refund'], viewer: ['tools:read'] };

export const RULES = [
  {
    name: 'clerk-limit',
    tools: ['pay'],
    when: '"clerk" in caller.roles && args.amount > 50',
    decision: 'deny',
  },
  { name: 'umbrella-pays-not', tools: ['pay*'], tenants: ['umbrella'], decision: 'deny' },
  { name: 'large-id', tools: ['pay'], when: 'has(args.id) && args.id > 9007199254740992', decision: 'deny' },
  {
    name: 'voice-limit',
    tools: ['pay'],
    when: 'args.amount > 100 && context.mode == "voice"',
    decision: 'require_approval',
  },
  { name: 'too-much', tools: ['pay'], when: 'args.amount > 1000', decision: 'deny', message: 'Too much.' },
  {
    name: 'known',
    tools: ['pay'],
    when: 'has(args.to) && args.to.matches("^acct-[0-9]+$")',
    decision: 'allow',
  },
  { name: 'unknown', tools: ['pay'], when: 'has(args.to)', decision: 'deny' },
  { name: 'words', categories: ['retrieval'], when: 'args.topic in ["salaries", "keys"]', decision: 'deny' },
  {
    name: 'fast',
    categories: ['retrieval'],
    when: 'args.topic == "news"',
    decision: 'cap',
    timeout_ms: 20_000,
  },
  {
    name: 'limits',
    tools: ['look??'],
    when: 'context.mode == "text" && args.limit > 10',
    decision: 'deny',
  },
];

/** By the name of their key. */
export const CALLERS = {
  acme: { tenant: 'acme', roles: ['agent'], user: 'ann' },
  umbrella: { tenant: 'umbrella', roles: ['agent'] },
  clerk: { tenant: 'acme', roles: ['clerk'] },
  viewer: { tenant: 'acme', roles: ['viewer'] },
  // Names one of its tenants beside each call.
  many: { tenants: ['acme', 'umbrella'], roles: ['agent'] },
  // Names another agent than its own.
  stray: { tenant: 'acme', roles: ['agent'], agents: ['front'] },
} as const;
export type Caller = keyof typeof CALLERS;
const CONTEXTS: Partial<Record<Caller, Readonly<Record<string, string>>>> = { stray: { agent_id: 'back' } };
const NAMED_TENANT: Partial<Record<Caller, string>> = { many: 'umbrella' };

/** By whom, and in which mode: the columns of the table. What those below the line get follows from the others. */
export const COLUMNS = [
  ['acme', 'voice'],
  ['acme', 'text'],
  ['acme', undefined],
  ['umbrella', 'voice'],
  ['umbrella', 'text'],
  ['umbrella', undefined],
  // ---
  ['clerk', 'text'],
  ['viewer', 'voice'],
  ['many', 'text'],
  ['stray', 'voice'],
] as const satisfies readonly (readonly [Caller, Mode])[];
type Mode = 'voice' | 'text' | undefined;

/** What is decided: runs, waits for approval, does not fit the schema, cannot be decided; else the rule that refuses. */
const RUNS = 'runs';
const ASKS = 'asks';
const WRONG = 'wrong';
const FAILS = 'fails';
const PAYS_NOT = ['umbrella-pays-not', 'umbrella-pays-not', 'umbrella-pays-not'];
const MISSING = 'PERMISSION_MISSING';
const all = (decision: string) => Array.from({ length: 6 }, () => decision);
const paying = (voice: string, other: string) => [voice, other, other, ...PAYS_NOT];
const byMode = (voice: string, modeText: string, none: string) => [
  voice,
  modeText,
  none,
  voice,
  modeText,
  none,
];

type Row = readonly [tool: string, args: string, decisions: readonly string[], clerks?: string];

/** Tool, arguments as JSON, a decision for each of the first columns, and the clerk's where that is not the one of any agent. */
const TABLE: readonly Row[] = [
  ['pay', '{"amount":0}', paying(RUNS, RUNS)],
  ['pay', '{"amount":-5}', paying(RUNS, RUNS)],
  ['pay', '{"amount":99}', paying(RUNS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":100}', paying(RUNS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":101}', paying(ASKS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":101.0}', paying(ASKS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":1e2}', paying(RUNS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":1000}', paying(ASKS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":1001}', paying(ASKS, 'too-much'), 'clerk-limit'],
  ['pay', '{"amount":9007199254740991}', paying(ASKS, 'too-much'), 'clerk-limit'],
  ['pay', '{"amount":-9007199254740991}', paying(RUNS, RUNS)],
  ['pay', '{"amount":5,"to":"acct-7"}', paying(RUNS, RUNS)],
  ['pay', '{"amount":101,"to":"acct-7"}', paying(ASKS, RUNS), 'clerk-limit'],
  ['pay', '{"amount":5,"to":"acct-x"}', paying('unknown', 'unknown')],
  ['pay', '{"amount":5,"to":" acct-7"}', paying('unknown', 'unknown')],
  ['pay', '{"amount":5,"to":"acct-7\\n"}', paying('unknown', 'unknown')],
  ['pay', '{"amount":5,"to":""}', paying('unknown', 'unknown')],
  ['pay', '{"amount":5,"id":7}', paying(RUNS, RUNS)],
  ['pay', '{"amount":5,"id":9007199254740992}', paying(RUNS, RUNS)],
  ['pay', '{"amount":5,"id":9007199254740993}', paying('large-id', 'large-id')],
  ['pay', '{"amount":5,"id":"9223372036854775807"}', paying('large-id', 'large-id')],
  ['pay', '{"amount":5,"id":-9223372036854775808}', paying(RUNS, RUNS)],
  ['pay', '{"amount":"101"}', all(WRONG)],
  ['pay', '{"amount":101.5}', all(WRONG)],
  ['pay', '{}', all(WRONG)],
  ['pay', '{"amount":5,"too":"acct-7"}', all(WRONG)],
  ['refund', '{"amount":5}', all(MISSING), RUNS],
  ['refund', '{"amount":"5"}', all(MISSING), WRONG],
  ['lookup', '{"topic":"rooms","limit":5}', all(RUNS)],
  ['lookup', '{"topic":"rooms","limit":10}', all(RUNS)],
  ['lookup', '{"topic":"rooms","limit":11}', byMode(RUNS, 'limits', RUNS)],
  ['lookup', '{"topic":"rooms"}', byMode(RUNS, FAILS, RUNS)],
  ['lookup', '{"topic":"news"}', all(RUNS)],
  ['lookup', '{"topic":"salaries"}', all('words')],
  ['lookup', '{"topic":"keys","limit":1}', all('words')],
  ['lookup', '{"topic":"Keys","limit":1}', all(RUNS)],
  ['lookup', '{"topic":"","limit":1}', all(RUNS)],
  ['lookup', '{"topic":7}', all(WRONG)],
  ['send', '{"to":[]}', all(RUNS)],
  ['send', '{"to":["a@acme.test"]}', all(RUNS)],
  ['send', '{"to":["a@acme.test","b@acme.test"]}', all(RUNS)],
  ['send', '{"to":["a@acme.test","b@acme.test","c@acme.test"]}', all(ASKS)],
  ['send', '{"to":["a@acme.test","b@acme.test","c@else.test"]}', all('send.outside')],
  ['send', '{"to":["a@acme.test "]}', all('send.outside')],
  ['send', '{"to":["a@acme.test"],"urgency":0.91}', byMode('send.urgent', RUNS, RUNS)],
  ['send', '{"to":["a@acme.test"],"urgency":1}', byMode('send.urgent', RUNS, RUNS)],
  ['send', '{"to":["a@acme.test"],"urgency":0.9}', all(RUNS)],
  ['send', '{"to":["a@acme.test"],"note":"four"}', all('send.noted')],
  ['send', '{"to":["a@acme.test"],"note":"new"}', all(RUNS)],
  ['send', '{"to":["a@acme.test"],"note":null}', all(RUNS)],
  ['send', '{"to":"a@acme.test"}', all(WRONG)],
];

export interface PolicyCase {
  readonly tool: string;
  readonly args: string;
  readonly caller: Caller;
  readonly context: Readonly<Record<string, string>>;
  /** That is named beside the call. */
  readonly tenant: string | undefined;
  readonly decision: string;
}

export const CASES: readonly PolicyCase[] = TABLE.flatMap(
  ([tool, args, decisions, clerks = decisions[1]]) => {
    const following = [clerks, MISSING, decisions[4], 'AGENT_MISMATCH'];
    return COLUMNS.map(([caller, mode], index) => ({
      tool,
      args,
      caller,
      context: { ...CONTEXTS[caller], ...(mode !== undefined && { mode }) },
      tenant: NAMED_TENANT[caller],
      decision: [...decisions, ...following][index] ?? '',
    }));
  },
);

interface Answer {
  readonly ok: boolean;
  readonly type?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

const REASONS: Readonly<Record<string, string>> = {
  APPROVAL_REQUIRED: ASKS,
  SCHEMA_MISMATCH: WRONG,
  POLICY_FAILED: FAILS,
};

/** An answer in the words of the table. A gRPC status has no details: there the message names the rule. */
export function decisionOf({ ok, reason = '', message = '', details }: Answer): string {
  if (ok) return RUNS;
  if (reason !== 'POLICY_DENIED') return REASONS[reason] ?? reason;
  const told =
    RULES.find((rule) => rule.message === message)?.name ?? /rule (\S+) does not/.exec(message)?.[1];
  const rule = details?.['rule'] ?? told;
  return typeof rule === 'string' ? rule : reason;
}
