// The http executor's options: one request, or one per action, with templates checked where they are written.
// What an OpenAPI operation becomes: path parameters are {placeholders} of `path`; query parameters are
// `query: {name: {from: argument, style, explode}}`; header parameters `headers: {Name: '{argument}'}`; a JSON body
// is `body: '{argument}'`, or an object whose members each hold a placeholder. An argument that is left out takes
// its query parameter, header or member along; only the path needs all of its own.
import { z } from 'zod';
import { egressFields } from '../../lib/egress/egress.ts';
import { TemplateError } from '../../lib/text/template.ts';
import { headersBy } from '../../lib/text/header-rules.ts';
import { MAX_BYTES, placeFields, queryArgument } from './request-fields.ts';
import { idleSettings } from './idle-settings.ts';
import { selectionProblem } from './select-data.ts';
import { whole } from '../../lib/settings/whole.ts';
import { requestTemplate } from './request/agent-values.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

const template = z.string().superRefine((text, context) => {
  const message = templateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const pathTemplate = template.refine((path) => /^\/[^?#]*$/.test(path), {
  error: 'Expected a path that begins with "/" and holds no "?" or "#"; query parameters stand under query.',
});

const urlTemplate = template.refine((url) => /^https?:\/\/[^/?#{}@\\\s]+(\/[^?#]*)?$/.test(url), {
  error:
    'Expected http:// or https:// and a fixed host, without user, "?" or "#"; placeholders are allowed in the path alone.',
});

const queryValue = z.union([template, z.number(), z.boolean(), queryArgument]);

const responseKind = z.enum(['json', 'text', 'file', 'auto']);

const selection = z.string().superRefine((expression, context) => {
  const message = selectionProblem(expression);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const requestFields = {
  method: z.enum(METHODS).optional().describe('GET when left out.'),
  url: urlTemplate
    .optional()
    .describe('Absolute URL, without a connection: https://api.example.com/v1/users/{id}'),
  path: pathTemplate.optional().describe("Path below the connection's base_url: /users/{id}"),
  query: z
    .union([z.literal('remaining'), z.record(z.string(), queryValue)])
    .optional()
    .describe('Parameters by name, or "remaining": every argument that stands nowhere else.'),
  headers: headersBy('tool', template).optional(),
  body: z
    .json()
    .superRefine(checkBody)
    .optional()
    .describe('JSON; a string that is just "{name}" becomes the argument\'s value. Or "remaining".'),
  ...placeFields,
  cookies: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}$/), queryValue)
    .optional()
    .describe("Cookies by name, besides those of the connection's header Cookie."),
  success_status: z
    .array(whole(200, 599))
    .min(1)
    .optional()
    .describe('Statuses that are a result; 200 to 299 when left out.'),
  upstream_errors: z
    .enum(['show', 'hide'])
    .optional()
    .describe(
      "Whether callers read what an error of the upstream says, in error.message and error.details.upstream: bounded and without the connection's secrets. show when left out.",
    ),
  max_response_bytes: whole(1, MAX_BYTES).optional().describe('1 MiB when left out.'),
  large_numbers: z
    .enum(['text', 'refuse'])
    .optional()
    .describe(
      'Numbers in the answer that JSON readers round, such as integers beyond 2^53: text, when left out, gives their exact digits as a string; refuse ends the call.',
    ),
  response: z
    .union([responseKind, z.strictObject({ as: responseKind.optional(), jmespath: selection })])
    .optional()
    .describe(
      'How to read the answer; auto, when left out, goes by its Content-Type: JSON, text, or a file as {content_type, filename, size, base64}. With jmespath, the part to return.',
    ),
};

const requestSchema = z.strictObject(requestFields);

export type RequestOptions = z.output<typeof requestSchema>;
export type QueryArgument = z.output<typeof queryArgument>;
export type QueryValue = z.output<typeof queryValue>;

export const httpOptionsSchema = z
  .strictObject({
    ...requestFields,
    connection: z.string().min(1).optional(),
    request_from: z
      .literal('arguments')
      .optional()
      .describe(
        'The arguments url, method, headers and body are the request. The connection, of the type http-hosts, lists where it may go.',
      ),
    allow_ports: egressFields.allow_ports,
    allow_private: egressFields.allow_private,
    actions: z
      .record(z.string(), requestSchema)
      .optional()
      .describe('One request for each action of the tool.'),
  })
  .superRefine((options, context) => {
    if (options.request_from !== undefined) {
      checkFromArguments(options, context);
      return;
    }
    const { actions, connection, allow_private: _ranges, allow_ports: _ports, ...own } = options;
    for (const field of ['allow_private', 'allow_ports'] as const) {
      if (connection === undefined || options[field] === undefined) continue;
      const message = `With a connection, ${field} belongs to the connection.`;
      context.addIssue({ code: 'custom', path: [field], message });
    }
    if (actions === undefined) {
      checkRequest(own, connection, [], context);
      return;
    }
    for (const field of Object.keys(own)) {
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `With actions, "${field}" belongs to each action.`,
      });
    }
    for (const [name, request] of Object.entries(actions)) {
      checkRequest(request, connection, ['actions', name], context);
    }
  });

export type HttpOptions = z.output<typeof httpOptionsSchema>;

/** What may stand beside `request_from`: how answers are read. */
const WITH_ARGUMENTS: ReadonlySet<string> = new Set([
  'connection',
  'request_from',
  'response',
  'success_status',
  'upstream_errors',
  'max_response_bytes',
  'large_numbers',
]);

function checkFromArguments(options: object, context: z.RefinementCtx): void {
  for (const field of Object.keys(options)) {
    if (WITH_ARGUMENTS.has(field)) continue;
    const message = 'With request_from, the arguments and the connection say this.';
    context.addIssue({ code: 'custom', path: [field], message });
  }
  if (!Object.hasOwn(options, 'connection'))
    context.addIssue({
      code: 'custom',
      path: ['connection'],
      message: 'Expected a connection of the type http-hosts.',
    });
}

function checkRequest(
  request: RequestOptions,
  connection: string | undefined,
  path: readonly string[],
  context: z.RefinementCtx,
): void {
  const issue = (field: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [...path, field], message });
  if (request.url === undefined && (connection === undefined || request.path === undefined)) {
    issue('url', 'Expected either url, or a connection and a path.');
  } else if (request.url !== undefined && (connection !== undefined || request.path !== undefined)) {
    issue('url', 'Expected either url, or a connection and a path; found both.');
  }
  const { method = 'GET' } = request;
  if (request.body !== undefined && (method === 'GET' || method === 'HEAD')) {
    issue('body', `A ${method} request has no body.`);
  }
  if (request.query === 'remaining' && request.body === 'remaining') {
    issue('body', 'The remaining arguments can go to query or to body, not to both.');
  }
  for (const { path: at, message } of idleSettings(request))
    context.addIssue({ code: 'custom', path: [...path, ...at], message });
}

/** Every string inside the body is a template. */
function checkBody(body: unknown, context: z.RefinementCtx, path: readonly (string | number)[] = []): void {
  if (typeof body === 'string') {
    const message = templateProblem(body);
    if (message !== undefined) context.addIssue({ code: 'custom', path: [...path], message });
  } else if (Array.isArray(body)) {
    body.forEach((item, index) => checkBody(item, context, [...path, index]));
  } else if (typeof body === 'object' && body !== null) {
    for (const [key, item] of Object.entries(body)) checkBody(item, context, [...path, key]);
  }
}

function templateProblem(text: string): string | undefined {
  try {
    requestTemplate(text);
    return undefined;
  } catch (error) {
    if (error instanceof TemplateError) return `${error.message}.`;
    throw error;
  }
}
