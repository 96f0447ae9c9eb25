// An agent of LangChain with the tools of the gateway: what is dangerous waits for a human.
import { HumanMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { GatewayClient } from 'unified-tool-executor-sdk';
import { langchainTools } from 'unified-tool-executor-sdk/langchain';
import { gatewayTools } from 'unified-tool-executor-sdk/run';

const gateway = new GatewayClient(); // UTE_URL and UTE_API_KEY
const call = {
  waitForApproval: true,
  approvalPollMs: 500,
  onApproval: ({ approvalId }) => console.log(`waits for approval ${approvalId}`),
};
const tools = await langchainTools(gatewayTools(gateway, { call }), tool);
const chat = new ChatOpenAI({ model: process.env.MODEL ?? 'gpt-5-mini' }).bindTools(tools); // OPENAI_API_KEY
const messages = [new HumanMessage(process.argv.slice(2).join(' '))];

for (let turn = 0; turn < 8; turn += 1) {
  const said = await chat.invoke(messages);
  messages.push(said);
  if (said.tool_calls.length === 0) break;
  for (const asked of said.tool_calls) {
    const answer = await tools.find(({ name }) => name === asked.name).invoke(asked);
    console.log(`${asked.name} ${JSON.stringify(asked.args)}: ${answer.content}`);
    messages.push(answer);
  }
}
console.log(messages.at(-1).content);
