// The keys that secrets of agents are encrypted with, on the wire: their names, and how many secrets each has wrapped.
import { z } from 'zod';
import { json, route } from '../route/route.ts';
import { count, flag, list, named, oneOf, text } from '../route/shapes.ts';

const TAG = 'admin';

const SecretKeys = named('SecretKeys', () =>
  z.object({
    provider: oneOf(['file', 'environment', 'aws_kms', 'vault']).describe('Where the keys are.'),
    keys: list(
      z.object({
        key_id: text(),
        is_current: flag('New secrets are wrapped with it.'),
        is_here: flag('False: this gateway does not have it, and cannot read what it has wrapped.'),
        secrets: count('How many it has wrapped.'),
      }),
    ),
  }),
);

const Rewrapped = named('RewrappedSecrets', () =>
  z.object({
    rewrapped: count('How many the current key has wrapped anew now.'),
    left: count('How many another key has wrapped still: ask again until rewrapped is 0.'),
  }),
);

export const listSecretKeys = route({
  operationId: 'listSecretKeys',
  method: 'get',
  path: '/v1/admin/secrets',
  tag: TAG,
  summary: 'The keys that secrets of agents are encrypted with',
  answers: { 200: json('The keys, the current one first.', SecretKeys) },
  problems: [],
});

export const rotateSecretKey = route({
  operationId: 'rotateSecretKey',
  method: 'post',
  path: '/v1/admin/secrets/rotate',
  tag: TAG,
  summary: 'Make a new key for secrets; the older ones still read',
  answers: { 200: json('The keys, the new one first.', SecretKeys) },
  problems: [409],
});

export const rewrapSecrets = route({
  operationId: 'rewrapSecrets',
  method: 'post',
  path: '/v1/admin/secrets/rewrap',
  tag: TAG,
  summary: 'Have the current key wrap a batch of secrets that an older one has wrapped',
  answers: { 200: json('What was done.', Rewrapped) },
  problems: [],
});
