// The signature of Standard Webhooks, held to the example that its specification gives.
import { describe, expect, it } from 'vitest';
import { signedHeaders, webhookKey } from './webhook-signature.ts';

describe('webhookKey', () => {
  it('takes whsec_ and at least 24 bytes in base64', () => {
    expect(webhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toHaveLength(24);
  });

  it.each([
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'whsec_not base64 at all, not at all!!',
  ])('refuses %j', (secret) => expect(webhookKey(secret)).toBeUndefined());
});

describe('signedHeaders', () => {
  const message = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  };
  const key = webhookKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') ?? Buffer.alloc(0);

  it('signs id, time and body', () => {
    expect(signedHeaders(message, [key])).toEqual({
      'webhook-id': message.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('signs with each key', () => {
    const signature = signedHeaders(message, [key, Buffer.alloc(24, 1)])['webhook-signature'];
    expect(signature?.split(' ')).toHaveLength(2);
  });
});
