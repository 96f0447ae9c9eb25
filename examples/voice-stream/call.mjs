// A voice call over one stream: a model writes text and calls tools, and speech comes out in the order of what it wrote. The model is a
// script here; in its place stands the stream of an LLM. Nothing but Node: browsers have the same WebSocket.
const { UTE_URL = 'http://localhost:8080', UTE_API_KEY } = process.env;

/** What the model says to each thing that the caller says. A function is written once the result before it is known. */
const TURNS = [
  {
    caller: 'When is my appointment?',
    model: [
      'One moment. ',
      { tool: 'get_latest_booking', arguments: { customer_phone: '+61400111222' } },
      ({ service, day }) => `Your ${service.toLowerCase()} is on ${day}.`,
    ],
  },
  {
    caller: 'And if I cannot come? Do you keep a deposit?',
    model: [
      'Let me look. ',
      { tool: 'get_policies', arguments: { topic: 'cancellation' } },
      ({ content }) => `${content} `,
      // Its server does not answer: what is heard after 400 ms is the safe sentence.
      { tool: 'get_policies', arguments: { topic: 'deposits' } },
      ({ content, message }) => content ?? message,
    ],
  },
];

const socket = new WebSocket(new URL('/v1/stream', UTE_URL.replace(/^http/, 'ws')), 'ute.v1');
const waiting = [];
let lastSeq = 0;
let line = '';

socket.addEventListener('message', ({ data }) => {
  const message = JSON.parse(data);
  lastSeq = message.seq ?? lastSeq;
  if (message.type === 'text_delta') line += message.text;
  if (message.type === 'tool_started') line += `[${message.tool_name}] `;
  const at = waiting.findIndex(({ type }) => type === message.type || message.type === 'error');
  if (at >= 0) waiting.splice(at, 1)[0].take(message);
});
socket.addEventListener('close', ({ code, reason }) => {
  if (code === 1000) return;
  console.error(`the stream was closed: ${code} ${reason}; resume after ${lastSeq}`);
  process.exitCode = 1;
});

const say = (message) => socket.send(JSON.stringify(message));
async function next(type) {
  const message = await new Promise((take) => waiting.push({ type, take }));
  if (message.type === 'error') throw new Error(message.error.message);
  return message;
}

await new Promise((opened, failed) => {
  socket.addEventListener('open', opened);
  socket.addEventListener('error', () => failed(new Error('the gateway cannot be reached')));
});
say({ type: 'start', token: UTE_API_KEY, agent_id: 'reception', user_id: 'sarah', mode: 'live_call' });
await next('started');

for (const { caller, model } of TURNS) {
  console.log(`caller: ${caller}`);
  say({ type: 'turn_start' });
  await next('turn_started');
  line = '';
  let result;
  for (const part of model) {
    if (typeof part === 'string') say({ type: 'text_delta', text: part });
    else if (typeof part === 'function') say({ type: 'text_delta', text: part(result) });
    else {
      say({ type: 'tool_call', tool_name: part.tool, arguments: part.arguments });
      const answer = await next('tool_result');
      result = answer.ok ? answer.result : { message: answer.error.message };
    }
  }
  say({ type: 'turn_end' });
  await next('turn_ended');
  console.log(`voice:  ${line}`);
}
say({ type: 'end' });
await next('ended');
