// What an http tool adds to the same request sent directly.
import { startChild, startGateway } from './children.js';
import { ROUNDS, WARM_UP_SECONDS, compare, number, report } from './measure.js';
import { callOf, latencyMs, perSecond } from './rest-load.js';
import { READ_ONLY, toolsFile } from './tools-file.js';

/** A tools.yaml with the tool `post`, which posts `{ text }` to `/echo` at `origin`. */
export function postingTool(origin) {
  return toolsFile({
    connections: {
      upstream: { type: 'http', base_url: origin, allow_private: ['127.0.0.0/8'], allow_ports: ['1-65535'] },
    },
    tools: [
      {
        name: 'post',
        description: 'Posts a text',
        tool_type: 'http',
        input_schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
        implementation_config: {
          connection: 'upstream',
          method: 'POST',
          path: '/echo',
          body: { text: '{text}' },
        },
        metadata: READ_ONLY,
      },
    ],
  });
}

export async function http() {
  const upstream = await startChild('fastify-echo.js');
  const origin = `http://127.0.0.1:${upstream.message.port}`;
  const file = postingTool(origin);
  const gateway = await startGateway({ tools: file.path });
  const body = { text: 'the quick brown fox jumps over the lazy dog' };
  const theirs = { url: `${origin}/echo`, body };
  const ours = callOf(gateway, 'post', body);
  for (const side of [theirs, ours]) await perSecond(side, WARM_UP_SECONDS);
  // One call at a time says what a call costs, not what thousands before it do.
  await gateway.untilShipped();
  for (let round = 0; round < ROUNDS; round += 1) for (const side of [theirs, ours]) await latencyMs(side);
  const alone = await compare(
    () => latencyMs(theirs),
    () => latencyMs(ours),
  );
  const many = await compare(
    () => perSecond(theirs),
    () => perSecond(ours),
  );
  await Promise.all([upstream.stop(), gateway.stop()]);
  file.gone();
  const added = alone.own - alone.base;
  report('http call, one in flight', `${number(alone.own)} ms median`, `${number(alone.base)} ms (direct)`, `${number(added)} ms added`, '≤ 0.6 ms', added <= 0.6); // oxfmt-ignore
  report('http call, 32 in flight', `${number(many.own)} calls/s`, `${number(many.base)} calls/s (direct)`, `${number(many.ratio * 100)} %`, '≥ 40 %', many.ratio >= 0.4); // oxfmt-ignore
}
