// What the salon knows. One of its policies is on a server that does not answer.
import { setTimeout as wait } from 'node:timers/promises';

const POLICIES = { cancellation: 'Cancellations within 24 hours incur a 50% fee.' };

export function get_latest_booking({ customer_phone: phone }) {
  return { booking_id: `b-${phone.slice(-3)}`, status: 'confirmed', service: 'Haircut', day: 'Saturday' };
}

export async function get_policies({ topic }, { signal }) {
  if (topic === 'deposits') await wait(60_000, undefined, { signal });
  return { topic, content: POLICIES[topic] ?? `There is no policy about ${topic}.` };
}
