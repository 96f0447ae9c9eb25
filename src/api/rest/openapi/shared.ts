// What all routes share in the document: headers of answers, problems, and how a caller says who it is.
import { z } from 'zod';
import type { JsonObject } from '../../../contract/json.ts';
import { TENANT_HEADER, TENANT_PATTERN } from '../../named-tenant.ts';
import { ErrorTypes } from '../execute/envelope.ts';
import type { HeaderName, ProblemStatus } from '../route/route.ts';
import { list, named, text } from '../route/shapes.ts';

export const PROBLEM_TYPE = 'application/problem+json';

export const Problem = named('Problem', () =>
  z
    .looseObject({
      type: text().meta({ format: 'uri' }),
      title: text(),
      status: z.int(),
      detail: text(),
      instance: text(),
      code: ErrorTypes(),
      reason: text('An upper-case word inside the type.'),
      retryable: z.boolean(),
      violations: list(
        z.object({ pointer: text('JSON pointer into the request.'), message: text() }),
      ).optional(),
    })
    .describe('RFC 9457. Further members tell the details.'),
);

/** Names of components; `default` stands for any other status. */
export const PROBLEMS: Readonly<
  Record<ProblemStatus | 401 | 403 | 'default', readonly [name: string, text: string]>
> = {
  400: ['BadRequest', 'A parameter or the body is not valid; `violations` says which.'],
  401: ['Unauthenticated', 'No credential, or one that is not valid.'],
  403: ['PermissionDenied', 'The credential lacks the permission.'],
  404: ['NotFound', 'There is nothing of this name.'],
  409: ['Conflict', 'It was decided otherwise, or has expired.'],
  412: ['PreconditionFailed', 'It was changed since it was looked at.'],
  default: ['Problem', 'Any other error.'],
};

const described = (description: string, schema: JsonObject): JsonObject => ({ description, schema });
const example = (text: string): JsonObject => ({ type: 'string', examples: [text] });

export const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  Deprecation: described(
    'The call was made in a deprecated form; since when (RFC 9745).',
    example('@1767225600'),
  ),
  Link: described(
    'With Deprecation: what to call instead.',
    example('</v1/tools/calendar.list_events/execute>; rel="successor-version"'),
  ),
  RateLimit: described(
    'Where each limit stands: name, remaining calls (r), seconds until reset (t).',
    example('"tenant";r=19;t=3'),
  ),
  'RateLimit-Policy': described(
    'The limits: name, quota (q), window in seconds (w).',
    example('"tenant";q=20;w=60'),
  ),
  'Retry-After': described('Seconds.', { type: 'integer', minimum: 1 }),
  Location: described(
    'The approval that the call waits for, the call that was accepted, or the schedule that was made.',
    { type: 'string' },
  ),
  'WWW-Authenticate': { schema: example('Bearer') },
  'Preference-Applied': described('The call was accepted to run later.', example('respond-async')),
  'Idempotency-Replayed': described(
    'The answer is that of an earlier call with the same Idempotency-Key.',
    example('true'),
  ),
  ETag: described('Changes with what is shown.', { type: 'string' }),
};

/** Of every route that takes a credential. */
export const PARAMETERS: JsonObject = {
  Tenant: {
    name: TENANT_HEADER,
    in: 'header',
    description:
      'For which tenant the request is: of a credential that serves several. In a call, `context.tenant_id` says the same.',
    schema: { type: 'string', pattern: TENANT_PATTERN },
  },
};

export const SECURITY_SCHEMES: JsonObject = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'ute_live_… or JWT',
    description: 'An API key, or a token (JWT) of one of auth.issuers.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
};

/** Either will do. */
export const SECURITY: JsonObject[] = [{ bearer: [] }, { apiKey: [] }];
