// A list of a thousand tools in the form of each provider, from a gateway that has written it before; and one that is known already.
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { startGateway } from './children.js';
import { median, number, report } from './measure.js';
import { toolsFile } from './tools-file.js';

const TOOLS = 1_000;
const REQUESTS = 300;
const WARM_UP = 20;
const FORMATS = 'openai openai-responses anthropic gemini bedrock mistral mcp prompt'.split(' ');
const HANDLER = join(import.meta.dirname, '../tools/handlers/echo.js');

/** As tools are: some arguments, a list, an object, words for each, and a name that not every provider takes. */
function toolOf(index) {
  return {
    name: `crm.record_${index}`,
    description: `Reads record ${index} of the customer database, with what belongs to it. Use it before anything is changed.`,
    tool_type: 'javascript',
    input_schema: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Id of the record.', maxLength: 64 },
        'filter[state]': {
          type: 'string',
          enum: ['open', 'closed'],
          description: 'Only those of this state.',
        },
        fields: { type: 'array', items: { type: 'string' }, description: 'What to read of it.' },
        limit: { type: 'integer', minimum: 1, maximum: 100 + index },
        address: { type: 'object', properties: { city: { type: 'string' }, zip: { type: 'string' } } },
      },
      required: ['id'],
      additionalProperties: false,
    },
    implementation_config: { handler: HANDLER, trusted: true },
    metadata: { read_only: true },
  };
}

/** Over one connection, as an agent asks: milliseconds until all of the answer is there. */
function asked(agent, url, headers) {
  return new Promise((resolve, reject) => {
    const at = performance.now();
    const request = get(url, { agent, headers }, (response) => {
      let bytes = 0;
      response.on('data', (chunk) => (bytes += chunk.length));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode: status, headers: answered } = response;
        resolve({ ms: performance.now() - at, bytes, status, etag: answered.etag });
      });
    });
    request.on('error', reject);
  });
}

async function medianOf(agent, url, headers, expected) {
  const times = [];
  for (let i = 0; i < WARM_UP + REQUESTS; i += 1) {
    const { ms, status } = await asked(agent, url, headers);
    if (status !== expected) throw new Error(`${url}: ${status}`);
    if (i >= WARM_UP) times.push(ms);
  }
  return median(times);
}

export async function listing() {
  const { path, gone } = toolsFile({ tools: Array.from({ length: TOOLS }, (_, index) => toolOf(index)) });
  const gateway = await startGateway({ tools: path });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers = { authorization: `Bearer ${gateway.key}` };
  try {
    for (const format of FORMATS) {
      const url = `${gateway.url}/v1/tools?format=${format}`;
      const first = await asked(agent, url, headers);
      const ms = await medianOf(agent, url, headers, 200);
      const known = await medianOf(agent, url, { ...headers, 'if-none-match': first.etag }, 304);
      const size = `${number(first.bytes / 1024)} KiB`;
      const what = `a list of ${number(TOOLS)} tools for ${format}`;
      report(what, `${number(ms)} ms median`, `${number(first.ms)} ms (the first)`, size, '< 5 ms', ms < 5);
      report(`${what}, known already`, `${number(known)} ms median`, '–', '304', '< 1 ms', known < 1);
    }
  } finally {
    agent.destroy();
    await gateway.stop();
    gone();
  }
}
