// What gateway.yaml may say about those whom nobody knows: how many of their credentials are looked at, and whose addresses they have.
import { isIP } from 'node:net';
import { z } from 'zod';
import { whole } from '../lib/settings/whole.ts';

export const strangerFields = {
  wrong_credentials: z
    .union([
      z.literal(false),
      z.strictObject({
        per_address: whole(1, 1_000_000).default(300).describe('Wrong keys and tokens of one address.'),
        within_s: whole(1, 3_600).default(60),
      }),
    ])
    .prefault({})
    .describe(
      'How many are looked at before other credentials of the address get 429 for the rest of the time; one that was good from there before is let in. Counted by each process. false: any number.',
    ),
  trusted_proxies: z
    .array(
      z.string().superRefine((range, context) => {
        const message = proxyProblem(range);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      }),
    )
    .max(100)
    .default([])
    .describe(
      'Addresses and CIDR ranges of proxies in front of the gateway: from them X-Forwarded-For is believed to say whose address it is.',
    ),
};

function proxyProblem(range: string): string | undefined {
  if (isIP(range) !== 0) return undefined;
  const [address = '', bits = '', ...more] = range.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  const isRange = isIP(address) !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= most && more.length === 0;
  return isRange ? undefined : 'must be an address such as 10.0.0.7, or a range such as 10.0.0.0/8';
}
