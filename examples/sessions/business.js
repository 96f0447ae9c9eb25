// The business of the example: made-up answers, one of them as slow as it is asked to be.
export function hours() {
  return { monday: '9:00-17:00', sunday: 'closed' };
}

export async function faqs({ topic, slow_ms: slowMs = 0 }) {
  await new Promise((resolve) => setTimeout(resolve, slowMs));
  return { topic, answers: ['Please be there ten minutes early.'] };
}

export function message({ text }) {
  const intents = [{ type: 'SET_PENDING_MESSAGE', message: 'Thank you!' }];
  return { ok: true, data: { taken: text.length }, intents };
}

export function translate({ text }) {
  return { text: text.toUpperCase() };
}

export function refund() {
  return { refunded: true };
}
