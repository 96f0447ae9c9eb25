// The context of a call: known names, bounded strings, no contradictions.
import { describe, expect, it } from 'vitest';
import { ToolFailure } from '../contract/call/tool-failure.ts';
import { readContext } from './read-context.ts';

function refusal(value: unknown): string {
  try {
    readContext(value);
  } catch (error) {
    if (error instanceof ToolFailure && error.type === 'VALIDATION') return error.message;
    throw error;
  }
  throw new Error('it was taken');
}

describe('readContext', () => {
  it('reads snake_case into the words of the contract', () => {
    const said = {
      session_id: 's',
      agent_id: 'a',
      user_id: 'u',
      tenant_id: 't',
      mode: 'voice',
      turn_id: '1',
      confirmation_token: 'c',
    };
    expect(readContext(said)).toEqual({
      sessionId: 's',
      agentId: 'a',
      userId: 'u',
      tenantId: 't',
      mode: 'voice',
      turnId: '1',
      confirmationToken: 'c', // oxfmt-ignore
    });
  });

  it.each([undefined, null, {}])('takes %j for no context', (value) => {
    expect(readContext(value)).toEqual({});
  });

  it('takes business_id for tenant_id, and refuses two different ones', () => {
    expect(readContext({ business_id: 'acme' })).toEqual({ tenantId: 'acme' });
    expect(readContext({ business_id: 'acme', tenant_id: 'acme' })).toEqual({ tenantId: 'acme' });
    expect(refusal({ tenant_id: 'acme', business_id: 'umbrella' })).toContain(
      '/context/business_id contradicts tenant_id',
    );
  });

  it.each([
    ['a list', [], '/context must be an object'],
    ['a text', 'voice', '/context must be an object'],
    ['an unknown field', { sesion_id: 'x' }, '/context/sesion_id is no context field'],
    ['a number', { user_id: 5 }, '/context/user_id must be a string'],
    ['nothing', { user_id: null }, '/context/user_id must be a string'],
    ['an empty text', { user_id: '' }, 'must have 1 to 512 characters'],
    ['a long text', { user_id: 'x'.repeat(513) }, 'must have 1 to 512 characters'],
    ['another mode', { mode: 'telepathy' }, '/context/mode must be one of voice, text, live_call'],
    ['an inherited name', { constructor: 'x' }, '/context/constructor'],
    ['another inherited name', { toString: 'x' }, '/context/toString'],
  ])('refuses %s and names the place', (_what, value, message) => {
    expect(refusal(value)).toContain(message);
  });

  it.each([
    ['NUL', 'a\0b', 'NUL'],
    ['half a character', 'a\ud800b', 'LONE_SURROGATE'],
  ])('refuses %s in any text, whatever door it came by', (_what, text, reason) => {
    for (const field of [
      'session_id',
      'agent_id',
      'user_id',
      'tenant_id',
      'business_id',
      'turn_id',
      'cursor',
    ])
      expect(() => readContext({ [field]: text })).toThrow(
        expect.objectContaining({
          type: 'VALIDATION',
          reason,
          details: { violations: [expect.objectContaining({ pointer: `/context/${field}` })] },
        }),
      );
  });
});
