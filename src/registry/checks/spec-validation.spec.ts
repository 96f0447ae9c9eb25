// What a declaration means, every way it can be wrong, and what a reload may keep.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../contract/json.ts';
import type { LoadedTools, RawConnection, RawDeclaration } from '../../contract/tool/loaded-tools.ts';
import type { ExecutorPlugin } from '../../contract/plugin.ts';
import { canonicalHash } from '../../lib/json/canonical-json.ts';
import { validateLoaded, type SpecRules } from './spec-validation.ts';
import { newValidationCache } from './validation-cache.ts';

const requestOptions = z.strictObject({
  path: z.string().regex(/^\//, 'expected a path that begins with "/"').optional(),
  connection: z.string().optional(),
  actions: z.record(z.string(), z.strictObject({ path: z.string() })).optional(),
  mode: z.union([z.literal('fast'), z.strictObject({ speed: z.number() })]).optional(),
});

const request: ExecutorPlugin<z.infer<typeof requestOptions>, object> = {
  name: 'request',
  summary: '',
  optionsSchema: requestOptions,
  connectionTypes: {
    web: z.strictObject({ type: z.literal('web'), url: z.string(), token: z.string().min(9).optional() }),
  },
  placeholders: ({ path = '', actions = {} }) => [
    ...namesIn(path).map((name) => ({ name, path: ['path'] })),
    ...Object.entries(actions).flatMap(([action, own]) =>
      namesIn(own.path).map((name) => ({ name, path: ['actions', action, 'path'] })),
    ),
  ],
  create: () => ({ prepare: () => ({ execute: () => Promise.resolve({ data: null }) }) }),
};

const other: ExecutorPlugin<object, object> = {
  ...request,
  name: 'other',
  optionsSchema: z.looseObject({}),
  connectionTypes: { mail: z.looseObject({}) },
  placeholders: undefined,
};

const rules: SpecRules = {
  executors: new Map([
    ['request', request],
    ['other', other],
  ]),
  extensions: new Map([
    [
      'cache',
      {
        name: 'cache',
        optionsSchema: z.strictObject({ ttl_ms: z.int(), scope: z.string().default('user') }),
      },
    ],
  ]),
};

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Says where it was asked for instead of a line: `locate(path)` becomes the file's name. */
function raw(value: unknown, baseDir = '/etc'): RawDeclaration {
  const contentHash = canonicalHash(JSON.stringify(value));
  return {
    value,
    contentHash,
    baseDir,
    locate: (path, what = 'value') => ({ file: `${what} ${path.join('.')}`, line: 7 }),
  };
}

function rawConnection(name: string, value: JsonObject): RawConnection {
  return { ...raw(value), name, resolved: value };
}

const minimal = {
  name: 'greet',
  description: 'Greets',
  tool_type: 'request',
  implementation_config: { path: '/x' },
};

function load(tools: readonly unknown[], connections: readonly RawConnection[] = []): LoadedTools {
  return { tools: tools.map((tool) => raw(tool)), connections, problems: [] };
}

function problemsOf(tool: object, connections: readonly RawConnection[] = []): string[] {
  const { problems } = validateLoaded([load([{ ...minimal, ...tool }], connections)], rules);
  return problems.map(({ file, message }) => `${file}: ${message}`);
}

const action = (parameter: object) => ({
  config_schema: { color: 'string' },
  actions: [{ name: 'go', description: 'Goes', parameters: [{ name: 'p', type: 'string', ...parameter }] }],
});

describe('a tool that says only what it must', () => {
  it('gets the documented defaults', () => {
    const [tool] = validateLoaded([load([minimal])], rules).tools;
    expect(tool?.spec).toEqual({
      name: 'greet',
      description: 'Greets',
      toolType: 'request',
      inputSchema: { type: 'object' },
      implementationConfig: { path: '/x' },
      metadata: {
        version: '1.0.0',
        permissions: [],
        riskLevel: 'low',
        isDangerous: false,
        requiresApproval: false,
        readOnly: false,
        idempotent: false,
        modes: ['voice', 'text'],
        tags: [],
      },
      timeoutMs: 30_000,
      rateLimits: [],
      extensions: {},
      baseDir: '/etc',
      contentHash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('has one content hash in every folder and under every layout, and another for other content', () => {
    const hashOf = (tool: object, baseDir: string) =>
      validateLoaded([{ tools: [raw(tool, baseDir)], connections: [], problems: [] }], rules).tools[0]?.spec
        .contentHash;
    const { name, ...rest } = minimal;
    expect(hashOf({ ...rest, name, timeout_ms: 30_000 }, '/srv')).toBe(hashOf(minimal, '/etc'));
    expect(hashOf({ ...minimal, timeout_ms: 30_001 }, '/etc')).not.toBe(hashOf(minimal, '/etc'));
  });

  it.each([
    [{ category: 'retrieval' }, true, true],
    [{ category: 'retrieval', idempotent: false }, true, false],
    [{ category: 'utility' }, false, false],
  ])('is read_only and idempotent as its category implies: %j', (metadata, readOnly, idempotent) => {
    const [tool] = validateLoaded([load([{ ...minimal, metadata }])], rules).tools;
    expect(tool?.spec.metadata).toMatchObject({ readOnly, idempotent });
  });
});

describe('limits', () => {
  it('count durations and fill in what follows from the rest', () => {
    const limits = {
      timeout_ms: 900,
      concurrency: { limit: 2 },
      rate_limits: [
        { rate: 3, period: '500ms' },
        { per: 'user', rate: 1, period: '1d', burst: 9 },
      ],
    };
    const [tool] = validateLoaded([load([{ ...minimal, ...limits }])], rules).tools;
    expect(tool?.spec).toMatchObject({
      concurrency: [{ limit: 2, per: 'tool', maxQueue: 100, maxWaitMs: 900 }],
      rateLimits: [
        { per: 'tool', rate: 3, periodMs: 500, burst: 3 },
        { per: 'user', rate: 1, periodMs: 86_400_000, burst: 9 },
      ],
    });
  });
});

describe('limits without their store', () => {
  const specWith = (changes: Record<string, unknown>) =>
    validateLoaded([load([{ ...minimal, ...changes }])], rules).tools[0]?.spec;

  it('local for most tools, closed for unsafe ones, and a lost slot ends a call that may write', () => {
    const limits = {
      concurrency: [{ limit: 1 }, { limit: 2, per: 'tenant' }],
      rate_limits: [{ rate: 1, period: '1s' }],
    };
    expect(specWith(limits)).toMatchObject({
      concurrency: [
        { per: 'tool', onStoreFailure: 'local', onLeaseLost: 'cancel' },
        { per: 'tenant', onStoreFailure: 'local', onLeaseLost: 'cancel' },
      ],
      rateLimits: [{ onStoreFailure: 'local', mode: 'enforce' }],
    });
    expect(specWith({ ...limits, metadata: { risk_level: 'high', read_only: true } })).toMatchObject({
      concurrency: [
        { onStoreFailure: 'closed', onLeaseLost: 'continue' },
        { onStoreFailure: 'closed', onLeaseLost: 'continue' },
      ],
      rateLimits: [{ onStoreFailure: 'closed' }],
    });
  });

  it('open is for tools that only read', () => {
    const open = { concurrency: { limit: 1, on_store_failure: 'open' } };
    expect(specWith({ ...open, metadata: { read_only: true } })?.concurrency?.[0]?.onStoreFailure).toBe(
      'open',
    );
    const { problems } = validateLoaded([load([{ ...minimal, ...open }])], rules);
    expect(problems).toMatchObject([{ path: 'concurrency.on_store_failure' }]);
    const rate = { rate_limits: [{ rate: 1, period: '1s', on_store_failure: 'open' }] };
    expect(validateLoaded([load([{ ...minimal, ...rate }])], rules).problems).toMatchObject([
      { path: 'rate_limits.0.on_store_failure' },
    ]);
  });

  it('two limits of one scope are refused', () => {
    const { problems } = validateLoaded(
      [
        load([
          {
            ...minimal,
            concurrency: [
              { limit: 1, per: 'user' },
              { limit: 2, per: 'user' },
            ],
          },
        ]),
      ],
      rules,
    );
    expect(problems).toMatchObject([{ path: 'concurrency.1.per' }]);
  });
});

describe('older spellings', () => {
  it('requiresConfirmation is requires_approval', () => {
    const [tool] = validateLoaded(
      [load([{ ...minimal, metadata: { requiresConfirmation: true } }])],
      rules,
    ).tools;
    expect(tool?.spec.metadata.requiresApproval).toBe(true);
  });

  it('requires_auth, auth_type and auth_config are auth, as older definitions have it', () => {
    const scopes = ['https://www.googleapis.com/auth/calendar.events'];
    const authOf = (said: object) =>
      validateLoaded([load([{ ...minimal, ...said }])], rules).tools[0]?.spec.auth;
    const old = { requires_auth: true, auth_type: 'oauth2', auth_config: { provider: 'google', scopes } };
    expect(authOf(old)).toEqual({ type: 'oauth2', config: { provider: 'google', scopes } });
    expect(authOf({ requires_auth: true, auth_type: null, auth_config: null })).toEqual({ config: {} });
    expect(authOf({ requires_auth: false })).toBeUndefined();
    expect(authOf({ auth: { type: 'api_key', provider: 'mail' } })).toEqual({
      type: 'api_key',
      config: { provider: 'mail' },
    });
  });

  it('a config_schema of bare properties is an object schema', () => {
    const configSchema = { id: 'string', size: { type: 'integer', default: 3 } };
    const [tool] = validateLoaded([load([{ ...minimal, config_schema: configSchema }])], rules).tools;
    expect(tool?.spec.configSchema).toEqual({
      type: 'object',
      properties: { id: { type: 'string' }, size: { type: 'integer', default: 3 } },
    });
  });

  it('sandbox is shell', () => {
    const withShell = {
      ...rules,
      executors: new Map([...rules.executors, ['shell', { ...other, name: 'shell' }]]),
    };
    const { tools } = validateLoaded([load([{ ...minimal, tool_type: 'sandbox' }])], withShell);
    expect(tools[0]?.spec.toolType).toBe('shell');
  });
});

describe('a mistake is named with its place, what was expected and what was found', () => {
  it.each([
    [{ name: 'a b' }, 'value name: expected 1 to 128 letters, digits, "_", "." or "-", found "a b"'],
    [
      { implementation_config: null, path: '/x', modle: 'y' },
      'key path: wrong indentation: "implementation_config" holds nothing; if "path" belongs to it, it must be deeper, and so must "modle"',
    ],
    [
      { metadata: null, read_only: true, timeout_ms: 5 },
      'key read_only: wrong indentation: "metadata" holds nothing; if "read_only" belongs to it, it must be deeper',
    ],
    [{ descripton: 'x' }, 'key descripton: unknown key "descripton"; did you mean "description"?'],
    [
      { metadata: { risk_level: 'hihg' } },
      'value metadata.risk_level: expected "low", "medium", "high" or "critical", found "hihg"; did you mean "high"?',
    ],
    [
      { metadata: { read_onyl: true } },
      'key metadata.read_onyl: unknown key "read_onyl"; did you mean "read_only"?',
    ],
    [
      { metadata: { version: 1.5 } },
      'value metadata.version: expected a version in quotes such as "1.0.0", found 1.5',
    ],
    [
      { metadata: { requires_approval: false, requiresConfirmation: true } },
      'key metadata.requiresConfirmation: requires_approval and requiresConfirmation mean the same and say different things: keep one',
    ],
    [{ timeout_ms: 0 }, 'value timeout_ms: expected at least 1, found 0'],
    [{ timeout_ms: '5s' }, 'value timeout_ms: expected a number, found "5s"'],
    [{ description: undefined }, 'value description: is required: expected a string'],
    [
      { tool_type: 'shell' },
      'value tool_type: "shell": there is no executor of this name here; known: other, request',
    ],
    [
      { tool_type: 'requst' },
      'value tool_type: "requst": there is no executor of this name here; known: other, request; did you mean "request"?',
    ],
    [
      { implementation_config: { paht: '/x' } },
      'key implementation_config.paht: unknown key "paht"; did you mean "path"?',
    ],
    [
      { implementation_config: { path: 'x' } },
      'value implementation_config.path: expected a path that begins with "/", found "x"',
    ],
    [
      { implementation_config: { mode: 5 } },
      'value implementation_config.mode: expected "fast" or a map, found 5',
    ],
    [
      { implementation_config: { mode: { sped: 1, speed: 1 } } },
      'key implementation_config.mode.sped: unknown key "sped"; did you mean "speed"?',
    ],
    [
      { input_schema: { properties: { id: {} } }, implementation_config: { path: '/{idd}' } },
      'value implementation_config.path: {idd} is not a parameter of this tool; did you mean {id}?',
    ],
    [
      { input_schema: { type: 'array' } },
      'value input_schema.type: arguments are always an object: expected "object", found "array"',
    ],
    [
      { extensions: { cahce: {} } },
      'key extensions.cahce: there is no extension "cahce"; did you mean "cache"?',
    ],
    [
      { extensions: { cache: { ttl_ms: 'x' } } },
      'value extensions.cache.ttl_ms: expected a number, found "x"',
    ],
    [
      { retries: { max_attempts: 2 } },
      'key retries: a tool is retried only if its metadata says idempotent: true or read_only: true; say so, or leave retries out',
    ],
    [
      { retries: { max_attempts: 1, base_delay_ms: 5, max_delay_ms: 4 } },
      'value retries.base_delay_ms: base_delay_ms 5 is greater than max_delay_ms 4',
    ],
    [
      { rate_limits: [{ rate: 1, period: '1 minute' }] },
      'value rate_limits.0.period: expected a duration such as 500ms, 10s, 1m, 1h or 1d, found "1 minute"',
    ],
    [
      { concurrency: { limit: 1, per: 'world' } },
      'value concurrency.per: expected "tool", "tenant", "agent" or "user", found "world"',
    ],
    [{ auth: { type: 'oauth3' } }, 'value auth.type: expected "oauth2" or "api_key", found "oauth3"'],
    // It would protect nothing, and whoever writes it counts on it.
    [{ auth_type: 'api_key' }, 'key auth_type: asks for nothing without requires_auth: true'],
    [
      { requires_auth: false, auth_config: {} },
      'key auth_config: asks for nothing without requires_auth: true',
    ],
    [
      { requires_auth: true, auth: { type: 'api_key' } },
      'key requires_auth: auth and requires_auth say the same in two ways: keep one',
    ],
    [
      {
        config_schema: {
          at: { type: 'object', properties: { key: { type: 'string', 'x-ute-sensitive': true } } },
        },
      },
      'value config_schema.at.properties.key: is marked as secret, which only a property of config_schema itself can be: its value is kept encrypted as a whole',
    ],
    [
      { config_schema: { key: { type: 'string', writeOnly: true, default: 'x' } } },
      'key config_schema.key.default: a secret would stand in the declaration: it is set per agent, in sensitive_config',
    ],
    [
      { metadata: { documentation: 'see ${env:HOME}' } },
      'value metadata.documentation: references such as ${env:…} and ${file:…} are allowed in connections only',
    ],
    [
      { input_schema: { maximum: Infinity } },
      'value input_schema.maximum: expected a finite number, found Infinity',
    ],
    [
      { metadata: { summary: 'half \ud83d' } },
      'value metadata.summary: expected valid Unicode text, found half of a surrogate pair',
    ],
    [
      { implementation_config: JSON.parse('{"__proto__": {}}') as object },
      'key implementation_config.__proto__: the key "__proto__" is not allowed',
    ],
    [
      { ...action({}), input_schema: {} },
      'key input_schema: expected either input_schema or actions: with actions, each has its own parameters',
    ],
    [
      { ...action({}), output_schema: {} },
      'key output_schema: is for a tool without actions: it would check nothing here',
    ],
    [
      { ...action({}), implementation_config: { actions: { go: { path: '/{q}' } } } },
      'value implementation_config.actions.go.path: {q} is not a parameter of the action go',
    ],
    [
      action({ type: 'sting' }),
      'value actions.0.parameters.0.type: expected "string", "integer", "number", "boolean", "array", "object" or "datetime", found "sting"; did you mean "string"?',
    ],
    [
      action({ defualt: 1 }),
      'key actions.0.parameters.0.defualt: unknown key "defualt"; did you mean "default"?',
    ],
    [action({ default: 5 }), 'value actions.0.parameters.0.default: expected a string, found 5'],
    [
      action({ default: null }),
      'value actions.0.parameters.0.default: expected a string, found nothing (null)',
    ],
    [
      action({ default: 'c', enum: ['a', 'b'] }),
      'value actions.0.parameters.0.default: expected one of the values of enum, found "c"',
    ],
    [action({ enum: ['a', 5] }), 'value actions.0.parameters.0.enum.1: expected a string, found 5'],
    [
      action({ type: 'integer', default: 4, min_value: 5 }),
      'value actions.0.parameters.0.default: expected at least min_value 5, found 4',
    ],
    [
      action({ type: 'integer', default: 1.5 }),
      'value actions.0.parameters.0.default: expected an integer, found 1.5',
    ],
    [
      action({ type: 'number', min_value: 5, max_value: 4 }),
      'value actions.0.parameters.0.min_value: min_value 5 is greater than max_value 4',
    ],
    [
      action({ min_value: 5 }),
      'key actions.0.parameters.0.min_value: min_value is for an integer or a number, not for type string',
    ],
    [action({ items: {} }), 'key actions.0.parameters.0.items: items is for an array, not for type string'],
    [
      action({ type: 'array', properties: { a: {} } }),
      'key actions.0.parameters.0.properties: properties is for an object, not for type array',
    ],
    [
      action({ type: 'array', items: { type: 'strng' } }),
      'value actions.0.parameters.0.items.type: must be one of "array", "boolean", "integer", "null", "number", "object", "string"',
    ],
    [
      action({ type: 'object', properties: { a: {} }, required_properties: ['b'] }),
      'value actions.0.parameters.0.required_properties.0: "b" is not among the properties',
    ],
    [
      action({ type: 'object', required_properties: ['b'] }),
      'key actions.0.parameters.0.required_properties: names properties, and there are none',
    ],
    [
      action({ type: 'array', items: { type: 'string' }, default: ['a', 1] }),
      'value actions.0.parameters.0.default: does not fit items and properties: /1 must be string, found number',
    ],
    [
      action({ required: true, default: 'x' }),
      'key actions.0.parameters.0.default: a required parameter is always given: leave out either this or required',
    ],
    [
      action({ required: true, default_from_config: 'color' }),
      'key actions.0.parameters.0.default_from_config: a required parameter is always given: leave out either this or required',
    ],
    [
      action({ default_from_config: 'colour' }),
      'value actions.0.parameters.0.default_from_config: expected a property of config_schema, found "colour"; did you mean "color"?',
    ],
    [
      action({ type: 'datetime', default: '2026-02-30T10:00:00Z' }),
      'value actions.0.parameters.0.default: expected a date and time such as 2026-01-30T09:00:00Z, found "2026-02-30T10:00:00Z"',
    ],
    [
      {
        actions: [
          { name: 'go', description: 'a' },
          { name: 'go', description: 'b' },
        ],
      },
      'value actions.1.name: the action "go" is declared twice',
    ],
    [
      { name: 'x'.repeat(126), ...action({}) },
      `value actions.0.name: "${'x'.repeat(126)}.go" is longer than 128 characters`,
    ],
  ])('%j', (tool, problem) => {
    expect(problemsOf(tool)).toEqual([problem]);
  });

  it('a schema is linted where it stands', () => {
    const [problem] = problemsOf({ input_schema: { properties: { id: { type: 'strng' } } } });
    expect(problem).toMatch(/^value input_schema\.properties\.id/);
    const [bare] = problemsOf({ config_schema: { id: { type: 'strng' } } });
    expect(bare).toMatch(/^value config_schema\.id/);
  });

  it('what is not a map is no tool', () => {
    expect(validateLoaded([load(['text', null])], rules).problems.map(({ message }) => message)).toEqual([
      'expected a map with a name, found "text"',
      'expected a map with a name, found nothing (null)',
    ]);
  });

  it('all mistakes of all tools are told at once, one field not hiding another', () => {
    const broken = {
      name: 'a',
      tool_type: 'shell',
      timeout_ms: 0,
      input_schema: { type: 'array' },
      retries: { max_attempts: 99 },
    };
    const { problems } = validateLoaded([load([broken, { ...minimal, extensions: { x: {} } }])], rules);
    expect(new Set(problems.map(({ tool, path }) => `${tool} ${path}`))).toEqual(
      new Set([
        'a description',
        'a input_schema.type',
        'a retries.max_attempts',
        'a timeout_ms',
        'a tool_type',
        'greet extensions.x',
      ]),
    );
  });
});

describe('names', () => {
  const two = (first: object, second: object) =>
    validateLoaded([load([{ ...minimal, ...first }]), load([{ ...minimal, ...second }])], rules).problems.map(
      ({ message }) => message,
    );
  const actions = [{ name: 'go', description: 'Goes' }];

  it.each([
    [{}, {}, 'greet'],
    [{ name: 'a', actions }, { name: 'a.go' }, 'a.go'],
    [{ name: 'a.go' }, { name: 'a', actions }, 'a.go'],
    [{ name: 'a', actions }, { name: 'a.go', actions }, 'a.go'],
  ])('%j and %j are taken once, over all files', (first, second, name) => {
    expect(two(first, second)).toEqual([expect.stringContaining(`the name "${name}" is taken already`)]);
  });

  it('that differ are fine', () => {
    expect(two({ name: 'a', actions }, { name: 'b', actions })).toEqual([]);
  });
});

describe('connections', () => {
  const web = rawConnection('api', { type: 'web', url: 'https://x' });
  const uses = { implementation_config: { connection: 'api' } };

  it('reach the tool that names them', () => {
    const { tools, connections, problems } = validateLoaded([load([{ ...minimal, ...uses }], [web])], rules);
    expect(problems).toEqual([]);
    expect(tools[0]?.connectionName).toBe('api');
    expect(connections.get('api')).toEqual({
      name: 'api',
      type: 'web',
      settings: { type: 'web', url: 'https://x' },
    });
  });

  it('may say how many calls run over them, whatever their type', () => {
    const limited = rawConnection('api', { type: 'web', url: 'https://x', concurrency: { limit: 3 } });
    const { connections } = validateLoaded([load([{ ...minimal, ...uses }], [limited])], rules);
    expect(connections.get('api')).toEqual({
      name: 'api',
      type: 'web',
      settings: { type: 'web', url: 'https://x' },
      concurrency: { connection: 'api', limit: 3, maxQueue: 100, maxWaitMs: undefined },
    });
    const wrong = rawConnection('api', {
      type: 'web',
      url: 'https://x',
      concurrency: { limit: 0, per: 'tool' },
    });
    expect(problemsOf(uses, [wrong])).toEqual([
      'key concurrency.per: unknown key "per"; known: limit, max_queue, max_wait_ms',
      'value concurrency.limit: expected at least 1, found 0',
    ]);
  });

  it.each([
    [[], 'value implementation_config.connection: there is no connection "api"'],
    [
      [rawConnection('apy', { type: 'web', url: 'x' })],
      'value implementation_config.connection: there is no connection "api"; did you mean "apy"?',
    ],
    [
      [rawConnection('api', { type: 'mail' })],
      'value implementation_config.connection: expected a connection of type web, found "api" of type mail',
    ],
    [
      [rawConnection('api', { type: 'wbe' })],
      'value type: type "wbe": no executor here takes it; known: mail, web; did you mean "web"?',
    ],
    [[rawConnection('api', { url: 'x' })], 'value type: is required: expected one of mail, web'],
    [[rawConnection('api', { type: 'web', url: 5 })], 'value url: expected a string, found a number'],
    [
      [web, rawConnection('api', { type: 'mail' })],
      'key : the connection "api" is declared already in value :7',
    ],
    [
      [web, rawConnection('a b', { type: 'mail' })],
      'key : expected a name of 1 to 128 letters, digits, "_", "." or "-"',
    ],
  ])('%# are checked', (connections, problem) => {
    expect(problemsOf(uses, connections)).toEqual([problem]);
  });

  it('never show a secret in a problem', () => {
    const [problem] = problemsOf({}, [rawConnection('api', { type: 'web', url: 'x', token: 's3cret' })]);
    expect(problem).toBe('value token: expected at least 9 characters, found a string');
  });
});

describe('a cache', () => {
  const second = { ...minimal, name: 'second' };

  it('keeps what did not change as the same object, and checks what did', () => {
    const cache = newValidationCache();
    const before = validateLoaded([load([minimal, second])], rules, cache);
    const after = validateLoaded([load([minimal, { ...second, timeout_ms: 5 }])], rules, cache);
    expect(after.tools[0]).toBe(before.tools[0]);
    expect(after.tools[1]?.spec.timeoutMs).toBe(5);
  });

  it('keeps a tool whose text changed and whose meaning did not', () => {
    const cache = newValidationCache();
    const before = validateLoaded([load([minimal])], rules, cache);
    expect(validateLoaded([load([{ ...minimal, timeout_ms: 30_000 }])], rules, cache).tools[0]).toBe(
      before.tools[0],
    );
  });

  it('survives loads that were refused', () => {
    const cache = newValidationCache();
    const before = validateLoaded([load([minimal, second])], rules, cache);
    validateLoaded([load([minimal, { ...second, timeout_ms: 0 }])], rules, cache);
    validateLoaded(
      [{ tools: [], connections: [], problems: [{ file: 'x', message: 'cannot be read' }] }],
      rules,
      cache,
    );
    expect(validateLoaded([load([minimal, second])], rules, cache).tools).toEqual(before.tools);
    expect(validateLoaded([load([minimal, second])], rules, cache).tools[1]).toBe(before.tools[1]);
  });

  it('still sees a clash of names, a connection that went, and where a tool stands now', () => {
    const cache = newValidationCache();
    const uses = { ...second, implementation_config: { connection: 'api' } };
    validateLoaded([load([minimal, uses], [rawConnection('api', { type: 'web', url: 'x' })])], rules, cache);
    const moved = raw(minimal);
    const { tools, problems } = validateLoaded(
      [{ tools: [moved, raw(minimal), raw(uses)], connections: [], problems: [] }],
      rules,
      cache,
    );
    expect(problems.map(({ path }) => path)).toEqual(['implementation_config.connection', 'name']);
    expect(tools[0]?.spec.name).toBe('greet');
    expect([moved, tools[1]?.declaration]).toContain(tools[0]?.declaration);
  });

  it('does not take the same text in another folder for the same tool', () => {
    const cache = newValidationCache();
    validateLoaded([load([minimal])], rules, cache);
    const moved = validateLoaded(
      [{ tools: [raw(minimal, '/srv')], connections: [], problems: [] }],
      rules,
      cache,
    );
    expect(moved.tools[0]?.spec.baseDir).toBe('/srv');
  });

  it('keeps an unchanged connection as the same object', () => {
    const cache = newValidationCache();
    const web = () => rawConnection('api', { type: 'web', url: 'x' });
    const before = validateLoaded([load([], [web()])], rules, cache);
    expect(validateLoaded([load([], [web()])], rules, cache).connections.get('api')).toBe(
      before.connections.get('api'),
    );
  });
});
