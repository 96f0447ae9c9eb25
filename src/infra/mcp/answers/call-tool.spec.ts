// Which way a tools/call goes through the SDK's client, and that its answer is checked on both.
import type { Client } from '@modelcontextprotocol/client';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../../test/helpers/fake-clock.ts';
import { NOTHING_TO_SCRUB } from '../../../lib/secrets/scrub-secrets.ts';
import { toolCaller } from './call-tool.ts';
import type { resultSchema } from './read-result.ts';

const ANSWER = { content: [{ type: 'text', text: 'hello' }] };
const READ = { ...ANSWER, isError: false };
const CALL = { name: 'greet', arguments: {} };

/** Speaks as the SDK does: `request` gives what the schema makes of the answer. */
function clientOf(era: 'modern' | 'legacy', answer: unknown) {
  const ways: string[] = [];
  const client = {
    getProtocolEra: () => era,
    getServerCapabilities: () => ({}),
    callTool: async () => {
      ways.push('callTool');
      return answer;
    },
    request: async (_request: unknown, schema: ReturnType<typeof resultSchema>) => {
      ways.push('request');
      const read = await schema['~standard'].validate(answer);
      if (read.issues !== undefined) throw new Error(read.issues[0]?.message);
      return read.value;
    },
  };
  return { client: client as unknown as Client, ways };
}

const callerOf = (client: Client, transport: 'stdio' | 'http') =>
  toolCaller({ client, clock: new FakeClock(), isBlock: () => false, transport, scrubber: NOTHING_TO_SCRUB });

it.each([
  ['http', 'modern', 'callTool'],
  ['http', 'legacy', 'request'],
  ['stdio', 'modern', 'request'],
  ['stdio', 'legacy', 'request'],
] as const)('over %s in the %s era a call goes by %s, and is read alike', async (transport, era, way) => {
  const { client, ways } = clientOf(era, ANSWER);
  expect(await callerOf(client, transport).call(CALL, {})).toEqual(READ);
  expect(ways).toEqual([way]);
});

it.each(['http', 'stdio'] as const)('an answer of no known form is refused over %s', async (transport) => {
  const { client } = clientOf('modern', { content: [{ type: 'riddle' }] });
  await expect(callerOf(client, transport).call(CALL, {})).rejects.toThrow(
    'a content block is of no known form',
  );
});
