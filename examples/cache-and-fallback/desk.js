// A front desk's look-ups: policies that seldom change, bookings behind a slow system, answers behind one that is down.

const POLICIES = {
  cancellation: 'Cancellations within 24 hours incur a 50% fee.',
  'late arrival': 'After 15 minutes we may have to rebook you.',
};
let lookups = 0;

export async function get_policies({ topic }) {
  lookups += 1;
  await new Promise((resolve) => setTimeout(resolve, 150));
  return { topic, policy: POLICIES[topic], lookups };
}

export function get_latest_booking({ customer_phone: phone, slow }, { signal }) {
  return new Promise((resolve, reject) => {
    const answer = { phone, service: 'Haircut', status: 'confirmed' };
    const timer = setTimeout(() => resolve(answer), slow ? 3_000 : 50);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export function get_faqs() {
  throw Object.assign(new Error('The knowledge base does not answer.'), { type: 'UNAVAILABLE' });
}
