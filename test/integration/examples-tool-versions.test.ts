// examples/tool-versions: what its README shows.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { request, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';
import { specRequest } from '../helpers/specs-kit.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/tool-versions');

let gateway: RunningGateway;
let admin: RestTarget;

beforeAll(async () => {
  const { loaders } = parse(readFileSync(join(FOLDER, 'gateway.yaml'), 'utf8')) as { loaders: object[] };
  const [files, database] = loaders;
  const settings = { loaders: [{ ...files, paths: [join(FOLDER, 'tools.yaml')] }, database] };
  gateway = await startGateway({ tools: [], settings });
  admin = targetOf(gateway);
});
afterAll(() => gateway?.stop());

const put = (file: string, query: string, headers: Record<string, string> = {}) =>
  specRequest(admin, 'PUT', `/offer?${query}`, {
    text: readFileSync(join(FOLDER, file), 'utf8'),
    headers: { 'content-type': 'application/yaml', ...headers },
  });
const offer = async (context: object = {}) =>
  (
    await request<Envelope>(admin, 'POST', '/v1/tools/offer/execute', {
      arguments: { article: 'pen' },
      context,
    })
  ).body.data;

it('a tool is added, changed, pinned, compared and rolled back while the gateway runs', async () => {
  const first = await put('offer.yaml', 'note=first');
  expect(first.body).toMatchObject({ in_force: true, revision: 1 });
  expect(await offer()).toEqual({ cents: 200, currency: 'EUR' });

  const tried = await put('offer-2.yaml', 'dry_run=true');
  expect(tried.body['changes']).toContainEqual({
    pointer: '/metadata/version',
    before: '1.0.0',
    after: '2.0.0',
  });
  expect((await put('offer-2.yaml', 'note=shorter', { 'if-match': '"1"' })).body).toMatchObject({
    revision: 2,
  });
  expect(await offer()).toEqual({ price: 200 });
  expect(await offer({ tool_version: '1.0.0' })).toEqual({ cents: 200, currency: 'EUR' });

  const history = await specRequest(admin, 'GET', '/offer/versions');
  expect(history.body['changes']).toMatchObject([{ note: 'shorter' }, { note: 'first' }]);
  expect((await specRequest(admin, 'GET', '/offer/diff?from=1.0.0&to=2.0.0')).body['changes']).toHaveLength(
    2,
  );
  const body = { content_hash: first.body.content_hash, note: 'callers were not ready' };
  expect((await specRequest(admin, 'POST', '/offer/rollback', { body })).body).toMatchObject({
    revision: 3,
    in_force: true,
  });
  expect(await offer()).toEqual({ cents: 200, currency: 'EUR' });
});
