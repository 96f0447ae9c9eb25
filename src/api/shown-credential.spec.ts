// What headers show: one credential, several that differ, or none; an empty one is none, and no wrong guess.
import { expect, it } from 'vitest';
import { shownCredential } from './shown-credential.ts';

it.each([
  [[], [], undefined],
  [['Bearer '], [], undefined],
  [['bearer'], [], undefined],
  [[''], [''], undefined],
  [['Bearer   '], ['key'], { kind: 'bearer', token: 'key' }],
  [['Bearer key'], [' '], { kind: 'bearer', token: 'key' }],
  [['Bearer key', 'bearer  key'], ['key, key'], { kind: 'bearer', token: 'key' }],
  [['Bearer one'], ['other'], { kind: 'several' }],
  [['Basic YTpi'], [], { kind: 'bearer', token: '' }],
  [['Bearerkey'], [], { kind: 'bearer', token: '' }],
])('Authorization %j and X-API-Key %j are %j', (authorizations, keys, credential) => {
  expect(shownCredential(authorizations, keys, undefined)).toEqual(credential);
});
