// What an upstream's error says, in the forms that real APIs use; and that any body is cut to its bound.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../json/json-value.ts';
import { boundedJson } from './bounded-json.ts';
import { saidMessage } from './said-message.ts';

describe('the message of', () => {
  it.each<[string, JsonValue, string | undefined]>([
    [
      'RFC 9457',
      { type: 'https://x', title: 'No funds', detail: 'Balance is 3.', status: 403 },
      'No funds: Balance is 3.',
    ],
    [
      'GitHub',
      {
        message: 'Validation Failed',
        errors: [{ resource: 'Issue', field: 'title', message: 'is missing' }],
      },
      'Validation Failed: is missing',
    ],
    [
      'Stripe, OpenAI, Google',
      { error: { type: 'invalid_request_error', message: 'No such customer' } },
      'No such customer',
    ],
    ['OAuth 2.0', { error: 'invalid_scope', error_description: 'Unknown scope x' }, 'Unknown scope x'],
    [
      'JSON:API',
      { errors: [{ status: '422', title: 'Bad', detail: 'Name is short' }] },
      'Bad: Name is short',
    ],
    ['GraphQL', { errors: [{ message: 'Field x' }, { message: 'Field y' }] }, 'Field x; Field y'],
    ['Jira', { errorMessages: ['Issue does not exist'], errors: {} }, 'Issue does not exist'],
    ['Jira, by field', { errorMessages: [], errors: { summary: 'is required' } }, 'summary is required'],
    ['Laravel', { message: 'Invalid.', errors: { email: ['is taken'] } }, 'Invalid.: email is taken'],
    ['FastAPI', { detail: [{ loc: ['body', 'a'], msg: 'field required' }] }, 'field required'],
    ['AWS', { __type: 'X', Message: 'No access' }, 'No access'],
    ['Apigee', { fault: { faultstring: 'Bad key', detail: { errorcode: 'x' } } }, 'Bad key'],
    [
      'Kubernetes',
      { kind: 'Status', message: 'pods "x" not found', reason: 'NotFound' },
      'pods "x" not found',
    ],
    ['Twilio', { code: 20404, message: 'Not found', more_info: 'https://x', status: 404 }, 'Not found'],
    ['a word', { ok: false, error: 'channel_not_found' }, 'channel_not_found'],
    ['text', 'Bad\n\ngateway\u202e', 'Bad gateway'],
    ['numbers', [1, 2], undefined],
    ['nothing', {}, undefined],
  ])('%s', (_, body, message) => {
    expect(saidMessage(body)).toBe(message);
  });
});

it('any body is cut to about its bound, and only then said to be', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 10 }), (json) => {
      const value = json as JsonValue;
      const { value: cut, isCut } = boundedJson(value, 200, 50);
      expect(JSON.stringify(cut).length).toBeLessThan(1_500);
      expect(isCut ? value : cut).toEqual(value);
      saidMessage(value);
    }),
  );
});
