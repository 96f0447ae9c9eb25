// end_call: asks the orchestrator to end the voice session after this turn, with an optional farewell.

export function execute({ farewell }) {
  const intents = [{ type: 'END_VOICE_SESSION' }];
  if (farewell) intents.unshift({ type: 'SET_PENDING_MESSAGE', message: farewell });
  return { ok: true, data: { ending: true }, intents };
}
