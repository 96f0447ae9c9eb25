// examples/toolsets: what its README shows.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { request, targetOf, type Envelope, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const FOLDER = resolve(import.meta.dirname, '../../examples/toolsets');

let gateway: RunningGateway;
let agent: RestTarget;

beforeAll(async () => {
  const { toolsets } = parse(readFileSync(join(FOLDER, 'gateway.yaml'), 'utf8')) as { toolsets: object };
  gateway = await startGateway({ tools: [join(FOLDER, 'tools.yaml')], settings: { toolsets } });
  agent = targetOf(gateway, 'agent');
});
afterAll(() => gateway?.stop());

const call = async (toolset: string, tool: string, args: object) =>
  (
    await request<Envelope>(agent, 'POST', `/v1/tools/${tool}/execute`, {
      arguments: args,
      context: { toolset },
    })
  ).body;
const listed = async (toolset: string) => {
  const path = `/v1/tools?toolset=${toolset}&format=anthropic`;
  const { body } = await request<readonly { name: string }[]>(agent, 'GET', path);
  return body.map(({ name }) => name);
};

it('support reports bugs of one product and reads issues', async () => {
  expect(await listed('support')).toEqual(['issues__list', 'report_bug']);
  expect((await call('support', 'report_bug', { title: 'It is slow' })).data).toEqual({
    project: 'product',
    title: 'It is slow',
    state: 'open',
  });
  expect((await call('support', 'report_bug', { title: 'x', project: 'theirs' })).error).toMatchObject({
    reason: 'ARGUMENT_NOT_OFFERED',
    message: 'The argument "project" is set by the toolset and cannot be given.',
  });
});

it('everything is searched, and called by what was found', async () => {
  expect(await listed('everything')).toEqual(['call_tool', 'describe_tools', 'search_tools']);
  const { data } = await call('everything', 'search_tools', { query: 'file a bug' });
  expect((data as { tools: { name: string }[] }).tools[0]?.name).toBe('issues.create');
  const args = { name: 'issues.list', arguments: { project: 'product' } };
  expect((await call('everything', 'call_tool', args)).data).toEqual({
    issues: [{ project: 'product', title: 'It is slow', state: 'open' }],
  });
});
