// Where streams are on the wire of HTTP: an upgrade to a WebSocket. What is said then is in messages/.
import { Problem } from '../rest/openapi/shared.ts';
import { route } from '../rest/route/route.ts';

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': Problem },
});

export const openStream = route({
  operationId: 'openStream',
  method: 'get',
  path: '/v1/stream',
  tag: 'calls',
  summary: 'A stream that pauses at calls, as a WebSocket',
  description:
    'Subprotocol `ute.v1`. The messages are in the reference of streams (`docs/reference/stream.md`); a credential is shown in ' +
    '`Authorization`, or in the first message, and never in the URL. Over gRPC: `Converse`.',
  answers: {
    101: { description: 'The WebSocket is open.' },
    400: problem('The upgrade is not valid.'),
    401: problem('The credential is not valid.'),
    403: problem('A page of another origin asks.'),
    426: problem('The request asks for no upgrade to a WebSocket.'),
    429: problem('Too many connections have shown no credential yet.'),
    503: problem('The gateway is shutting down.'),
  },
});
