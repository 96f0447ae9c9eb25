// The search for tools: what one takes among 10,000 tools, and what an agent spends that lists a toolset of a thousand which is searched.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEncoding } from 'js-tiktoken';
import { ToolIndex } from '../dist/registry/search/tool-index.js';
import { atOnce } from '../dist/lib/concurrency/in-slices.js';
import { startGateway } from './children.js';
import { median, number, report } from './measure.js';
import { toolsFile } from './tools-file.js';

const ROOT = join(import.meta.dirname, '..');
const GITHUB = join(ROOT, 'node_modules/@octokit/openapi/generated/api.github.com.json');
const HANDLER = join(ROOT, 'tools/handlers/echo.js');
const TOOLS = 10_000;
const LISTED = 1_000;
const ROUNDS = 20;
const MOST_TOKENS = 2_000;
const FORMATS = 'openai openai-responses anthropic gemini bedrock mistral mcp prompt'.split(' ');

/** GitHub's operations, as those of so many products that there are enough. */
function operations() {
  const { paths } = JSON.parse(readFileSync(GITHUB, 'utf8'));
  const all = Object.values(paths).flatMap((path) => Object.values(path));
  return Array.from({ length: TOOLS }, (_, at) => {
    const { operationId, summary, description, tags, parameters = [] } = all[at % all.length];
    const product = `product${Math.floor(at / all.length)}`;
    const named = parameters.filter(({ name }) => name !== undefined);
    const properties = Object.fromEntries(
      named.map(({ name, description: text }) => [name, { description: text }]),
    );
    return {
      name: `${product}_${operationId.replaceAll('/', '_')}`,
      description: summary,
      inputSchema: { type: 'object', properties },
      spec: { metadata: { tags: [...tags, product], documentation: description } },
    };
  });
}

function requests() {
  return ['github-kept-apart.json', 'github-tuned-on.json'].flatMap((file) =>
    JSON.parse(readFileSync(join(ROOT, 'test/fixtures/tool-search', file), 'utf8')).map(
      ({ request }) => request,
    ),
  );
}

async function searches() {
  const tools = operations();
  const index = atOnce(ToolIndex.of(tools));
  const texts = tools.map((tool) => JSON.stringify(tool).toLowerCase());
  const scan = (request) => {
    const words = request.toLowerCase().split(' ');
    return texts.filter((text) => words.some((word) => text.includes(word))).length;
  };
  const took = (run) => {
    const at = performance.now();
    run();
    return performance.now() - at;
  };
  const asked = requests();
  const own = [];
  const base = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const request of asked) {
      own.push(took(() => index.search(request, 5, () => true)));
      if (round === 0) base.push(took(() => scan(request)));
    }
  }
  report(
    `a search among ${number(TOOLS)} tools`,
    `${number(median(own))} ms median`,
    `${number(median(base))} ms (a look through their texts)`,
    `${number((median(own) / median(base)) * 100)} %`,
    '< 5 ms',
    median(own) < 5,
  );
}

async function tokens() {
  const tools = operations()
    .slice(0, LISTED)
    .map(({ name, description, inputSchema, spec }) => ({
      name: name.slice(0, 128),
      description,
      tool_type: 'javascript',
      input_schema: { ...inputSchema, additionalProperties: false },
      implementation_config: { handler: HANDLER, trusted: true },
      metadata: { tags: spec.metadata.tags },
    }));
  const { path, gone } = toolsFile({ tools });
  const toolsets = { all: { listing: 'search', description: 'The API of GitHub.' }, full: {} };
  const gateway = await startGateway({ tools: path, settings: { toolsets } });
  const encoding = getEncoding('o200k_base');
  const list = async (toolset, format) => {
    const headers = { authorization: `Bearer ${gateway.key}` };
    const response = await fetch(`${gateway.url}/v1/tools?toolset=${toolset}&format=${format}`, { headers });
    if (response.status !== 200) throw new Error(`${toolset}: ${response.status}`);
    return encoding.encode(await response.text()).length;
  };
  try {
    for (const format of FORMATS) {
      const own = await list('all', format);
      // One format is enough to compare with: the tokenizer takes its time.
      const base =
        format === 'openai' ? `${number(await list('full', format))} tokens (listed in full)` : '–';
      const what = `a list of ${number(LISTED)} tools that are searched, for ${format}`;
      report(what, `${own} tokens`, base, '–', `< ${number(MOST_TOKENS)}`, own < MOST_TOKENS);
    }
  } finally {
    await gateway.stop();
    gone();
  }
}

export async function toolSearch() {
  await searches();
  await tokens();
}
