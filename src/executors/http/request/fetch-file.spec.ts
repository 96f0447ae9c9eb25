// Files by URL: one call has one budget for all of them, and fetches none twice.
import { expect, it } from 'vitest';
import type { HttpClient, HttpRequest } from '../../../ports/egress/http-client.ts';
import { fileLoader } from './fetch-file.ts';
import type { FileArgument } from './file-argument.ts';

function bench(size: number) {
  const requests: HttpRequest[] = [];
  const http: HttpClient = {
    request: async (request) => {
      requests.push(request);
      return { status: 200, headers: { 'content-type': 'image/png' }, body: Buffer.alloc(size) };
    },
    fetch: () => () => Promise.reject(new Error('not asked')),
    close: async () => {},
  };
  const options = { url: 'https://a.example/', file_urls: 'public' as const, max_file_bytes: 10 };
  return { requests, load: fileLoader(http, options, new AbortController().signal) };
}

const file = (): FileArgument => ({
  argument: 'files',
  source: new URL('https://b.example/x'),
  filename: undefined,
  contentType: undefined,
});

it('a file that a first try has fetched is not fetched for the second', async () => {
  const { requests, load } = bench(4);
  const same = file();
  expect(await load(same)).toEqual({ bytes: Buffer.alloc(4), contentType: 'image/png' });
  expect(await load(same)).toMatchObject({ contentType: 'image/png' });
  expect(requests).toHaveLength(1);
});

it('each file may have what the ones before it left, and nothing is fetched where nothing is left', async () => {
  const { requests, load } = bench(5);
  await load(file());
  await load(file());
  await expect(load(file())).rejects.toMatchObject({
    type: 'VALIDATION',
    reason: 'UNSAFE_ARGUMENT',
    details: { violations: [{ pointer: '/files' }] },
  });
  expect(requests.map(({ maxResponseBytes }) => maxResponseBytes)).toEqual([10, 5]);
});
