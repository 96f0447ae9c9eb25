// The sql executor's options: one registered statement, or one per action, and the two kinds of connections.
import { z } from 'zod';
import { SqlTextError } from './postgres-parser.ts';
import { readStatement } from './read-statement.ts';
import { whole } from '../../lib/settings/whole.ts';

const MAX_ROWS = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

const statementText = z.string().superRefine((text, context) => {
  try {
    readStatement(text);
  } catch (error) {
    if (!(error instanceof SqlTextError)) throw error;
    context.addIssue({ code: 'custom', message: `${error.message}.` });
  }
});

const tenancy = z.enum(['bound', 'none']);

const statementFields = {
  statement: statementText
    .optional()
    .describe(
      'One SQL statement; each {name} becomes a parameter of its own, never text: WHERE id = {id}. {embedding.query} is what the argument means, as a vector.',
    ),
  writes: z
    .boolean()
    .optional()
    .describe('The statement changes data and is committed. Only for tools that are not read_only.'),
  conflict_retries: whole(0, 20)
    .optional()
    .describe(
      'With writes: how often a statement that met another one at work on the same rows (a row that excludes its own, a key that is there, a deadlock) is run again, from the start. 0 when left out.',
    ),
  max_rows: whole(1, MAX_ROWS).optional().describe('Rows in one answer; 100 when left out.'),
  max_bytes: whole(1, MAX_BYTES).optional().describe('Bytes of row data in one answer; 1 MiB when left out.'),
  result: z
    .enum(['rows', 'row'])
    .optional()
    .describe(
      'rows, when left out: {rows, row_count}. row: the one row as an object, or null; a second one is an error.',
    ),
  tenant: tenancy
    .optional()
    .describe(
      "bound, when left out: runs as the credential's tenant, and row-level security is checked at load. none: data without tenants.",
    ),
  trusted_functions: z
    .array(z.string().min(1))
    .optional()
    .describe('Functions whose inside cannot be checked, each with its arguments: app.price(integer)'),
  trusted_policies: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Policies that keep tenants apart in another way than by comparing a column with the tenant, each with its table: own_lines ON app.lines',
    ),
  trusted_foreign_keys: z
    .array(z.string().min(1))
    .optional()
    .describe(
      'Foreign keys whose CASCADE, SET NULL or SET DEFAULT stays with the tenant though its column is no part of them, each with the table that has it: lines_booking_id_fkey ON app.lines',
    ),
};

const statementSchema = z.strictObject(statementFields);

export type StatementOptions = z.output<typeof statementSchema>;

export const sqlOptionsSchema = z
  .strictObject({
    ...statementFields,
    connection: z.string().min(1).describe('A connection of type postgres or embedded.'),
    actions: z
      .record(z.string(), statementSchema)
      .optional()
      .describe('One statement for each action of the tool.'),
  })
  .superRefine(({ actions, connection: _connection, ...own }, context) => {
    const issue = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (actions === undefined) {
      if (own.statement === undefined) issue(['statement'], 'Expected a statement.');
      return;
    }
    for (const field of Object.keys(own)) issue([field], `With actions, "${field}" belongs to each action.`);
    for (const [name, action] of Object.entries(actions)) {
      if (action.statement === undefined) issue(['actions', name, 'statement'], 'Expected a statement.');
    }
  });

export type SqlOptions = z.output<typeof sqlOptionsSchema>;

const tenantOfConnection = tenancy
  .optional()
  .describe('none: nothing on this connection belongs to a tenant. A tool may say it for itself.');

export const postgresConnectionSchema = z.strictObject({
  type: z.literal('postgres'),
  url: z
    .string()
    .refine((url) => /^postgres(ql)?:\/\//.test(url), {
      error: 'Expected postgres://user@host:port/database.',
    })
    .describe('postgres://user:password@host:port/database; ?host=/run/postgresql for a unix socket.'),
  pool_size: whole(1, 200).optional().describe('Connections at most; 10 when left out.'),
  connect_timeout_ms: whole(1, 60_000)
    .optional()
    .describe('For a free connection, made or waited for; 5000 when left out.'),
  ssl: z
    .enum(['disable', 'require', 'verify-full'])
    .optional()
    .describe(
      'verify-full when left out, disable on loopback and unix sockets. require encrypts, but does not check who answers.',
    ),
  ssl_ca: z.string().min(1).optional().describe('PEM of the authority to trust: ${file:ca.pem}'),
  tenant: tenantOfConnection,
});

const roleName = z
  .string()
  .regex(
    /^(?!pg_|ute|tool_|passing_)[a-z_][a-z0-9_]{0,62}$/,
    'Expected the name of a role: small letters, digits and _, not beginning with pg_, ute, tool_ or passing_.',
  );

export const embeddedConnectionSchema = z.strictObject({
  type: z.literal('embedded'),
  database: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,30}$/, 'Expected at most 31 small letters, digits and _, a letter first.')
    .optional()
    .describe('Keeps what is written under this name. Left out: a new database at each start.'),
  init_sql: z
    .string()
    .optional()
    .describe('SQL run at each start, as the owner of the database: ${file:schema.sql}'),
  role: roleName
    .optional()
    .describe(
      'Whose privileges statements have; made where it is not there. Row-level security needs one that is not the owner.',
    ),
  pool_size: whole(1, 20).optional().describe('Connections at most; 4 when left out.'),
  tenant: tenantOfConnection,
});
