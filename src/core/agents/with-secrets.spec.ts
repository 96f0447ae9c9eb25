// The executor with secrets: opened for one attempt, and kept out of results, failures, events and dry runs, however they are cut.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callOf } from '../../../test/helpers/call-kit.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { PreparedFunction } from '../../contract/plugin.ts';
import type { CallEvent, ToolCall } from '../../contract/call/tool-call.ts';
import { ToolFailure } from '../../contract/call/tool-failure.ts';
import { withSecrets } from './with-secrets.ts';

const SECRET = 'sekret-value-7f8e9d';

function callWith(secrets: JsonObject) {
  let opened = 0;
  const openSecrets = async () => {
    opened += 1;
    return secrets;
  };
  return {
    call: callOf({ agentTool: { revision: 1, openSecrets, secretFields: Object.keys(secrets) } }),
    opened: () => opened,
  };
}

async function ran(execute: PreparedFunction['execute'], secrets: JsonObject = { token: SECRET }, more = {}) {
  const events: CallEvent[] = [];
  const { call } = callWith(secrets);
  const outcome = await withSecrets({ execute, yieldsPlainJson: true, ...more })
    .execute(call, (event) => void events.push(event))
    .catch((error: unknown) => error);
  return { outcome, events };
}

describe('withSecrets', () => {
  it('opens them anew for each attempt, and hands them to the executor alone', async () => {
    const { call, opened } = callWith({ token: SECRET });
    const seen: ToolCall[] = [];
    const wrapped = withSecrets({ execute: async (given) => (seen.push(given), { data: 1 }) });
    await wrapped.execute(call, () => undefined);
    await wrapped.execute(call, () => undefined);
    expect(seen.map(({ sensitiveConfig }) => sensitiveConfig)).toEqual([
      { token: SECRET },
      { token: SECRET },
    ]);
    expect([opened(), call.sensitiveConfig]).toEqual([2, {}]);
  });

  it('does nothing to calls without secrets', async () => {
    const execute = async (given: ToolCall) => ({ data: given.sensitiveConfig });
    const call = callOf();
    expect(await withSecrets({ execute }).execute(call, () => undefined)).toEqual({ data: {} });
  });

  it('a key that is missing is the call’s failure, and the tool does not run', async () => {
    const missing = new ToolFailure('UNAVAILABLE', 'no', { reason: 'SECRETS_KEY_MISSING' });
    const call = callOf({
      agentTool: { revision: 1, openSecrets: () => Promise.reject(missing), secretFields: ['token'] },
    });
    let entered = false;
    const execute = async () => ((entered = true), { data: 1 });
    await expect(withSecrets({ execute }).execute(call, () => undefined)).rejects.toBe(missing);
    expect(entered).toBe(false);
  });

  it('takes them out of results, also of what an object says of itself', async () => {
    const toJSON = () => ({ hidden: SECRET });
    const data = {
      a: [SECRET],
      b: `x${Buffer.from(SECRET).toString('base64')}`,
      c: { toJSON },
    } as unknown as JsonValue;
    const { outcome } = await ran(async () => ({ data, intents: [{ type: SECRET }] as never }), undefined, {
      yieldsPlainJson: false,
    });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
    expect(outcome).toMatchObject({ data: { a: ['[secret]'], c: { hidden: '[secret]' } } });
  });

  it('takes them out of a failure of the tool, its details and its cause, and of anything else thrown', async () => {
    const cause = new Error(`because of ${SECRET}`, { cause: new Error(encodeURIComponent(`${SECRET}/`)) });
    const failure = new ToolFailure('PERMANENT', SECRET, {
      reason: 'X',
      details: { [SECRET]: SECRET },
      cause,
      retryable: true,
    });
    const { outcome } = await ran(() => Promise.reject(failure));
    expect(outcome).toMatchObject({ type: 'PERMANENT', reason: 'X', retryable: true, message: '[secret]' });
    const { message, details, cause: told } = outcome as ToolFailure;
    expect(JSON.stringify([message, details, told])).not.toContain(SECRET);
    expect(String(told)).toContain('because of [secret]');
    const { outcome: other } = await ran(() => Promise.reject(new TypeError(`defect ${SECRET}`)));
    expect([(other as Error).message, (other as Error).stack].join('\n')).not.toContain(SECRET);
  });

  it('takes lines of a key in several out one by one', async () => {
    const key = ['-----BEGIN KEY-----', 'MIIEvQIBADANBgkq', 'hkiG9w0BAQEFAASC', '-----END KEY-----'].join(
      '\n',
    );
    const { outcome } = await ran(async () => ({ data: key.split('\n') }), { pem: key });
    expect(outcome).toEqual({ data: ['[secret]', '[secret]', '[secret]', '[secret]'] });
  });

  it('whatever pieces a text comes in, no secret is in what they add up to, and nothing else is lost', async () => {
    const text = fc.array(
      fc.constantFrom(SECRET, SECRET.slice(0, 9), encodeURIComponent(SECRET), 'abc ', '-', 'ü'),
      { maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        async (parts, cuts) => {
          const whole = parts.join('|');
          const { events } = await ran(async (_call, emit) => {
            for (let at = 0, turn = 0; at < whole.length; turn += 1) {
              const end = at + (cuts[turn % cuts.length] ?? 1);
              emit({ kind: 'partial', data: whole.slice(at, end) });
              at = end;
            }
            return { data: null };
          });
          const shown = events
            .map((event) => (event.kind === 'partial' && typeof event.data === 'string' ? event.data : ''))
            .join('');
          expect(shown).not.toContain(SECRET);
          expect(shown).toBe(whole.replaceAll(SECRET, '[secret]'));
        },
      ),
    );
  });

  it('keeps the order of events, and looks through all of them', async () => {
    const { events } = await ran(async (_call, emit) => {
      emit({ kind: 'partial', data: SECRET.slice(0, 5) });
      emit({ kind: 'partial', data: { at: SECRET } });
      emit({ kind: 'log', level: 'info', message: SECRET });
      emit({ kind: 'progress', fraction: 0.5, message: SECRET });
      return { data: null };
    });
    expect(events).toEqual([
      { kind: 'partial', data: SECRET.slice(0, 5) },
      { kind: 'partial', data: { at: '[secret]' } },
      { kind: 'log', level: 'info', message: '[secret]' },
      { kind: 'progress', fraction: 0.5, message: '[secret]' },
    ]);
  });

  it('a dry run has a mark in the place of each', async () => {
    const render = ({ sensitiveConfig }: ToolCall) => ({ header: sensitiveConfig['token'] ?? null });
    const wrapped = withSecrets({ execute: async () => ({ data: 1 }), render });
    expect(await wrapped.render?.(callWith({ token: SECRET }).call)).toEqual({ header: '[secret]' });
  });
});
