// The import rules of docs/ARCHITECTURE.md as code; `npm run generate` draws them. Each rule's comment says what to do instead.
const SPEC = '\\.spec\\.ts$';
/** What a folder of src may import from src, besides itself. */
const MAY_IMPORT = {
  contract: {
    to: [],
    instead: 'contract is the vocabulary: move what you need into contract, or do the work elsewhere.',
  },
  lib: { to: [], instead: 'lib knows nothing of tools: pass the value in as a parameter.' },
  ports: {
    to: ['contract'],
    instead: 'A port is an interface in the words of contract; put code into an adapter in infra.',
  },
  settings: {
    to: ['contract', 'lib'],
    instead: 'Settings are read before anything is built: pass them to what needs them.',
  },
  core: {
    to: ['contract', 'ports', 'lib'],
    instead: 'Core knows no plugin and no client library: declare a port and let infra implement it.',
  },
  calls: {
    to: ['contract', 'ports', 'core', 'webhooks', 'lib'],
    instead: 'Calls that run later are calls of the core; what is kept of them lies behind a port.',
  },
  schedules: {
    to: ['contract', 'ports', 'core', 'lib', 'calls'],
    instead: 'A schedule makes calls that run later; no other area knows of it.',
  },
  sessions: {
    to: ['contract', 'ports', 'lib'],
    instead: 'A session tells a call what it is part of; it starts none.',
  },
  webhooks: {
    to: ['contract', 'ports', 'lib'],
    instead: 'A webhook tells of a call that has ended; it starts none.',
  },
  formats: {
    to: ['contract', 'lib'],
    instead: 'A format writes tools as a provider wants them: it is given them, and asks nothing.',
  },
  registry: {
    to: ['contract', 'ports', 'lib'],
    instead: 'The registry is handed what it needs (rules, executors, compile) by app/gateway.',
  },
  api: {
    to: [
      'contract',
      'ports',
      'core',
      'calls',
      'schedules',
      'sessions',
      'webhooks',
      'formats',
      'lib',
      'version',
    ],
    instead: 'Doors translate and call core through a port; inject it by a token of api/tokens.ts.',
  },
  cli: {
    to: 'contract lib ports infra/postgres infra/data-dir infra/embedded-postgres formats settings app/gateway/validate-tools app/gateway/test-policies app/gateway/own-packages app/demo version'.split(
      ' ',
    ),
    instead:
      'A command talks to a running gateway by REST, or asks validate-tools.ts, test-policies.ts and own-packages.ts; it starts nothing that serves.',
  },
  infra: {
    to: ['contract', 'ports', 'lib', 'settings', 'version'],
    instead: 'An adapter implements a port; logic about tools belongs to core or a plugin.',
  },
  app: {
    to: 'contract ports lib settings core registry calls schedules sessions webhooks formats loaders extensions executors api infra version'.split(
      ' ',
    ),
    instead: 'app puts a gateway together; a command uses it, and is no part of it.',
  },
};
const SHELVES = ['loaders', 'extensions', 'executors'];
const PLUGIN_MAY_IMPORT = ['contract', 'ports', 'lib'];

/** Every folder of src with the folders that it may import from, whole or in part. */
export const ROOMS = {
  ...Object.fromEntries(Object.entries(MAY_IMPORT).map(([room, { to }]) => [room, to])),
  ...Object.fromEntries(SHELVES.map((shelf) => [shelf, PLUGIN_MAY_IMPORT])),
};

const layers = Object.entries(MAY_IMPORT).map(([folder, { to, instead }]) => ({
  name: `${folder}-imports-only-${to.length === 0 ? 'itself' : to.join('-').replaceAll('/', '-')}`,
  comment: instead,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: SPEC },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...to].join('|')})(/|\\.ts$)` },
}));

const plugins = SHELVES.flatMap((shelf) => [
  {
    name: `${shelf}-import-only-contract-ports-lib-and-themselves`,
    comment: 'A plugin stands alone: what two plugins need goes into lib or behind a port.',
    severity: 'error',
    from: { path: `^src/${shelf}/([^/]+)/`, pathNot: SPEC },
    to: { path: '^src/', pathNot: `^src/(${PLUGIN_MAY_IMPORT.join('|')})/|^src/${shelf}/$1/` },
  },
]);

const fence = (name, packages, allowed, instead) => ({
  name,
  comment: instead,
  severity: 'error',
  from: { path: '^src/', pathNot: `${SPEC}|${allowed}` },
  to: { path: packages },
});

const fences = [
  fence(
    'ajv-only-in-json-schema',
    'node_modules/ajv',
    '^src/lib/json-schema/',
    'Use createValidator or lintSchema of lib/json-schema: they carry the guards.',
  ),
  fence(
    'jmespath-only-in-lib-jmespath',
    'node_modules/jmespath',
    '^src/lib/jmespath/',
    'Use parseExpression and evaluate of lib/jmespath: they read own properties only and bound the work.',
  ),
  fence(
    'cel-only-in-lib-cel',
    'node_modules/@bufbuild/(cel|re2)/',
    '^src/lib/(cel|json-schema)/',
    'Use Expression of lib/cel: it checks types and cost, and takes no error of the library for true.',
  ),
  fence(
    'child-processes-only-in-infra-process',
    '^(node:)?child_process$',
    '^src/infra/(process|embedded-postgres)/',
    'Ask for the port ProcessSpawner: its adapter leaves no survivors. A database server outlives calls, and is no tool.',
  ),
  fence(
    'outbound-http-only-in-infra-http',
    'node_modules/undici/',
    '^src/infra/http/',
    'Ask for the port HttpClient: its adapter carries the caps.',
  ),
  fence(
    'addresses-are-judged-only-in-infra-http',
    'node_modules/ipaddr\\.js/',
    '^src/infra/http/',
    'Pass an EgressPolicy to the port HttpClient: its adapter judges addresses; patterns and ranges are in lib/egress.',
  ),
  fence(
    'oauth-client-only-where-its-fetch-is-guarded',
    'node_modules/oauth4webapi/',
    '^src/executors/http/|^src/infra/',
    'Give it the fetch of the port HttpClient, in the http executor or in infra.',
  ),
  fence(
    'grpc-only-in-its-door',
    'node_modules/(@grpc|protobufjs|@bufbuild/protobuf)/',
    '^src/(api|infra|lib|executors|loaders)/grpc/|^src/lib/cel/',
    'gRPC ends at its door: hand the core a ToolRequest. Upstreams are called by the port GrpcUpstreams.',
  ),
  fence(
    'mail-only-in-infra-smtp',
    'node_modules/nodemailer/',
    '^src/infra/smtp/',
    'Ask for the port SmtpServers: its adapter guards where mail goes, and sends nothing twice.',
  ),
  fence('prom-client-only-in-infra', 'node_modules/prom-client/', '^src/infra/', 'Ask for the port Metrics.'),
  fence('pino-only-in-infra', 'node_modules/pino/', '^src/infra/', 'Ask for the port Log.'),
  fence(
    'stores-only-in-infra',
    'node_modules/(ioredis|bullmq|pg|kysely)/',
    '^src/infra/',
    'Declare a port and give it a memory and a real twin in infra.',
  ),
  fence(
    'postgres-parser-only-in-the-sql-executor',
    'node_modules/libpg-query/',
    '^src/executors/sql/postgres-parser\\.ts$',
    'Use readStatement of executors/sql: it bounds what the parser is given.',
  ),
  fence(
    'mcp-sdk-only-at-its-two-ends',
    'node_modules/@modelcontextprotocol/',
    '^src/(api|infra)/mcp/',
    'Ask for the port McpServers, whose adapter trusts no server; the door hands the core a ToolRequest.',
  ),
  fence(
    'web-sockets-only-in-their-door',
    'node_modules/(@types/)?ws/',
    '^src/api/stream/socket/',
    'A stream is given a Line: what that is made of ends at src/api/stream/socket.',
  ),
  fence(
    'otel-sdk-only-in-infra',
    'node_modules/@opentelemetry/(?!api/)',
    '^src/infra/',
    'Plugins use @opentelemetry/api alone; the SDK is wired in infra/telemetry.',
  ),
  fence(
    'nest-only-at-the-edge',
    'node_modules/@nestjs/',
    '^src/(api|infra|app)/',
    'Nest serves doors and wiring; write plain TypeScript and let a module provide it.',
  ),
];

export default {
  forbidden: [
    ...layers,
    ...plugins,
    ...fences,
    {
      name: 'no-circular',
      comment: 'A cycle breaks at load under ESM: move the shared piece to a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-undeclared-package',
      comment: 'Declare the package in package.json (dependencies: it runs in production).',
      severity: 'error',
      from: { path: '^src/', pathNot: SPEC },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
    },
    {
      name: 'the-runtime-does-not-import-tests',
      comment: 'Move what production needs out of test/.',
      severity: 'error',
      from: { path: '^src/', pathNot: SPEC },
      to: { path: '^(test|bench|examples)/' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data)/' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
