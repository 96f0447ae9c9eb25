// HttpEmbedder: one request a text, within its time; a service that keeps failing is left alone for a while.
import { beforeEach, expect, it } from 'vitest';
import { recordingLog } from '../../../test/helpers/call-kit.ts';
import { FakeClock } from '../../../test/helpers/fake-clock.ts';
import type { HttpClient, HttpRequest } from '../../ports/egress/http-client.ts';
import { embeddings } from '../../settings/embedding-settings.ts';
import { PrometheusMetrics } from '../telemetry/prometheus-metrics.ts';
import { HttpEmbedder } from './http-embedder.ts';

let clock: FakeClock;
let asked: HttpRequest[];
let answer: (request: HttpRequest) => Promise<{ status: number; text: string }>;
const log = recordingLog();

const VECTOR = '{"data": [{"embedding": [3, 4]}]}';

function embedder(more: object = {}): HttpEmbedder {
  const settings = embeddings.parse({
    url: 'https://api.example.com/v1/embeddings?v=1',
    model: 'm',
    ...more,
  });
  const http: Pick<HttpClient, 'request'> = {
    async request(request) {
      asked.push(request);
      const { status, text } = await answer(request);
      return { status, headers: {}, body: Buffer.from(text) };
    },
  };
  return new HttpEmbedder(settings, {
    http: http as HttpClient,
    clock,
    log,
    metrics: new PrometheusMetrics(),
  });
}

const signal = new AbortController().signal;

const untilAborted = ({ signal: heard }: HttpRequest) =>
  new Promise<never>((_, reject) => heard.addEventListener('abort', () => reject(new Error('aborted'))));

beforeEach(() => {
  clock = new FakeClock();
  asked = [];
  answer = async () => ({ status: 200, text: VECTOR });
});

it('asks for one text, with what settings say, where it may go alone', async () => {
  const one = embedder({ api_key: 'k3y', dimensions: 2, max_characters: 100 });
  expect(await one.embed('x'.repeat(200), signal)).toEqual([0.6, 0.8]);
  expect(asked[0]).toMatchObject({
    origin: 'https://api.example.com',
    path: '/v1/embeddings?v=1',
    headers: { authorization: 'Bearer k3y' },
    egress: { allowHosts: ['api.example.com:443'] },
  });
  expect(JSON.parse(String(asked[0]?.body))).toEqual({
    model: 'm',
    input: 'x'.repeat(100),
    encoding_format: 'float',
    dimensions: 2,
  });
  expect(one.model).toBe('m/2');
});

it('a service that does not answer costs its time and no more', async () => {
  answer = untilAborted;
  const waiting = embedder({ timeout_ms: 500 }).embed('a', signal);
  await Promise.all([expect(waiting).rejects.toThrow('longer than 500 ms'), clock.advance(500)]);
});

it('after three failures in a row it is asked again in ten seconds, and the operator is told once', async () => {
  answer = async () => ({ status: 500, text: '' });
  const one = embedder();
  const fail = async (message: string) => expect(one.embed('a', signal)).rejects.toThrow(message);
  for (let at = 0; at < 3; at += 1) await fail('HTTP 500');
  await fail('not asked again yet');
  expect(asked).toHaveLength(3);
  expect(log.lines.filter(({ message }) => message.includes('by words alone'))).toHaveLength(1);
  await clock.advance(10_000);
  answer = async () => ({ status: 200, text: VECTOR });
  expect(await one.embed('a', signal)).toEqual([0.6, 0.8]);
});

it('texts that it refuses keep nobody else from it, and the operator is told once a minute', async () => {
  const one = embedder();
  for (const status of [400, 413, 422, 400, 400]) {
    answer = async () => ({ status, text: '' });
    await expect(one.embed('a', signal)).rejects.toThrow(`HTTP ${status}`);
  }
  answer = async () => ({ status: 200, text: VECTOR });
  expect(await one.embed('a', signal)).toEqual([0.6, 0.8]);
  const told = () => log.lines.filter(({ message }) => message.includes('refused a text')).length;
  expect(told()).toBe(1);
  await clock.advance(60_000);
  answer = async () => ({ status: 400, text: '' });
  await expect(one.embed('a', signal)).rejects.toThrow('HTTP 400');
  expect(told()).toBe(2);
});

it('callers that go away say nothing about the service', async () => {
  const one = embedder();
  answer = untilAborted;
  for (let at = 0; at < 4; at += 1) {
    const caller = new AbortController();
    const waiting = one.embed('a', caller.signal);
    caller.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
  }
  answer = async () => ({ status: 200, text: VECTOR });
  expect(await one.embed('a', signal)).toEqual([0.6, 0.8]);
});

it('a plain URL beyond loopback, and a port that is not listed, are refused with what to add', () => {
  const problems = (more: object) =>
    embeddings
      .safeParse({ model: 'm', ...more })
      .error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  expect(problems({ url: 'http://models.example.com/v1/embeddings' })).toEqual([
    'allow_http is needed for a URL that is not https and not on loopback',
  ]);
  expect(problems({ url: 'http://127.0.0.1:11434/v1/embeddings' })).toEqual([
    'allow_ports must name the port of url as well: 11434',
  ]);
  expect(problems({ url: 'https://user:x@api.example.com/' })).toEqual([
    'url must be an https or http URL without user, password and fragment',
  ]);
});
