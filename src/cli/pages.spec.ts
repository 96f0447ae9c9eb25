// Lists of the gateway on the command line: all pages, or the newest, and that there are more is said.
import { describe, expect, it } from 'vitest';
import type { CliIo } from './cli-io.ts';
import { GatewayClient } from './gateway/gateway-client.ts';
import { allPages, newest } from './pages.ts';

const LISTING = { path: '/v1/things', items: 'things', query: { kind: 'k', other: undefined } };

/** A gateway with so many things, or one that repeats its token. */
async function listOf(count: number, { repeats = false } = {}) {
  const asked: string[] = [];
  let stderr = '';
  const answer = async (input: unknown) => {
    const { search, searchParams } = new URL(String(input));
    asked.push(search);
    const size = Number(searchParams.get('page_size') ?? 100);
    const from = Number(searchParams.get('page_token') ?? 0);
    const things = Array.from({ length: Math.max(0, Math.min(size, count - from)) }, (_, at) => ({
      at: from + at,
    }));
    const next = from + size < count ? String(from + size) : '';
    return new Response(JSON.stringify({ things, next_page_token: repeats ? '7' : next }));
  };
  const io: CliIo = {
    stdout: () => undefined,
    stderr: (text) => void (stderr += text),
    readStdin: async () => '',
    fetch: answer,
    env: {},
    cwd: '/',
  };
  const gateway = await GatewayClient.open({ url: 'http://gateway' }, io);
  return { gateway, io, asked, told: () => stderr };
}

describe('all pages', () => {
  it('are asked for one after the other, with the filters of the first', async () => {
    const { gateway, asked } = await listOf(250);
    expect((await allPages(gateway, LISTING)).map(({ at }) => at)).toEqual([...Array(250).keys()]);
    expect(asked).toEqual(['?kind=k', '?kind=k&page_token=100', '?kind=k&page_token=200']);
  });

  it('end where a gateway repeats its token', async () => {
    const { gateway, asked } = await listOf(9, { repeats: true });
    await allPages(gateway, LISTING);
    expect(asked).toHaveLength(2);
  });
});

describe('the newest', () => {
  it('are as many as asked for, and more is told', async () => {
    const { gateway, io, told } = await listOf(6);
    expect(await newest(gateway, LISTING, { limit: 5 }, io)).toHaveLength(5);
    expect(told()).toBe('these are the newest 5; --limit shows more\n');
  });

  it('come in more than one page where a page does not hold them, and no page is asked for in vain', async () => {
    const { gateway, io, told, asked } = await listOf(2_400);
    expect(await newest(gateway, LISTING, { limit: 2_399 }, io)).toHaveLength(2_399);
    expect(asked.map((search) => new URLSearchParams(search).get('page_size'))).toEqual([
      '1000',
      '1000',
      '400',
    ]);
    expect(told()).toMatch(/newest 2399/);
  });

  it('are all there are, and nothing is told', async () => {
    const { gateway, io, told } = await listOf(5);
    expect(await newest(gateway, LISTING, { limit: 5 }, io)).toHaveLength(5);
    expect(told()).toBe('');
  });
});
