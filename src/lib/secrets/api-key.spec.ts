// API keys: read back whole, refused when mistyped, compared in constant time.
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createApiKey, parseApiKey, sameHash } from './api-key.ts';

describe('API keys', () => {
  it('a key reads back as its id and the hash of its secret', () => {
    for (let i = 0; i < 200; i += 1) {
      const key = createApiKey();
      const shown = parseApiKey(key.text);
      expect(shown?.id).toBe(key.id);
      expect(sameHash(shown?.secretHash ?? Buffer.alloc(0), key.secretHash)).toBe(true);
    }
  });

  it('a secret with underscores in it is read whole', () => {
    const body = `ute_live_abcdefgh_${'_'.repeat(43)}`;
    const text = `${body}_${crc32(body).toString(16).padStart(8, '0')}`;
    expect(parseApiKey(text)?.id).toBe('abcdefgh');
    expect(parseApiKey(text)?.secretHash).toEqual(hash('sha256', '_'.repeat(43), 'buffer'));
  });

  it('a mistyped key is none', () => {
    const { text } = createApiKey();
    const other = text.at(20) === 'x' ? 'y' : 'x';
    expect(parseApiKey(text.slice(0, 20) + other + text.slice(21))).toBeUndefined();
    for (const junk of ['', 'ute_live_', `${text}x`, text.toUpperCase(), 'x'.repeat(10_000)])
      expect(parseApiKey(junk)).toBeUndefined();
  });

  it('nothing but 32 equal bytes is equal', () => {
    const one = createApiKey().secretHash;
    expect(sameHash(one, createApiKey().secretHash)).toBe(false);
    expect(sameHash(one, one.subarray(0, 31))).toBe(false);
    expect(sameHash(Buffer.alloc(0), Buffer.alloc(0))).toBe(false);
  });
});
