// An agent: a model that speaks OpenAI's protocol, the tools of the gateway, and a human for what is dangerous.
import { createInterface } from 'node:readline/promises';
import OpenAI from 'openai';
import { GatewayClient } from 'unified-tool-executor-sdk';
import { openai } from 'unified-tool-executor-sdk/openai';
import { gatewayTools, run } from 'unified-tool-executor-sdk/run';

const gateway = new GatewayClient(); // UTE_URL and UTE_API_KEY
const model = openai.model(new OpenAI(), { model: process.env.MODEL ?? 'gpt-5-mini' }); // OPENAI_BASE_URL and OPENAI_API_KEY

const result = await run(
  model,
  gatewayTools(gateway, { call: { approvalPollMs: 500 } }),
  [{ role: 'user', content: process.argv.slice(2).join(' ') }],
  {
    limits: { turns: 8, timeMs: 120_000, tokens: 50_000 },
    approvals: 'wait',
    onApproval: (asked) => void decide(asked),
    onAnswer: ({ call, envelope }) =>
      console.log(`${call.name} ${JSON.stringify(call.arguments)}: ok ${envelope.ok}`),
  },
);
console.log(`${result.reason} after ${result.turns} turns: ${result.text}`);

/** The demo's key may decide about its own calls. In production another person does, with a key of theirs. */
async function decide({ approvalId }) {
  const { tool, arguments: args } = await gateway.approvals.get(approvalId);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(
    `May the agent call ${tool} with ${JSON.stringify(args)}? (yes/no) `,
  );
  terminal.close();
  if (answer.trim() === 'yes') await gateway.approvals.approve(approvalId);
  else await gateway.approvals.reject(approvalId, 'The user said no.');
}
